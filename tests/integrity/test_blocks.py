"""Packed records are checked as rows are: an edit is refused, and a verification names it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from muniment.errors import StoreBusyError, TamperedError
from muniment.services import packing
from tests.integrity.conftest import RECORDS, House, scope_of

OWN = "tenant_id = 'acme' AND owner_no = 1"


def change(house: House) -> None:
    content = bytearray(house.editor.row("blocks", OWN)["content"])
    content[-9] ^= 1
    house.editor.run(f"UPDATE blocks SET content = ? WHERE {OWN}", bytes(content))


def cut(house: House) -> None:
    content = house.editor.row("blocks", OWN)["content"]
    house.editor.run(f"UPDATE blocks SET content = ? WHERE {OWN}", content[:-16])


def pretend_it_is_newer(house: House) -> None:
    house.editor.run(f"UPDATE blocks SET version = version + 1 WHERE {OWN}")


def take_that_of_another_scope(house: House) -> None:
    donor = house.editor.row("blocks", "tenant_id = 'acme' AND owner_no = 2")
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
@pytest.mark.parametrize(
    "edit", [change, cut, pretend_it_is_newer, take_that_of_another_scope], ids=lambda e: e.__name__
)
def test_an_edited_block_is_refused_and_reported(
    packed: House, edit: Callable[[House], None]
) -> None:
    assert packed.flaws() == set()
    edit(packed)
    with pytest.raises(TamperedError):
        _asked(packed)
    assert len(_asked(packed, "user_43")) == RECORDS
    found = {(flaw.name, flaw.table) for flaw in packed.verify().flaws}
    assert ("row_edited", "blocks") in found


def test_a_block_that_somebody_dropped_is_reported_and_not_missed(packed: House) -> None:
    before = _asked(packed)
    packed.editor.run(f"DELETE FROM blocks WHERE {OWN}")
    assert _asked(packed) == before
    assert packed.flaws() == {"rows_missing_or_added"}


def test_an_older_block_changes_no_answer_and_is_reported(packed: House) -> None:
    older = packed.editor.row("blocks", OWN)
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
    assert _asked(packed) == before
    assert packed.flaws() == {"rows_missing_or_added"}
