"""Published failures of expiry: returned until swept, and never swept."""

from __future__ import annotations

import pytest

from muniment import Memory, NotFoundError, ScopedMemory, Statement
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, said, texts


@pytest.mark.promise("TIM-3")
@pytest.mark.parametrize("replaced", [False, True])
def test_returned_until_swept(me: ScopedMemory, clock: FrozenClock, *, replaced: bool) -> None:
    """langgraph#8902"""
    clock.set("2030-01-01T00:00:00Z")
    kept = said(me, "temp window", field="window", value="temp", expires_at="2030-01-01T00:05:00Z")
    if replaced:
        clock.advance(seconds=1)
        said(me, "other view", field="window", value="other")
    before = "2030-01-01T00:00:00Z"
    clock.set("2030-01-01T00:04:59.999999Z")
    assert me.get(kept.memory_id).text == "temp window"
    assert texts(me.recall("temp window", as_of=before)) == ["temp window"]
    clock.advance(seconds=0.000001)
    for found in (
        me.recall("temp window", minimum_score=-1),
        me.recall("What do you know about me?", minimum_score=-1),
        me.recall("temp window", minimum_score=-1, as_of=before),
        me.list(superseded=True),
    ):
        assert "temp window" not in texts(found)
    for verb in (me.get, me.history):
        with pytest.raises(NotFoundError):
            verb(kept.memory_id)
    assert (me.counts().expired, me.counts().superseded) == (1, 0)


@LEXICAL
@pytest.mark.promise("TIM-2")
def test_never_swept(memory: Memory, me: ScopedMemory, clock: FrozenClock) -> None:
    """TemporalStore#1541"""
    live = [
        Statement("feedback", f"live {n}", f"l{n}", expires_at="2099-01-01T00:00:00Z")
        for n in range(2000)
    ]
    dead = [
        Statement("feedback", f"dead {n}", f"d{n}", expires_at="2000-01-01T00:00:00Z")
        for n in range(10)
    ]
    me.remember_many([*live, *dead], approved=True)
    with memory._store.snapshot() as view:
        assert len(view.expired(clock.now(), 5000)) == 10
    assert memory.maintain().deleted == 10
    assert (me.counts().expired, me.counts().active) == (0, 2000)
    expired = [entry for entry in me.audit() if entry.action == "expire"]
    assert len(expired) == 10
    with memory._store.snapshot() as view:
        assert view.expired(clock.now(), 5000) == []
