"""Published failures of correcting: the old text stays, or what belongs to it is lost."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import ScopedMemory
from muniment.records import Status
from muniment.testing import FakeEmbedder
from tests.behaviour.conftest import LEXICAL, ids, said, texts

STACKS = st.sampled_from(["PostgreSQL", "MySQL", "SQLite", "DuckDB"])


@pytest.mark.promise("CON-4")
@settings(max_examples=30)
@given(st.lists(STACKS, min_size=2, max_size=4, unique=True), st.booleans())
def test_correct_leaves_old(stacks: list[str], embed: bool) -> None:
    """memoria#89"""
    embedder: Any = FakeEmbedder() if embed else "none"
    with muniment.open(":memory:", embedder=embedder) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        made = [said(me, f"stack is FastAPI + {stacks[0]}").memory_id]
        made += _chain(me, made[0], stacks[1:])
        for stack in stacks:
            found = me.recall(f"stack {stack}", limit=5, minimum_score=-1)
            assert texts(found) == [f"stack is FastAPI + {stacks[-1]}"]
        history = me.history(made[0])
        assert [one.memory_id for one in history] == made
        for older, newer in pairwise(history):
            assert (older.status, older.superseded_by) == (Status.SUPERSEDED, newer.memory_id)


def _chain(me: ScopedMemory, first: str, stacks: list[str]) -> list[str]:
    made: list[str] = []
    for stack in stacks:
        old = made[-1] if made else first
        made.append(me.correct(old, text=f"stack is FastAPI + {stack}").memory_id)
    return made


@LEXICAL
@pytest.mark.promise("CON-4")
@pytest.mark.parametrize("change", ["text", "value", "both"])
def test_metadata_lost(me: ScopedMemory, change: str) -> None:
    """mem0#5160"""
    kept = said(
        me, "plays tennis", field="sport", value="tennis",
        metadata={"category": "hobby", "priority": "high"}, expires_at="2031-01-01T00:00:00Z",
    )  # fmt: skip
    old = me.get(kept.memory_id)
    changes: dict[str, Any] = {}
    changes |= {} if change == "value" else {"text": "plays padel"}
    changes |= {} if change == "text" else {"value": "padel"}
    new = me.get(me.correct(kept.memory_id, **changes).memory_id)
    for name in ("scope", "kind", "field", "metadata", "expires_at", "valid_from", "valid_until"):
        assert getattr(new, name) == getattr(old, name)
    assert (new.text, new.value) == (changes.get("text", old.text), changes.get("value", old.value))
    assert ids(me.recall("tennis padel", minimum_score=-1)) == [new.memory_id]
    if change == "both":
        assert len(me.recall("tennis")) == 0
