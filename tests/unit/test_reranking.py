"""Rerankers: endpoints of every usual shape, functions and objects, and what they may not say."""

from __future__ import annotations

import socket
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from muniment.errors import InvalidInputError, MissingExtraError, ProviderError
from muniment.ports import Reranker
from muniment.providers.http_reranking import HTTPReranker
from muniment.providers.reranking import open_reranker
from tests.scripted_endpoint import Reply, ScriptedEndpoint, busy

KEY = "rr-test-1234567890abcdef"
TEXTS = ["the vault opens at nine", "a seat on the aisle", "tea"]
SCORES = [0.2, 0.9, 0.4]
NUMBERED = [(1, 0.9), (2, 0.4), (0, 0.2)]


def opened(endpoint: ScriptedEndpoint, model: str = "some-model", **more: Any) -> HTTPReranker:  # noqa: ANN401 - options
    return HTTPReranker(model, base_url=endpoint.url + "/v1", api_key=KEY, **more)


@pytest.mark.promise("REC-1")
@pytest.mark.parametrize(
    "body",
    [
        {"id": "1", "results": [{"index": n, "relevance_score": x} for n, x in NUMBERED]},
        {"results": [{"index": n, "relevance_score": x, "document": {}} for n, x in NUMBERED]},
        {"data": [{"index": n, "relevance_score": x} for n, x in NUMBERED]},
        [{"index": n, "score": x} for n, x in NUMBERED],
        {"scores": SCORES},
        SCORES,
    ],
    ids=["cohere", "jina", "voyage", "tei", "named list", "list"],
)
def test_an_answer_of_any_usual_shape_is_understood(
    endpoint: ScriptedEndpoint, body: object
) -> None:
    endpoint.queue(Reply(body))
    assert opened(endpoint).rerank("which seat?", TEXTS) == SCORES
    (asked,) = endpoint.asked
    assert asked.path == "/v1/rerank"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {"query": "which seat?", "documents": TEXTS, "model": "some-model"}


def test_text_embeddings_inference_gets_texts_and_no_model(
    endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MUNIMENT_RERANKER_BASE_URL", endpoint.url)
    monkeypatch.delenv("MUNIMENT_RERANKER_API_KEY", raising=False)
    endpoint.queue(Reply([{"index": 0, "score": 0.5}]))
    reranker = open_reranker("tei")
    assert reranker is not None
    assert (reranker.name, reranker.rerank("q", ["t"])) == ("texts", [0.5])
    (asked,) = endpoint.asked
    assert (asked.path, asked.body) == (
        "/rerank",
        {"query": "q", "texts": ["t"], "truncate": True},
    )
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    "body",
    [
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": n, "relevance_score": 1} for n in (0, 1, 1)]},
        {"results": [{"index": n, "relevance_score": 1} for n in (0, 1, 3)]},
        {"results": [{"index": n, "relevance_score": "high"} for n in (0, 1, 2)]},
        {"results": [{"index": n} for n in (0, 1, 2)]},
        {"results": None},
        {},
        [0.1, 0.2, True],
        "no JSON",
        "[0.1, 0.2, NaN]",
        "[0.1, 0.2, 1e999]",
    ],
)
def test_an_answer_that_does_not_number_every_text_is_a_failure(
    endpoint: ScriptedEndpoint, body: object
) -> None:
    endpoint.queue(Reply(body))
    with pytest.raises(ProviderError) as caught:
        opened(endpoint).rerank("which seat?", TEXTS)
    assert not any(text in str(caught.value) for text in (*TEXTS, "which seat", KEY))


@pytest.mark.parametrize("status", [408, 429, 500, 503])
def test_a_passing_failure_is_repeated_and_a_lasting_one_is_told(
    endpoint: ScriptedEndpoint, status: int
) -> None:
    endpoint.queue(busy(status), busy(status), Reply(SCORES))
    assert opened(endpoint).rerank("q", TEXTS) == SCORES
    endpoint.queue(*[busy(status)] * 3)
    with pytest.raises(ProviderError, match=f"some-model answered with HTTP status {status}"):
        opened(endpoint).rerank("q", TEXTS)
    assert len(endpoint.asked) == 6


@pytest.mark.parametrize("status", [400, 401, 404, 413, 422])
def test_a_refusal_is_not_repeated(endpoint: ScriptedEndpoint, status: int) -> None:
    endpoint.queue(Reply({"error": TEXTS[0]}, status))
    with pytest.raises(ProviderError, match=str(status)) as caught:
        opened(endpoint).rerank("q", TEXTS)
    assert len(endpoint.asked) == 1
    assert TEXTS[0] not in str(caught.value)


def test_a_redirect_is_a_failure_so_that_nobody_else_gets_the_key(
    endpoint: ScriptedEndpoint,
) -> None:
    with ScriptedEndpoint() as other:
        endpoint.queue(Reply({}, 307, {"location": other.url}))
        with pytest.raises(ProviderError, match="307"):
            opened(endpoint).rerank("q", TEXTS)
        assert other.asked == []


def test_an_endpoint_that_is_not_there_or_does_not_answer_is_a_failure() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        refusing = HTTPReranker("m", base_url=url, max_retries=0)
        with pytest.raises(ProviderError, match="cannot be reached: ConnectionRefusedError"):
            refusing.rerank("q", TEXTS)
        silent.listen(1)
        waiting = HTTPReranker("m", base_url=url, max_retries=0, timeout=0.05)
        with pytest.raises(ProviderError, match="cannot be reached: TimeoutError"):
            waiting.rerank("q", TEXTS)


@pytest.mark.parametrize(
    "options",
    [
        {"base_url": "ftp://example.org"},
        {"base_url": "file:///etc"},
        {"base_url": "http://a", "timeout": 0},
        {"base_url": "http://a", "max_retries": -1},
        {"base_url": "http://a", "depth": 0},
        {"base_url": "http://a", "takes": "passages"},
    ],
)
def test_a_senseless_setting_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        HTTPReranker("m", **options)


def test_an_endpoint_must_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUNIMENT_RERANKER_BASE_URL", raising=False)
    with pytest.raises(InvalidInputError, match="MUNIMENT_RERANKER_BASE_URL"):
        open_reranker("http:m")


class Scorer:
    name = "mine"
    depth = 7

    def rerank(self, query: str, texts: Sequence[str]) -> list[float]:
        del query
        return [float(len(text)) for text in texts]


class Encoder:
    def predict(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        return [float(len(query) + len(text)) for query, text in pairs]


def lengths(query: str, texts: Sequence[str]) -> list[float]:
    del query
    return [float(len(text)) for text in texts]


class TestWhatMayBePassed:
    @pytest.mark.parametrize("spec", [None, "none"])
    def test_nothing_is_no_reranker(self, spec: object) -> None:
        assert open_reranker(spec) is None

    @pytest.mark.parametrize(
        ("spec", "name", "depth", "scores"),
        [
            (Scorer(), "mine", 7, [1.0, 2.0]),
            (Encoder(), "Encoder", 50, [2.0, 3.0]),
            (lengths, "lengths", 50, [1.0, 2.0]),
        ],
    )
    def test_an_object_or_a_function_is_wrapped(
        self, spec: object, name: str, depth: int, scores: list[float]
    ) -> None:
        reranker = open_reranker(spec)
        assert reranker is not None
        assert (reranker.name, reranker.depth) == (name, depth)
        assert reranker.rerank("q", ["a", "bb"]) == scores
        assert reranker.rerank("q", []) == []

    @pytest.mark.parametrize("spec", ["", "jina", "http:", "cross-encoder: ", 7])
    def test_anything_else_is_refused(self, spec: object) -> None:
        with pytest.raises(InvalidInputError, match="Allowed"):
            open_reranker(spec)

    def test_what_it_raises_or_forgets_is_a_failure_of_it(self) -> None:
        def broken(query: str, texts: Sequence[str]) -> list[float]:
            raise RuntimeError(texts[0])

        def forgetful(query: str, texts: Sequence[str]) -> list[float]:
            return [1.0]

        for spec, said in ((broken, "RuntimeError"), (forgetful, "2 texts with 1 scores")):
            reranker: Reranker | None = open_reranker(spec)
            assert reranker is not None
            with pytest.raises(ProviderError, match=said) as caught:
                reranker.rerank("q", ["secret text", "more"])
            assert "secret" not in str(caught.value)

    def test_a_cross_encoder_names_its_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "sentence_transformers", None)
        with pytest.raises(MissingExtraError, match=r"muniment\[rerank\]"):
            open_reranker("cross-encoder:some/model")
