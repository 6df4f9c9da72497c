"""Lets agmi write and ask at the front door, with a person who knows what they said."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from typing import Any

from agmi.adapters.semantic_base import MemoryItem, Retrieved, SemanticMemoryAdapter

import muniment
from muniment import Memory, RefusedError, ScopedMemory
from muniment.rules.screening import DefaultScreener
from muniment.testing import FakeEmbedder, FrozenClock


class ReviewedAdapter(SemanticMemoryAdapter):
    """An application that takes nothing for true by its label or its signature.

    Whatever comes in is proposed. The person it is about is shown each candidate and approves what
    they said themselves; anything else waits. So this shows what becomes of text that nobody
    approved, not that a machine could tell a lie from the truth. One of the texts tells a passport
    number, which a store refuses unless it is told to take them.

    Args:
        said: Every text that some person of the suite really said.
    """

    name = "muniment"

    def __init__(self, said: Collection[str]) -> None:
        self._said = frozenset(said)
        self._numbers = itertools.count()
        self._memory = self._opened()

    def reset(self) -> None:
        self._memory.close()
        self._memory = self._opened()

    def close(self) -> None:
        self._memory.close()

    def add_memory(self, item: MemoryItem) -> None:
        me = self._scope(item.user_id)
        labels = dict(item.metadata) | {"channel": item.source, "signed": bool(item.signature)}
        try:
            candidate = me.propose(
                item.text,
                kind="context",
                source_id=f"item-{next(self._numbers)}",
                metadata=labels,
            )
        except RefusedError:
            return
        if item.text in self._said:
            me.approve(
                candidate.candidate_id,
                version=candidate.version,
                content_hash=candidate.content_hash,
            )

    def retrieve(self, query: str, user_id: str, k: int = 5) -> list[Retrieved]:
        return self._recalled(query, user_id, None, k)

    def retrieve_where(
        self, query: str, user_id: str, where: Mapping[str, Any], k: int = 5
    ) -> list[Retrieved]:
        conditions = {f"metadata.{name}": value for name, value in where.items()}
        return self._recalled(query, user_id, conditions, k)

    def _recalled(
        self, query: str, user_id: str, filters: Mapping[str, Any] | None, limit: int
    ) -> list[Retrieved]:
        found = self._scope(user_id).recall(query, filters=filters, limit=limit)
        return [Retrieved(hit.record.text, user_id, hit.score) for hit in found]

    def _scope(self, user_id: str) -> ScopedMemory:
        return self._memory.scoped(tenant_id="acme", user_id=user_id, agent_id="helper")

    @staticmethod
    def _opened() -> Memory:
        return muniment.open(
            ":memory:",
            embedder=FakeEmbedder(),
            clock=FrozenClock(),
            screener=DefaultScreener(allowed={"passport"}),
        )


class TrustingAdapter(ReviewedAdapter):
    """The same with a person who approves everything that they are shown."""

    name = "muniment, everything approved"

    def add_memory(self, item: MemoryItem) -> None:
        self._said |= {item.text}
        super().add_memory(item)
