"""Packed records are checked as rows are: an edit is refused, and a verification names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from muniment.errors import StoreBusyError, TamperedError
from muniment.services import packing
from tests.integrity.conftest import RECORDS, House, scope_of

WORDS, VECTORS = 0, 1
OWN = "tenant_id = 'acme' AND owner_no = 1 AND slot = {}"


def change(house: House, slot: int) -> None:
    content = bytearray(house.editor.row("blocks", OWN.format(slot))["content"])
    content[-9] ^= 1
    house.editor.run(f"UPDATE blocks SET content = ? WHERE {OWN.format(slot)}", bytes(content))


def cut(house: House, slot: int) -> None:
    content = house.editor.row("blocks", OWN.format(slot))["content"]
    house.editor.run(f"UPDATE blocks SET content = ? WHERE {OWN.format(slot)}", content[:-16])


def pretend_it_is_newer(house: House, slot: int) -> None:
    house.editor.run(f"UPDATE blocks SET version = version + 1 WHERE {OWN.format(slot)}")


def take_that_of_another_scope(house: House, slot: int) -> None:
    donor = house.editor.row("blocks", f"tenant_id = 'acme' AND owner_no = 2 AND slot = {slot}")
    house.editor.put("blocks", donor | {"owner_no": 1})


@pytest.fixture
def packed(house: House, monkeypatch: pytest.MonkeyPatch) -> House:
    monkeypatch.setattr(packing, "LEAST_UPKEEP", 1)
    with house.open() as memory:
        assert memory.maintain().packed == 2
    return house


def _asked(house: House, user_id: str = "user_42") -> list[str]:
    with house.open() as memory:
        packet = scope_of(memory, user_id).recall("Statement", minimum_score=-1).packet
        return sorted(item.record.text for item in packet)


@pytest.mark.promise("AUD-1", "SEC-1")
@pytest.mark.parametrize("slot", [WORDS, VECTORS], ids=["words", "vectors"])
@pytest.mark.parametrize(
    "edit", [change, cut, pretend_it_is_newer, take_that_of_another_scope], ids=lambda e: e.__name__
)
def test_an_edited_block_is_refused_and_reported(
    packed: House, edit: Callable[[House, int], None], slot: int
) -> None:
    assert packed.flaws() == set()
    edit(packed, slot)
    with pytest.raises(TamperedError):
        _asked(packed)
    assert len(_asked(packed, "user_43")) == RECORDS
    found = {(flaw.name, flaw.table) for flaw in packed.verify().flaws}
    assert ("row_edited", "blocks") in found


def test_words_that_somebody_dropped_are_reported_and_not_missed(packed: House) -> None:
    before = _asked(packed)
    packed.editor.run(f"DELETE FROM blocks WHERE {OWN.format(WORDS)}")
    assert _asked(packed) == before
    assert packed.flaws() == {"rows_missing_or_added"}


@pytest.mark.promise("AUD-1", "SEC-1")
@pytest.mark.parametrize("slots", [(VECTORS,), (WORDS, VECTORS)], ids=["vectors", "both"])
def test_vectors_that_somebody_dropped_are_missed(packed: House, slots: tuple[int, ...]) -> None:
    for slot in slots:
        packed.editor.run(f"DELETE FROM blocks WHERE {OWN.format(slot)}")
    with pytest.raises(TamperedError):
        _asked(packed)
    assert packed.flaws() == {"rows_missing_or_added"}


@pytest.mark.parametrize("slot", [WORDS, VECTORS], ids=["words", "vectors"])
def test_an_older_block_changes_no_answer_and_is_reported(packed: House, slot: int) -> None:
    older = packed.editor.row("blocks", OWN.format(slot))
    with packed.open() as memory:
        me = scope_of(memory)
        kept = me.list(limit=100).records
        me.correct(kept[0].memory_id, text="A corrected statement.")
        me.forget(kept[1].memory_id)
        memory.maintain()
    before = _asked(packed)
    packed.editor.put("blocks", older)
    if packed.sealed:
        with pytest.raises(StoreBusyError):
            _asked(packed)
        return
    if slot == VECTORS:
        with pytest.raises(TamperedError):
            _asked(packed)
    else:
        assert _asked(packed) == before
    assert packed.flaws() == {"rows_missing_or_added"}
