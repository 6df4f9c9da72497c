"""Writes the records of others straight into a store, since only their being there matters."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from muniment.bench.sample import DIMENSIONS, RandomEmbedder, statements
from muniment.clock import SystemClock, new_id
from muniment.ports import NewRecord, Store, Transaction
from muniment.records import Authority, EmbeddingState, WritePath
from muniment.rules.text import tokenise
from muniment.scope import Scope
from muniment.segment.words import WordHasher

BATCH = 1000
FIRST_OTHER = 1000


def scope_at(number: int) -> Scope:
    """Return one numbered scope; ten tenants share them."""
    return Scope(f"tenant {number % 10}", f"{number}", "bench")


@dataclass(frozen=True, slots=True)
class _Said:
    text: str
    tokens: Sequence[str]


@cache
def _said() -> tuple[_Said, ...]:
    texts = [one.text for one in statements(FIRST_OTHER, BATCH)]
    return tuple(_Said(text, tokenise(text)) for text in texts)


def join_in(store: Store, number: int) -> None:
    """Write a thousand records of a new scope, with words, vectors and audit, in one transaction.

    Rows and bytes are those of `remember_many`; what the write gate would look at is skipped, which
    is three times as fast. Every scope says the same sentences, with vectors of its own.

    Args:
        store: Where to.
        number: The scope's.
    """
    scope, now = scope_at(number), SystemClock().now()
    hasher = WordHasher(store.keys.words(scope))

    def work(tx: Transaction) -> None:
        owner, slot = tx.ensure_owner(scope, now), tx.ensure_slot(RandomEmbedder.model)
        for place, (said, vector) in enumerate(zip(_said(), _vectors(number), strict=True)):
            owner = tx.bump(owner)
            words = hasher.pack(said.tokens, [said.text])
            record = _record(f"{number}-{place}", said.text, words, (slot, vector), now)
            tx.insert(owner, record)
            tx.append_audit(
                owner, at=now, actor="subject", action="remember", memory_ids=[record.memory_id]
            )

    store.write(work)


def _vectors(number: int) -> Iterator[bytes]:
    drawn = np.random.default_rng(number).standard_normal((BATCH, DIMENSIONS), dtype=np.float32)
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    return (row.astype("<f4").tobytes() for row in drawn)


def _record(
    source_id: str, text: str, words: bytes, vector: tuple[int, bytes], now: int
) -> NewRecord:
    return NewRecord(
        memory_id=new_id("mem"),
        kind="preference",
        text=text,
        field=None,
        field_key=None,
        value=None,
        source_id=source_id,
        path=WritePath.REMEMBER,
        payload_digest=os.urandom(16),
        authority=Authority.EXPLICIT,
        actor="subject",
        approved_by=None,
        evidence=(),
        reference=None,
        follows=None,
        created_at=now,
        valid_from=None,
        valid_until=None,
        expires_at=None,
        metadata={},
        supersedes=None,
        words=words,
        vector=vector,
        embedding=EmbeddingState.READY,
    )
