"""Who packs, and when: a write that crosses a mark, and maintenance; never at a write's cost."""

from __future__ import annotations

from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory, Statement
from muniment.errors import StoreError
from muniment.ports import Block
from muniment.services import admission, packing
from muniment.testing import FakeEmbedder


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    return muniment.open(tmp_path / "memory.db", embedder=FakeEmbedder())


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")


def _say(me: ScopedMemory, start: int, count: int) -> None:
    numbers = range(start, start + count)
    said = [Statement("context", f"Statement number {n}.", f"source-{n}") for n in numbers]
    me.remember_many(said, approved=True)


def _block(memory: Memory, me: ScopedMemory) -> Block | None:
    with memory._store.snapshot() as view:
        state = view.owner(me.scope)
        assert state is not None
        return next(iter(view.blocks(state, None)), None)


def _version(memory: Memory, me: ScopedMemory) -> int:
    block = _block(memory, me)
    return 0 if block is None else block.version


def test_a_write_packs_when_enough_has_changed(memory: Memory, me: ScopedMemory) -> None:
    _say(me, 0, packing.LEAST - 1)
    assert _version(memory, me) == 0
    _say(me, 1000, 1)
    assert _version(memory, me) == packing.LEAST
    _say(me, 2000, packing.LEAST - 1)
    assert _version(memory, me) == packing.LEAST
    assert memory.maintain().packed == 1
    assert _version(memory, me) == 2 * packing.LEAST - 1
    assert memory.maintain().packed == 0


def test_a_large_scope_waits_for_maintenance(
    memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "MOST", packing.LEAST - 1)
    _say(me, 0, packing.LEAST)
    assert _version(memory, me) == 0
    assert memory.maintain().packed == 1


def test_a_write_stands_when_packing_fails(
    memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> bool:
        raise StoreError("The disk is full.")

    monkeypatch.setattr(admission, "pack", fails)
    _say(me, 0, packing.LEAST)
    assert me.counts().active == packing.LEAST
    assert _version(memory, me) == 0


def test_a_cold_recall_says_what_a_warm_one_says(
    memory: Memory, me: ScopedMemory, tmp_path: Path
) -> None:
    _say(me, 0, packing.LEAST)
    records = me.list(limit=3).records
    me.forget(records[0].memory_id)
    memory.maintain()
    me.correct(records[1].memory_id, text="Something else entirely.")
    _say(me, 3000, 3)
    query = "Which statement is number 12?"
    with muniment.open(tmp_path / "memory.db", embedder=FakeEmbedder(), cache_bytes=0) as other:
        cold = other.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
        assert _block(other, cold) is not None
        found = [cold.recall(query, minimum_score=-1).packet for _ in range(2)]
    assert found == [me.recall(query, minimum_score=-1).packet] * 2
