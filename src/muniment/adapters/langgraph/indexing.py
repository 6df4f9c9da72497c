"""Which texts of an item are embedded, and the vectors that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from langgraph.store.base import (
    IndexConfig,
    Op,
    PutOp,
    SearchOp,
    ensure_embeddings,
    get_text_at_path,
    tokenize_path,
)

from muniment.errors import InvalidInputError

WHOLE = "$"


@dataclass(frozen=True, slots=True)
class Vectors:
    """What a batch of operations needed embedded.

    Attributes:
        queries: The vector of each query.
        texts: The vector of each text of an item.
    """

    queries: Mapping[str, Sequence[float]] = field(default_factory=dict)
    texts: Mapping[str, Sequence[float]] = field(default_factory=dict)


class Index:
    """The index of a store: an embedding of LangChain's, and the fields that it reads."""

    def __init__(self, config: IndexConfig) -> None:
        self.embeddings = ensure_embeddings(config["embed"])
        self._dimensions = config["dims"]
        given = config.get("fields") or config.get("text_fields")
        fields: Any = given or [WHOLE]
        self._fields: list[str] = list(fields)

    @property
    def model(self) -> str:
        """What tells vectors of this index from those of another."""
        return f"langgraph/{type(self.embeddings).__name__}/{self._dimensions}"

    def embed(self, ops: Iterable[Op]) -> Vectors:
        """Embed what a batch needs, each text once."""
        queries, texts = self._wanted(ops)
        of_queries = [self.embeddings.embed_query(query) for query in queries]
        of_texts = self.embeddings.embed_documents(texts) if texts else []
        return self._vectors(queries, of_queries, texts, of_texts)

    async def aembed(self, ops: Iterable[Op]) -> Vectors:
        """Embed what a batch needs, each text once, without holding up the event loop."""
        queries, texts = self._wanted(ops)
        of_queries = [await self.embeddings.aembed_query(query) for query in queries]
        of_texts = await self.embeddings.aembed_documents(texts) if texts else []
        return self._vectors(queries, of_queries, texts, of_texts)

    def of_item(self, op: PutOp, vectors: Vectors) -> dict[str, Sequence[float]]:
        """Return the vectors of one item, each by the path of its text."""
        return {path: vectors.texts[text] for path, text in self._texts(op)}

    def _wanted(self, ops: Iterable[Op]) -> tuple[list[str], list[str]]:
        queries: dict[str, None] = {}
        texts: dict[str, None] = {}
        for op in ops:
            if isinstance(op, SearchOp) and op.query:
                queries[op.query] = None
            elif isinstance(op, PutOp):
                texts.update(dict.fromkeys(text for _, text in self._texts(op)))
        return list(queries), list(texts)

    def _texts(self, op: PutOp) -> list[tuple[str, str]]:
        if op.value is None or op.index is False:
            return []
        found: list[tuple[str, str]] = []
        for path in self._fields if op.index is None else op.index:
            texts = get_text_at_path(op.value, path if path == WHOLE else tokenize_path(path))
            many = len(texts) > 1
            found += [(f"{path}.{n}" if many else path, text) for n, text in enumerate(texts)]
        return found

    def _vectors(
        self,
        queries: Sequence[str],
        of_queries: Sequence[Sequence[float]],
        texts: Sequence[str],
        of_texts: Sequence[Sequence[float]],
    ) -> Vectors:
        if len(of_texts) != len(texts):
            raise InvalidInputError("The embedding returned another number of vectors than texts.")
        if any(len(vector) != self._dimensions for vector in (*of_queries, *of_texts)):
            raise InvalidInputError(
                f"The embedding returned vectors that have not the {self._dimensions} dimensions "
                "that the index names."
            )
        return Vectors(
            dict(zip(queries, of_queries, strict=True)), dict(zip(texts, of_texts, strict=True))
        )
