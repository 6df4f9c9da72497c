"""The audit chain: no entry can be changed, dropped, reordered, cut off or moved unnoticed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integrity.conftest import RECORDS, House

OWN = "tenant_id = 'acme' AND owner_no = 1 AND number = ?"


def change(house: House) -> None:
    house.editor.run(f"UPDATE audit SET action = 'import' WHERE {OWN}", 3)


def change_the_ids(house: House) -> None:
    house.editor.run(f"UPDATE audit SET memory_ids = '[]' WHERE {OWN}", 3)


def drop(house: House) -> None:
    house.editor.run(f"DELETE FROM audit WHERE {OWN}", 3)


def reorder(house: House) -> None:
    first, second = (house.editor.row("audit", OWN, number) for number in (2, 3))
    first["number"], second["number"] = second["number"], first["number"]
    house.editor.put("audit", first)
    house.editor.put("audit", second)


def cut(house: House) -> None:
    house.editor.run(f"DELETE FROM audit WHERE {OWN}", RECORDS)


def cut_with_its_head(house: House) -> None:
    last = house.editor.row("audit", OWN, RECORDS - 1)
    cut(house)
    house.editor.run(
        "UPDATE owners SET audit_number = ?, audit_digest = ? WHERE owner_no = 1",
        last["number"],
        last["digest"],
    )


def move_between_owners(house: House) -> None:
    donor = house.editor.row("audit", "tenant_id = 'acme' AND owner_no = 2 AND number = ?", 3)
    house.editor.put("audit", donor | {"owner_no": 1})


def swap_the_actors(house: House) -> None:
    first, other = (
        house.editor.row("audit", f"tenant_id = 'acme' AND owner_no = {owner} AND number = 3")
        for owner in (1, 2)
    )
    house.editor.put("audit", first | {"actor": "x" + other["actor"]})


EDITS: dict[Callable[[House], None], str] = {
    change: "chain_broken",
    change_the_ids: "chain_broken",
    drop: "chain_broken",
    reorder: "chain_broken",
    cut: "chain_cut",
    cut_with_its_head: "owner_edited",
    move_between_owners: "chain_broken",
    swap_the_actors: "chain_broken",
}


@pytest.mark.promise("AUD-1")
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_an_edit_of_the_audit_is_reported(house: House, edit: Callable[[House], None]) -> None:
    assert house.flaws() == set()
    edit(house)
    found = house.verify()
    assert EDITS[edit] in {flaw.name for flaw in found.flaws}
    assert {flaw.owner_no for flaw in found.flaws} == {1}


@settings(
    max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    number=st.integers(1, RECORDS),
    column=st.sampled_from(["at", "actor", "action", "memory_ids", "reason", "digest"]),
)
def test_a_change_of_any_column_of_any_entry_is_reported(
    house: House, number: int, column: str
) -> None:
    before = house.editor.row("audit", OWN, number)
    new = {"at": 1, "digest": b"0" * 16, "memory_ids": "[mem"}.get(column, "ab")
    house.editor.put("audit", before | {column: new})
    assert "chain_broken" in house.flaws()
    house.editor.put("audit", before)
    assert house.flaws() == set()
