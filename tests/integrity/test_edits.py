"""Nine sorts of edits of the file, each seen by a verification, most by the next read.

The sorts are those of published integrity suites: change, cut, drop, reorder, forge, replay from
another scope, replay of an older row, change of labels, return to an older copy of the file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from muniment import StoreError
from muniment.errors import TamperedError
from tests.integrity.conftest import RECORDS, House, fill, scope_of
from tests.integrity.editing import Editor, copy_files

CONTENT = ("text", "metadata", "mac")
OWN = "tenant_id = 'acme' AND owner_no = 1 AND seq = ?"


def change(house: House) -> None:
    house.editor.run(f"UPDATE records SET text = text || 'A' WHERE {OWN}", 3)


def cut(house: House) -> None:
    for seq in (RECORDS, RECORDS - 1):
        house.editor.forget_record(1, seq)
    house.editor.run("UPDATE owners SET last_seq = ? WHERE owner_no = 1", RECORDS - 2)


def drop(house: House) -> None:
    house.editor.forget_record(1, 3)


def reorder(house: House) -> None:
    first, second = (house.editor.row("records", OWN, seq) for seq in (2, 3))
    for name in CONTENT:
        first[name], second[name] = second[name], first[name]
    house.editor.put("records", first)
    house.editor.put("records", second)


def forge(house: House) -> None:
    row = house.editor.row("records", OWN, RECORDS)
    words = house.editor.row("words", OWN, RECORDS)
    changes = {"seq": RECORDS + 1, "memory_id": f"mem_{0:032}", "source_id": "forged"}
    house.editor.put("records", row | changes)
    house.editor.put("words", words | {"seq": RECORDS + 1})


def replay_from_another_scope(house: House) -> None:
    donor = house.editor.row("records", "tenant_id = 'acme' AND owner_no = 2 AND seq = ?", 3)
    row = house.editor.row("records", OWN, 3)
    house.editor.put("records", row | {name: donor[name] for name in CONTENT})


def replay_an_older_row(house: House) -> None:
    donor, row = (house.editor.row("records", OWN, seq) for seq in (1, RECORDS))
    house.editor.put("records", row | {name: donor[name] for name in CONTENT})


def change_labels(house: House) -> None:
    house.editor.run(f"UPDATE records SET actor = 'operator', authority = 60 WHERE {OWN}", 3)


def return_to_an_older_copy(house: House) -> None:
    restore = copy_files(house.path, house.path.parent / "older")
    with house.open() as memory:
        fill(scope_of(memory), "late", 1)
    restore()


EDITS: dict[Callable[[House], None], set[str]] = {
    change: {"row_edited"},
    cut: {"rows_missing_or_added", "owner_edited"},
    drop: {"rows_missing_or_added"},
    reorder: {"row_edited"},
    forge: {"row_edited", "rows_missing_or_added"},
    replay_from_another_scope: {"row_edited"},
    replay_an_older_row: {"row_edited"},
    change_labels: {"row_edited"},
    return_to_an_older_copy: {"rolled_back"},
}


def test_an_untouched_store_is_intact(house: House) -> None:
    found = house.verify()
    assert found.is_intact
    assert found.flaws == ()
    assert found.integrity == "on"
    assert (found.owners, found.anchored, found.entries) == (2, 2, 2 * RECORDS)
    assert found.rows == 3 * 2 * RECORDS


@pytest.mark.promise("AUD-1", "SEC-1")
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_a_verification_reports_each_sort_of_edit(
    house: House, edit: Callable[[House], None]
) -> None:
    assert house.flaws() == set()
    edit(house)
    assert house.flaws() >= EDITS[edit]


@pytest.mark.parametrize("edit", [change, reorder, replay_from_another_scope, change_labels])
def test_an_edited_record_is_refused_by_the_next_read_and_named(
    house: House, edit: Callable[[House], None]
) -> None:
    edit(house)
    memory_id = house.editor.row("records", OWN, 3)["memory_id"]
    with house.open() as memory, pytest.raises(TamperedError) as caught:
        scope_of(memory).get(memory_id)
    assert caught.value.code == "tampered"
    assert memory_id in str(caught.value)
    with house.open() as memory:
        assert scope_of(memory, "user_43").list(limit=100).records


def test_an_edited_record_is_not_made_genuine_by_a_later_write(house: House) -> None:
    memory_id = house.editor.row("records", OWN, 3)["memory_id"]
    change(house)
    with house.open() as memory, pytest.raises(TamperedError):
        scope_of(memory).correct(memory_id, text="A corrected statement.")
    assert "row_edited" in house.flaws()


def test_an_edited_version_is_refused_before_anything_is_read(house: House) -> None:
    house.editor.run("UPDATE owners SET version = version - 1 WHERE owner_no = 1")
    with house.open() as memory, pytest.raises(TamperedError):
        scope_of(memory).recall("Statement")
    with house.open() as memory, pytest.raises(TamperedError):
        fill(scope_of(memory), "more", 1)


@pytest.mark.parametrize("table", ["words", "vectors"])
def test_swapped_search_data_are_seen(house: House, table: str) -> None:
    column = "words" if table == "words" else "vector"
    first, second = (house.editor.row(table, OWN, seq) for seq in (1, 2))
    first[column], second[column] = second[column], first[column]
    house.editor.put(table, first)
    house.editor.put(table, second)
    assert "row_edited" in house.flaws()
    if house.sealed:
        with house.open() as memory, pytest.raises(TamperedError):
            scope_of(memory).recall("Statement")


def test_a_tombstone_that_was_taken_away_is_missed(house: House) -> None:
    with house.open() as memory:
        me = scope_of(memory)
        me.forget(me.list(limit=1).records[0].memory_id)
    assert house.flaws() == set()
    house.editor.run("DELETE FROM tombstones")
    assert house.flaws() == {"rows_missing_or_added"}


def test_a_forgotten_row_that_is_put_back_is_seen(house: House) -> None:
    rows = {table: house.editor.row(table, OWN, 3) for table in ("records", "words", "vectors")}
    with house.open() as memory:
        scope_of(memory).forget(rows["records"]["memory_id"])
    for table, row in rows.items():
        house.editor.put(table, row)
    assert "rows_missing_or_added" in house.flaws()


def test_a_candidate_that_was_edited_is_refused(house: House) -> None:
    with house.open() as memory:
        candidate = scope_of(memory).propose("Perhaps.", kind="context", source_id="perhaps")
    house.editor.run("UPDATE candidates SET status = 'approved', version = 7")
    with house.open() as memory, pytest.raises(TamperedError):
        scope_of(memory).candidate(candidate.candidate_id)
    assert "row_edited" in house.flaws()


def test_an_owner_that_was_taken_away_is_missed(house: House) -> None:
    for table in ("audit", "words", "vectors", "records", "owners"):
        house.editor.run(f"DELETE FROM {table} WHERE owner_no = 2")
    assert house.flaws() == {"owner_missing"}


def test_an_older_copy_with_its_anchor_is_seen_with_an_anchor_kept_elsewhere(
    house: House, tmp_path: Path
) -> None:
    restore = copy_files(house.path, tmp_path / "older", ".anchor")
    with house.open() as memory:
        fill(scope_of(memory), "late", 1)
    kept = tmp_path / "kept.anchor"
    kept.write_bytes(house.path.with_name("memory.db.anchor").read_bytes())
    restore()
    assert house.flaws() == set()
    with house.open() as memory:
        found = memory.verify(anchor=kept)
    assert {flaw.name for flaw in found.flaws} == {"rolled_back"}


def test_an_edited_anchor_is_seen(house: House) -> None:
    anchor = Editor(house.path.with_name("memory.db.anchor"))
    anchor.run("DELETE FROM heads WHERE owner_no = 2")
    assert house.flaws() == {"anchor_edited"}


def test_a_lost_anchor_is_said_and_comes_back_only_when_asked(house: House) -> None:
    house.path.with_name("memory.db.anchor").unlink()
    with house.open() as memory:
        fill(scope_of(memory), "late", 1)
        health = memory.health()
        assert health.store.integrity == "off"
        assert any("integrity: off" in problem for problem in health.problems)
    found = house.verify()
    assert found.integrity == "off"
    assert [flaw.name for flaw in found.flaws] == ["anchor_missing"]
    with house.open() as memory:
        memory.anchor()
    assert house.verify().is_intact
    assert house.verify().integrity == "on"


def test_health_says_whether_a_store_is_sealed_and_guarded(house: House) -> None:
    with house.open() as memory:
        store = memory.health().store
    assert (store.sealed, store.integrity) == (house.sealed, "on")


def test_errors_about_edits_hold_no_text(house: House) -> None:
    change(house)
    with house.open() as memory, pytest.raises(StoreError) as caught:
        scope_of(memory).list(limit=100)
    assert "Statement" not in str(caught.value)
    assert "first" not in str(caught.value)
