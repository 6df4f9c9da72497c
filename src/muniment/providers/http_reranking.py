"""Rerankers behind a `/rerank` endpoint, in the shapes that are in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from muniment.errors import InvalidInputError, ProviderError
from muniment.providers.environment import environment
from muniment.providers.http_json import JSONEndpoint
from muniment.providers.reranking import DEPTH, CheckedReranker

if TYPE_CHECKING:
    from muniment.records import JSONValue

Takes: TypeAlias = Literal["documents", "texts"]
"""What the endpoint calls the texts: `documents` with a model, or `texts` for TEI."""

_LISTS = ("results", "data", "scores")
_SCORES = ("relevance_score", "score")


class HTTPReranker(CheckedReranker):
    """An endpoint that takes a question and texts, and numbers each. Asked only at a recall.

    The answer may be a list, or hold one as `results`, `data` or `scores`, of numbers in the order
    of the texts or of objects with an `index` and a `relevance_score` or `score`, in any order.
    """

    def __init__(
        self,
        model: str = "",
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        takes: Takes = "documents",
        timeout: float = 10.0,
        max_retries: int = 2,
        depth: int = DEPTH,
    ) -> None:
        """Configure the endpoint.

        Args:
            model: The model's name at the endpoint; blank for an endpoint that has one.
            base_url: What stands before `/rerank`; otherwise `MUNIMENT_RERANKER_BASE_URL`.
            api_key: The key, if it needs one; otherwise `MUNIMENT_RERANKER_API_KEY`.
            takes: `documents`, or `texts` for Text Embeddings Inference.
            timeout: Seconds without an answer, after which a request has failed.
            max_retries: How often a request that failed in a passing way is repeated.
            depth: How many records it is shown at a recall, at most.

        Raises:
            InvalidInputError: No endpoint is configured, or an argument is not allowed.
        """
        if takes not in get_args(Takes):
            raise InvalidInputError("takes must be documents or texts.")
        base = base_url or environment("MUNIMENT_RERANKER_BASE_URL")
        if base is None:
            raise InvalidInputError(
                "No reranker is configured. Set MUNIMENT_RERANKER_BASE_URL to what stands before "
                "/rerank, such as https://api.jina.ai/v1."
            )
        self._endpoint = JSONEndpoint(
            f"The reranker {model or takes}",
            f"{base.rstrip('/')}/rerank",
            key=api_key or environment("MUNIMENT_RERANKER_API_KEY"),
            timeout=timeout,
            max_retries=max_retries,
        )
        self._takes = takes
        self._model = model
        super().__init__(model or takes, self._number, depth=depth)

    def _number(self, query: str, texts: list[str]) -> list[float]:
        body: dict[str, JSONValue] = {"query": query, self._takes: list(texts)}
        if self._model:
            body["model"] = self._model
        if self._takes == "texts":
            body["truncate"] = True
        return _scores(self._endpoint.post(body), len(texts))


def _scores(answer: JSONValue, count: int) -> list[float]:
    """Return the scores of an answer in the order of the texts."""
    found: dict[int, float] = {}
    for place, item in enumerate(_items(answer)):
        index, score = _numbered(item, place)
        if not isinstance(index, int) or not 0 <= index < count or index in found:
            raise ProviderError("The reranker numbered the texts wrongly.")
        if isinstance(score, bool) or not isinstance(score, int | float):
            raise ProviderError("The reranker gave a text no score.")
        found[index] = float(score)
    if len(found) < count:
        raise ProviderError(
            f"The reranker said something of {len(found)} of {count} texts.",
            texts=count,
            scores=len(found),
        )
    return [found[place] for place in range(count)]


def _items(answer: JSONValue) -> list[JSONValue]:
    if isinstance(answer, Mapping):
        answer = next((answer[name] for name in _LISTS if name in answer), None)
    if not isinstance(answer, list):
        raise ProviderError("The reranker answered with no list of scores.")
    return answer


def _numbered(item: JSONValue, place: int) -> tuple[JSONValue, JSONValue]:
    if not isinstance(item, Mapping):
        return place, item
    return item.get("index"), next((item[name] for name in _SCORES if name in item), None)
