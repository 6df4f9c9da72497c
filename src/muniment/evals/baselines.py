"""Other ways of ranking the same texts: what recall is compared with in the same command."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from muniment.errors import InvalidInputError, MissingExtraError

if TYPE_CHECKING:
    from muniment.ports import Embedder

Times = Sequence[int | None]
_CHUNK = 64
_PACKAGES = {"bm25": "bm25s", "langgraph": "langgraph", "mem0": "mem0ai"}
_MODULES = {"mem0ai": "mem0"}


def missing(peer: str) -> str | None:
    """Return the package that must be installed before a peer can be measured, or None."""
    package = _PACKAGES.get(peer)
    here = package is None or find_spec(_MODULES.get(package, package)) is not None
    return None if here else package


class Baseline(Protocol):
    """Ranks the texts of one haystack."""

    def rank(self, query: str, before: int | None, limit: int) -> list[int]:
        """Return the places of the best texts, best first, of those with a time below `before`."""
        ...


def _needs(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise MissingExtraError(f"This peer is not installed: pip install {package}.") from None


def _best(scores: NDArray[np.float64], times: Times, before: int | None, limit: int) -> list[int]:
    places = np.arange(len(scores))
    if before is not None:
        places = places[[at is not None and at < before for at in times]]
    order = np.lexsort((-places, -scores[places]))
    best: list[int] = places[order[:limit]].tolist()
    return best


class BM25:
    """Okapi BM25 (Robertson and others, 1994) as `bm25s` has it, English stems and stop words."""

    def __init__(self, texts: Sequence[str], times: Times, embedder: Embedder | None) -> None:
        del embedder
        self._library = _needs("bm25s", "bm25s")
        self._stemmer = import_module("Stemmer").Stemmer("english")
        self._times = times
        self._index = self._library.BM25(k1=1.5, b=0.75)
        self._index.index(self._tokens(texts), show_progress=False)

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        tokens: list[list[str]] = self._library.tokenize(
            list(texts),
            stopwords="en",
            stemmer=self._stemmer,
            return_ids=False,
            show_progress=False,
        )
        return tokens

    def rank(self, query: str, before: int | None, limit: int) -> list[int]:
        """Return the places of the best."""
        (words,) = self._tokens([query])
        scores = self._index.get_scores(words) if words else np.zeros(len(self._times))
        return _best(scores, self._times, before, limit)


class Cosine:
    """The same embedder alone: one matrix, no words."""

    def __init__(self, texts: Sequence[str], times: Times, embedder: Embedder | None) -> None:
        self._embedder = _given(embedder)
        self._times = times
        self._matrix = np.concatenate(
            [
                self._embedder.embed_passages(texts[start : start + _CHUNK])
                for start in range(0, len(texts), _CHUNK)
            ]
        )

    def rank(self, query: str, before: int | None, limit: int) -> list[int]:
        """Return the places of the best."""
        scores = np.vecdot(self._matrix, self._embedder.embed_query(query)).astype(np.float64)
        return _best(scores, self._times, before, limit)


class LangGraph:
    """LangGraph's `InMemoryStore` with the same embedder."""

    def __init__(self, texts: Sequence[str], times: Times, embedder: Embedder | None) -> None:
        memory = _needs("langgraph.store.memory", "langgraph")
        model = _given(embedder)
        put = import_module("langgraph.store.base").PutOp

        def embed(asked: Sequence[str]) -> list[list[float]]:
            if len(asked) == 1 and asked[0] in self._queries:
                return [model.embed_query(asked[0]).tolist()]
            chunks = [asked[at : at + _CHUNK] for at in range(0, len(asked), _CHUNK)]
            return [row for chunk in chunks for row in model.embed_passages(chunk).tolist()]

        self._queries: set[str] = set()
        index = {"dims": model.model.dimensions, "embed": embed, "fields": ["text"]}
        self._store = memory.InMemoryStore(index=index)
        self._store.batch(
            [
                put(("eval",), str(place), {"text": text, "time": time})
                for place, (text, time) in enumerate(zip(texts, times, strict=True))
            ]
        )

    def rank(self, query: str, before: int | None, limit: int) -> list[int]:
        """Return the places of the best."""
        self._queries.add(query)
        within = None if before is None else {"time": {"$lt": before}}
        found = self._store.search(("eval",), query=query, filter=within, limit=limit)
        return [int(item.key) for item in found]


class Mem0:
    """mem0 with its own local vector store, the same embedder and `infer=False`: no model runs."""

    def __init__(self, texts: Sequence[str], times: Times, embedder: Embedder | None) -> None:
        model = _given(embedder)
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ.setdefault("OPENAI_API_KEY", "none is used")
        memory = _needs("mem0", "mem0ai").Memory
        base = import_module("mem0.embeddings.base").EmbeddingBase

        class Ours(base):  # type: ignore[misc, valid-type]
            def embed(self, text: str, memory_action: object = None) -> list[float]:
                asked = memory_action == "search"
                row = model.embed_query(text) if asked else model.embed_passages([text])[0]
                return list(map(float, row))

        client = import_module("qdrant_client").QdrantClient(":memory:")
        size = model.model.dimensions
        store = {"collection_name": "eval", "client": client, "embedding_model_dims": size}
        self._memory = memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": ":memory:",
            }
        )
        self._memory.embedding_model = Ours()
        for place, (text, time) in enumerate(zip(texts, times, strict=True)):
            self._memory.add(
                [{"role": "user", "content": text}],
                user_id="eval",
                metadata={"place": place, "time": time},
                infer=False,
            )

    def rank(self, query: str, before: int | None, limit: int) -> list[int]:
        """Return the places of the best."""
        within: dict[str, object] = {"user_id": "eval"}
        if before is not None:
            within["time"] = {"lt": before}
        found = self._memory.search(query, filters=within, top_k=limit, threshold=0.0)
        return [item["metadata"]["place"] for item in found["results"]]


def _given(embedder: Embedder | None) -> Embedder:
    if embedder is None:
        raise InvalidInputError("This peer ranks by meaning; choose an embedder for all.")
    return embedder


BASELINES: dict[str, Callable[[Sequence[str], Times, Embedder | None], Baseline]] = {
    "bm25": BM25,
    "cosine": Cosine,
    "langgraph": LangGraph,
    "mem0": Mem0,
}
