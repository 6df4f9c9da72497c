"""Sealing changes no answer: recall, lists and filters are those of a plain store."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import ScopedMemory
from muniment.testing import FakeEmbedder, FrozenClock
from tests.sealing.conftest import scope_of

WORDS = ["tea", "coffee", "window", "aisle", "Rome", "Oslo", "قهوه", "پنجره", "京都", "ﷺ"]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
STEP = st.one_of(
    st.tuples(st.just("remember"), TEXT, st.sampled_from([None, "drink", "seat"])),
    st.tuples(st.just("forget"), st.integers(0, 30), st.none()),
    st.tuples(st.just("correct"), st.integers(0, 30), TEXT),
    st.tuples(st.just("recall"), TEXT, st.none()),
)


def _told(me: ScopedMemory, query: str) -> list[Any]:
    """Return what a recall, a filtered recall and a list show, without the random ids."""
    given = me.recall(query, limit=20, minimum_score=-1, budget=10_000)
    labelled = me.recall(
        query,
        limit=20,
        minimum_score=-1,
        filters={"metadata.n": {"lt": 5}, "source_id": {"ne": "s1"}},
    )
    listed = me.list(limit=100, superseded=True)
    return [
        [(item.record.text, item.record.field, item.score) for item in given.packet],
        [(item.record.text, item.record.metadata, item.score) for item in labelled.packet],
        [(r.seq, r.text, r.value, r.source.path, r.status, r.actor, r.metadata) for r in listed],
        [(hit.rank, hit.lexical, hit.semantic, hit.exact) for hit in given.trace.hits],
        [(entry.action, entry.actor) for entry in me.audit()],
        me.counts(),
    ]


def _apply(me: ScopedMemory, number: int, step: Sequence[Any]) -> Any:  # noqa: ANN401 - compared only
    verb, first, second = step
    records = me.list(limit=100).records
    if verb == "remember":
        value = None if second is None else first
        return me.remember(
            first,
            kind="preference",
            source_id=f"s{number}",
            field=second,
            value=value,
            metadata={"n": number},
            approved=True,
        ).outcome
    if verb == "recall":
        return _told(me, first)
    if not records:
        return None
    memory_id = records[first % len(records)].memory_id
    if verb == "forget":
        return [surface.to_dict() for surface in me.forget(memory_id).surfaces]
    try:
        return me.correct(memory_id, text=second).outcome
    except muniment.MunimentError as error:
        return error.code


@pytest.mark.promise("SEC-1")
@settings(max_examples=20, deadline=None)
@given(steps=st.lists(STEP, min_size=1, max_size=14), query=TEXT)
def test_a_sealed_store_answers_exactly_as_a_plain_one(
    steps: list[Sequence[Any]], query: str
) -> None:
    with ExitStack() as stack:
        scopes = [
            scope_of(
                stack.enter_context(
                    muniment.open(
                        ":memory:", sealed=sealed, embedder=FakeEmbedder(), clock=FrozenClock()
                    )
                )
            )
            for sealed in (False, True)
        ]
        for number, step in zip(count(), steps, strict=False):
            plain, hidden = (_apply(me, number, step) for me in scopes)
            assert plain == hidden
        plain, hidden = (_told(me, query) for me in scopes)
        assert plain == hidden
