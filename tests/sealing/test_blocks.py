"""Packed records of a sealed store: one ciphertext, bound to its place, sealed again, shredded."""

from __future__ import annotations

import pytest

from muniment import Memory
from muniment.errors import TamperedError
from muniment.ports import SealedRow, Transaction
from muniment.services import packing
from tests.sealing.conftest import Open, remember, scope_of, sealed_store
from tests.sealing.test_shredding import state

USERS = ("user_1", "user_2")


@pytest.fixture
def packed(open_memory: Open, monkeypatch: pytest.MonkeyPatch) -> Memory:
    monkeypatch.setattr(packing, "LEAST_UPKEEP", 1)
    memory = open_memory(sealed=True)
    for user in USERS:
        for number in range(3):
            remember(scope_of(memory, user), f"Statement {number} of {user}.", number)
    assert memory.maintain().packed == 2
    return memory


def block(memory: Memory, user: str, slot: int = 0) -> SealedRow:
    owner = state(memory, user)
    with sealed_store(memory)._inner.snapshot() as view:
        rows = view.sealed_rows(owner.owner.tenant_id, owner.owner_no, "blocks", 1, 100)
    (row,) = (row for row in rows if row.slot == slot)
    return row


def told(memory: Memory, user: str) -> list[str]:
    packet = scope_of(memory, user).recall("Statement", minimum_score=-1).packet
    return sorted(item.record.text for item in packet)


def _put(memory: Memory, user: str, row: SealedRow) -> None:
    owner = state(memory, user)

    def work(tx: Transaction) -> None:
        tx.put_sealed(owner.owner.tenant_id, owner.owner_no, row)

    sealed_store(memory)._inner.write(work)


@pytest.mark.promise("SEC-1")
@pytest.mark.parametrize("slot", [0, 1], ids=["words", "vectors"])
@pytest.mark.parametrize("change", ["moved", "cut", "flipped"])
def test_a_sealed_block_opens_in_its_place_only(
    packed: Memory, open_memory: Open, change: str, slot: int
) -> None:
    own, foreign = (block(packed, user, slot) for user in USERS)
    (content,) = own.parts
    assert isinstance(content, bytes)
    parts = {
        "moved": foreign.parts,
        "cut": (content[:-8],),
        "flipped": (content[:-1] + bytes([content[-1] ^ 1]),),
    }[change]
    _put(packed, "user_1", own._replace(parts=parts))
    with pytest.raises(TamperedError):
        told(open_memory(), "user_1")
    assert len(told(open_memory(), "user_2")) == 3
    flaws = {(flaw.name, flaw.table) for flaw in packed.verify().flaws}
    assert flaws == {("unreadable", "blocks")}


def test_several_blocks_are_opened_one_after_the_other(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LEAST_UPKEEP", 1)
    monkeypatch.setattr(packing, "VECTORS", 2)
    memory = open_memory(sealed=True)
    for number in range(5):
        remember(scope_of(memory, "user_1"), f"Statement {number} of user_1.", number)

    def scores(asked: Memory) -> dict[str, float]:
        packet = scope_of(asked, "user_1").recall("Statement 3", minimum_score=-1).packet
        return {item.record.text: round(item.score, 5) for item in packet}

    before = scores(memory)
    assert memory.maintain().packed == 1
    assert len(before) == 5
    assert scores(open_memory()) == before


def test_a_block_is_sealed_again_with_the_rows(packed: Memory, open_memory: Open) -> None:
    before, said = block(packed, "user_1"), told(packed, "user_1")
    packed.rotate_keys(reseal=True)
    after = block(packed, "user_1")
    assert after.parts != before.parts
    assert told(open_memory(), "user_1") == said
    assert packed.verify().is_intact


def test_a_block_goes_with_its_scope_and_a_new_one_starts(packed: Memory) -> None:
    me = scope_of(packed, "user_1")
    me.forget_all(wait=True)
    assert told(packed, "user_1") == []
    remember(me, "A new statement.", 9)
    packed.maintain()
    assert told(packed, "user_1") == ["A new statement."]
    assert packed.verify().is_intact
