"""Failures on unusual input: too long, too odd, empty, damaged, and limits on one path only."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import muniment
from muniment import (
    BatchError,
    InvalidInputError,
    MunimentError,
    RefusedError,
    ScopedMemory,
    Statement,
)
from muniment.records import JSONValue
from muniment.results import Batch
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.trace import Degraded
from tests.behaviour.conftest import LEXICAL, ids, said, texts

DOORS = ["remember", "remember_many", "import_many", "preview"]
MALFORMED: list[dict[str, Any]] = [
    {"text": "x" * 100_001},
    {"text": ""},
    {"text": " \u200c\u200d "},
    {"text": None},
    {"text": 5},
    {"text": b"bytes"},
    {"text": "what is the \x00 weather"},
    {"text": "half a pair \ud83d"},
    {"kind": "episode"},
    {"kind": None},
    {"kind": ["preference"]},
    {"source_id": "x" * 257},
    {"source_id": None},
    {"source_id": "a\x00b"},
    {"field": ""},
    {"field": "x" * 257},
    {"field": 3},
    {"value": 1},
    {"field": "f", "value": "x" * 20_000},
    {"field": "f", "value": float("inf")},
    {"field": "f", "value": {"k": object()}},
    {"field": "f", "value": 10**5000},
    {"metadata": {"k": "a\x00b"}},
    {"metadata": {"k": "x" * 20_000}},
    {"metadata": {1: 2}},
    {"metadata": [1]},
    {"expires_at": "2030-06-01"},
    {"expires_at": 1_900_000_000},
    {"valid_from": "soon"},
    {"valid_from": "2031-01-01T00:00:00Z", "valid_until": "2030-01-01T00:00:00Z"},
    {"kind": "context", "expires_at": "2040-01-01T00:00:00Z"},
    {"kind": "outcome"},
]


@pytest.fixture
def place() -> str:
    return ":memory:"


def through(me: ScopedMemory, door: str, parts: dict[str, Any]) -> object:
    whole = {"text": "Likes tea.", "kind": "preference", "source_id": "s1", **parts}
    if door == "preview":
        return me.preview(whole.pop("text"), **whole)
    if door == "remember":
        return me.remember(whole.pop("text"), approved=True, **whole)
    batch = [Statement(**whole)]
    if door == "import_many":
        return me.import_many(batch)
    return me.remember_many(batch, approved=True)


def refusal(me: ScopedMemory, door: str, parts: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(MunimentError) as caught:
        through(me, door, parts)
    if isinstance(caught.value, BatchError):
        (item,) = caught.value.items
        return item.error.code, str(item.error)
    return caught.value.code, str(caught.value)


@LEXICAL
@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize("parts", MALFORMED)
def test_every_door_has_the_same_validator(me: ScopedMemory, parts: dict[str, Any]) -> None:
    """letta#3241, langgraph#1878"""
    refusals = {refusal(me, door, parts) for door in DOORS}
    assert len(refusals) == 1
    assert (me.counts().active, me.audit()) == (0, ())


@LEXICAL
@pytest.mark.parametrize("door", DOORS)
def test_the_longest_statement_passes_every_door(me: ScopedMemory, door: str) -> None:
    through(me, door, {"text": "x" * 100_000, "source_id": "s" * 256, "field": "f" * 256})
    assert me.counts().active == (0 if door == "preview" else 1)


@LEXICAL
def test_a_long_text_is_kept_whole_and_its_end_is_found(me: ScopedMemory) -> None:
    """mem0#5148"""
    text = "w " * 40_000 + "needle-at-end"
    kept = said(me, text)
    said(me, "Something short.")
    assert me.get(kept.memory_id).text == text
    assert ids(me.recall("needle-at-end", minimum_score=0, budget=None))[0] == kept.memory_id


@LEXICAL
def test_a_text_that_is_too_long_names_itself_and_spares_its_neighbours(me: ScopedMemory) -> None:
    """mem0#5148"""
    batch = [
        Statement("preference", "short ok", "b1"),
        Statement("preference", "x" * 400_000, "b2"),
        Statement("preference", "short ok 2", "b3"),
    ]
    result = me.import_many(batch, on_error="skip")
    assert [item.index for item in result.skipped] == [1]
    assert "400000" in str(result.skipped[0].error)
    assert texts(me.list()) == ["short ok 2", "short ok"]


def test_a_long_query_is_cut_and_says_so(me: ScopedMemory) -> None:
    """mem0#5148"""
    kept = said(me, "Likes tea.")
    found = me.recall("tea " + "q " * 50_000, minimum_score=-1)
    assert ids(found) == [kept.memory_id]
    assert Degraded.QUERY_CUT in found.trace.degraded
    assert Degraded.QUERY_CUT not in me.recall("q " * 4_000).trace.degraded


def test_an_escape_that_is_only_text_stays_text(me: ScopedMemory) -> None:
    """langgraph#1878"""
    kept = said(me, r"literal backslash \u0000 stays", metadata={"k": r"a\u0000b"})
    record = me.get(kept.memory_id)
    assert record.text == r"literal backslash \u0000 stays"
    assert record.metadata == {"k": r"a\u0000b"}


@LEXICAL
def test_empty_work_is_no_work(me: ScopedMemory) -> None:
    """llama_index#23185"""
    said(me, "Likes tea.")
    assert me.remember_many([], approved=True) == me.import_many([]) == Batch((), ())
    assert me.import_many([], on_error="skip") == Batch((), ())
    assert len(me.recall("tea", kinds=[])) == len(me.list(kinds=[])) == 0
    assert len(me.recall("tea", filters={})) == len(me.list(filters={})) == 1
    assert (me.counts().active, len(me.audit())) == (1, 1)


TEXT = st.text(st.characters(), min_size=1, max_size=60)
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)


@pytest.mark.promise("REC-7")
@settings(max_examples=150)
@given(TEXT, TEXT, VALUE, st.booleans())
def test_any_statement_is_kept_exactly_or_refused_with_a_reason(
    text: str, field: str, value: JSONValue, embed: bool
) -> None:
    embedder = FakeEmbedder() if embed else None
    with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        try:
            kept = said(me, text, field=field, value=value, metadata={"k": value})
        except (InvalidInputError, RefusedError):
            assume(me.counts().active > 0)
            raise
        record = me.get(kept.memory_id)
        assert (record.text, record.field) == (text.strip(), field.strip())
        assert (record.value, record.metadata) == (value, {"k": value})
        assert ids(me.recall(text, minimum_score=-1)) == [kept.memory_id]
        assert record.to_dict()["text"] == text.strip()
        me.forget(kept.memory_id)
        assert len(me.recall(text, minimum_score=-1)) == 0


@pytest.mark.parametrize(
    "options",
    [{"limit": 0}, {"budget": 0}, {"minimum_score": 1}, {"minimum_score": -1}, {"limit": 10_000}],
)
def test_the_ends_of_every_range_are_allowed(me: ScopedMemory, options: dict[str, Any]) -> None:
    said(me, "Likes tea.")
    assert len(me.recall("likes tea.", **options)) <= 1


def test_a_text_of_nothing_but_marks_can_be_kept_and_forgotten(me: ScopedMemory) -> None:
    for text in ("!!!", "🙂", "—", "ء", "\u0301"):
        kept = said(me, text)
        assert kept.memory_id in ids(me.recall(text, minimum_score=-1, limit=10))
        me.forget(kept.memory_id)
    assert me.counts().active == 0
    with pytest.raises(InvalidInputError):
        said(me, "\u200d")
