"""An import adds what is new, and never replaces, revives or widens anything."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from muniment import BatchError, ScopedMemory, TombstonedError
from muniment.errors import ForbiddenError, ImportFileError
from muniment.testing import FrozenClock
from tests.exchange.world import (
    edited,
    exported,
    items_of,
    lines_of,
    lived,
    mine,
    opened,
    opened_at,
    resealed,
    restored,
    taken,
    written,
)


def said(me: ScopedMemory, text: str, source_id: str, **more: Any) -> str:  # noqa: ANN401
    more = {"kind": "preference", "approved": True, **more}
    return me.remember(text, source_id=source_id, **more).memory_id


def is_untouched(me: ScopedMemory) -> bool:
    counts = me.counts()
    return not any((counts.active, counts.superseded, counts.tombstones, me.candidates()))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def text(clock: FrozenClock) -> str:
    me = mine(opened(clock))
    lived(me, clock)
    return exported(me)


# --- What stands here ----------------------------------------------------------------------------


@pytest.mark.promise("FOR-3")
def test_what_was_forgotten_here_does_not_come_back(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    gone = said(me, "Allergic to peanuts.", "s1")
    said(me, "Likes the sea.", "s2")
    text = exported(me)
    me.forget(gone)

    with pytest.raises(BatchError) as caught:
        taken(me, text)
    report = taken(me, text, mode="skip")

    assert [(item.index, type(item.error)) for item in caught.value.items] == [(1, TombstonedError)]
    assert [(one.line, one.item_id) for one in report.skipped if one.reason == "tombstoned"] == [
        (2, gone)
    ]
    assert [record.text for record in me.list()] == ["Likes the sea."]


@pytest.mark.promise("FOR-3")
@pytest.mark.parametrize(
    "changes",
    [
        {"memory_id": "mem_" + "1" * 32},
        {"source": {"source_id": "fresh", "path": "remember"}},
        {"memory_id": "mem_" + "1" * 32, "source": {"source_id": "fresh", "path": "remember"}},
        {
            "memory_id": "mem_" + "1" * 32,
            "source": {"source_id": "fresh", "path": "remember"},
            "text": "ALLERGIC  to\tPEANUTS.",
            "status": "superseded",
            "superseded_by": "mem_" + "2" * 32,
            "superseded_at": "2030-01-01T00:00:00Z",
        },
    ],
)
def test_a_new_id_source_or_spelling_does_not_revive_a_forgotten_value(
    clock: FrozenClock, changes: dict[str, Any]
) -> None:
    me = mine(opened(clock))
    gone = said(me, "Allergic to peanuts.", "s1")
    text = exported(me)
    me.forget(gone)

    report = taken(me, edited(text, "record", **changes), mode="skip")

    assert [one.reason for one in report.skipped if one.line == 2] == ["tombstoned"]
    assert me.counts().active == me.counts().superseded == 0


@pytest.mark.promise("FOR-3")
def test_a_store_that_was_told_of_a_deletion_refuses_the_older_file(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    gone = said(me, "Allergic to peanuts.", "s1")
    older = exported(me)
    me.forget(gone)
    other = restored(exported(me), opened(clock))

    report = taken(other, older, mode="skip")

    assert [one.reason for one in report.skipped if one.item_id == gone] == ["tombstoned"]
    assert report.notes == ()


@pytest.mark.promise("EXP-1", "FOR-3")
def test_with_the_same_key_tombstones_hold_by_value_but_not_against_their_own_file(
    clock: FrozenClock, tmp_path: Path
) -> None:
    same_key: dict[str, Any] = {"key": b"k" * 32}
    with opened_at(tmp_path / "a.db", clock, **same_key) as one:
        me = mine(one)
        me.forget(said(me, "Allergic to peanuts.", "s1"))
        said(me, "Allergic to peanuts.", "s2")
        me.forget(said(me, "Keeps bees.", "s3"))
        text = exported(me)
    with opened_at(tmp_path / "b.db", clock, **same_key) as two:
        report = taken(mine(two), text)
        bees = edited(text, "record", memory_id="mem_" + "1" * 32, text="Keeps BEES.",
                      source={"source_id": "s4", "path": "remember"})  # fmt: skip
        again = taken(mine(two), bees, mode="skip")

        assert (report.saved, report.notes) == (report.read, ())
        assert [one.reason for one in again.skipped if one.line == 2] == ["tombstoned"]
        assert [record.text for record in mine(two).list()] == ["Allergic to peanuts."]


def test_a_tombstone_never_deletes_by_itself(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    gone = said(me, "Allergic to peanuts.", "s1")
    other = restored(exported(me), opened(clock))
    me.forget(gone)

    report = taken(other, exported(me), mode="skip")

    assert "conflict" in {one.reason for one in report.skipped if one.item_id == gone}
    assert other.get(gone).text == "Allergic to peanuts."


@pytest.mark.promise("CON-5", "EXP-1")
def test_a_value_that_was_corrected_here_does_not_come_back_but_its_history_does(
    clock: FrozenClock,
) -> None:
    me = mine(opened(clock))
    wrong = said(me, "Born in 1980.", "s1", field="born", value=1980)
    older = exported(me)
    me.correct(wrong, text="Born in 1981.", value=1981)

    assert {one.reason for one in taken(me, older).skipped} == {"known"}
    alone = edited(older, "record", memory_id="mem_" + "1" * 32,
                   source={"source_id": "s9", "path": "remember"})  # fmt: skip
    report = taken(me, alone, mode="skip")

    assert report.skipped[0].reason == "tombstoned"
    assert [record.value for record in me.list()] == [1981]


def test_other_words_under_the_same_id_or_source_are_a_conflict(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Likes the sea.", "s1")
    text = exported(me)
    other = mine(opened(clock))
    said(other, "Likes the mountains.", "s1")

    with pytest.raises(BatchError):
        taken(other, text)
    report = taken(other, text, mode="skip")
    swapped = taken(me, edited(text, "record", text="Likes the desert."), mode="skip")

    assert report.skipped[0].reason == swapped.skipped[0].reason == "conflict"
    assert [record.text for record in other.list()] == ["Likes the mountains."]
    assert [record.text for record in me.list()] == ["Likes the sea."]


def test_the_same_words_under_the_same_source_are_known(clock: FrozenClock) -> None:
    me, other = mine(opened(clock)), mine(opened(clock))
    said(me, "Likes the sea.", "s1")
    kept = said(other, "Likes the sea.", "s1")

    report = taken(other, exported(me))

    assert report.skipped[0].reason == "known"
    assert [record.memory_id for record in other.list()] == [kept]


@pytest.mark.promise("CON-2", "EXP-1")
def test_an_import_never_replaces_what_stands(clock: FrozenClock) -> None:
    me, other = mine(opened(clock)), mine(opened(clock))
    said(me, "Sits at the window.", "s1", field="seat", value="window")
    newer = said(me, "Sits at the aisle.", "s2", field="seat", value="aisle")
    standing = said(other, "Sits in the middle.", "t1", field="seat", value="middle")

    report = taken(other, exported(me), mode="skip")

    assert [(one.reason, one.item_id) for one in report.skipped] == [("conflict", newer)]
    assert [record.memory_id for record in other.list()] == [standing]
    assert other.counts().superseded == 1


def test_a_record_takes_the_place_of_one_that_has_expired(clock: FrozenClock) -> None:
    me, other = mine(opened(clock)), mine(opened(clock))
    said(other, "Sits here.", "t1", field="seat", expires_at="2030-01-01T00:00:01Z")
    clock.advance(seconds=2)
    said(me, "Sits there.", "s1", field="seat")

    assert taken(other, exported(me)).saved == 2
    assert [record.text for record in other.list()] == ["Sits there."]


def test_the_write_gate_refuses_in_a_file_what_it_refuses_anywhere(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Likes the sea.", "s1")
    text = edited(exported(me), "record", text="Likes\u202e the sea.")
    other = mine(opened(clock))

    with pytest.raises(BatchError):
        taken(other, text)
    report = taken(other, text, mode="skip")

    assert report.skipped[0].reason == "refused"
    assert is_untouched(other)
    assert "refused" in {entry.action for entry in other.audit()}


def test_a_kind_that_the_policy_does_not_have_is_reported(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Likes the sea.", "s1")

    report = taken(mine(opened(clock)), edited(exported(me), "record", kind="rumour"), mode="skip")

    assert report.skipped[0].reason == "invalid"


# --- Whose it is, and who stands behind it -------------------------------------------------------


@pytest.mark.promise("SCO-3")
def test_a_file_of_another_scope_is_refused_unless_an_operator_says_so(
    clock: FrozenClock, text: str
) -> None:
    memory = opened(clock)
    other = mine(memory, user_id="user_7")

    with pytest.raises(ForbiddenError):
        taken(other, text)
    assert memory.health().scopes == 0
    report = taken(other, text, rescope=True)

    assert report.saved == len(items_of(text))
    assert is_untouched(mine(memory))
    assert {line["scope"]["user_id"] for line in items_of(exported(other))} == {"user_7"}


@pytest.mark.promise("SCO-3")
def test_a_rescoped_history_has_new_ids_and_the_same_links(clock: FrozenClock) -> None:
    memory = opened(clock)
    me = mine(memory)
    ids = lived(me, clock)
    text = exported(me)
    other = mine(memory, user_id="user_7")

    taken(other, text, rescope=True)
    again = taken(other, text, rescope=True)

    assert again.saved == 0
    moved = items_of(exported(other), "record")
    assert len(moved) == len(items_of(text, "record"))
    assert not {line["memory_id"] for line in moved} & set(ids.values())
    current = next(record for record in other.list() if record.field == "city")
    assert [one.text for one in other.history(current.memory_id)] == [
        "Lives in Rome.",
        "Lives in Oslo.",
        "Lives in Bergen.",
    ]
    assert exported(me) == text


@pytest.mark.promise("SCO-3")
def test_an_id_of_another_scope_is_neither_touched_nor_given_away(clock: FrozenClock) -> None:
    memory = opened(clock)
    other, me = mine(memory, user_id="user_7"), mine(memory)
    theirs = said(other, "Their own words.", "s1")
    said(me, "Mine.", "s1")
    forged = edited(exported(me), "record", memory_id=theirs, text="Forged.",
                    source={"source_id": "s2", "path": "remember"})  # fmt: skip

    report = taken(me, forged)

    assert report.saved == 1
    assert other.get(theirs).text == "Their own words."
    assert {record.text for record in me.list()} == {"Mine.", "Forged."}
    assert theirs not in {record.memory_id for record in me.list()}
    assert {one.reason for one in taken(me, forged).skipped} == {"known"}


@pytest.mark.promise("SCO-3")
def test_of_a_file_of_several_scopes_only_the_callers_is_taken(clock: FrozenClock) -> None:
    memory = opened(clock)
    for agent in ("helper", "planner"):
        said(mine(memory, agent_id=agent), f"Told to {agent}.", "s1")
    whole = io.StringIO()
    memory.export_user(whole, tenant_id="acme", user_id="user_42")
    other = opened(clock)

    report = taken(mine(other), whole.getvalue())

    assert (report.read, report.saved) == (4, 2)
    assert [(one.reason, one.item_id) for one in report.skipped] == [("other_scope", None)] * 2
    assert is_untouched(mine(other, agent_id="planner"))
    with pytest.raises(ForbiddenError):
        taken(mine(other), whole.getvalue(), rescope=True)
    with pytest.raises(ForbiddenError):
        other.import_user(io.StringIO(whole.getvalue()), tenant_id="acme", user_id="user_7")


def test_a_record_that_nobody_confirmed_arrives_as_a_candidate(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Likes the sea.", "s1")
    text = edited(exported(me), "record", authority="inferred",
                  source={"source_id": "s1", "path": "propose"})  # fmt: skip
    doubting, trusting = mine(opened(clock)), mine(opened(clock))

    report = taken(doubting, text)
    taken(trusting, text, trust="operator")

    assert report.candidates == 1
    assert [one.statement.text for one in doubting.candidates()] == ["Likes the sea."]
    assert not doubting.recall("sea").packet.items
    assert [record.text for record in trusting.list()] == ["Likes the sea."]
    assert taken(doubting, text).saved == 0


def test_what_only_a_policy_approved_needs_that_policy_here(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Likes the sea.", "s1")
    text = edited(exported(me), "record", approved_by="policy", actor="profiler",
                  source={"source_id": "s1", "path": "propose"})  # fmt: skip

    assert taken(mine(opened(clock)), text).candidates == 1


def test_a_replaced_record_that_nobody_confirmed_is_not_taken_in(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Sits at the window.", "s1", field="seat", value="window")
    said(me, "Sits at the aisle.", "s2", field="seat", value="aisle")
    text = edited(exported(me), "record", source={"source_id": "s1", "path": "propose"})

    report = taken(mine(opened(clock)), text, mode="skip")

    assert report.skipped[0].reason == "conflict"


def test_a_candidate_that_was_changed_in_the_file_is_shown_as_it_is(
    clock: FrozenClock, text: str
) -> None:
    lines = lines_of(text)
    pending = next(line for line in lines if line.get("status") == "pending")
    pending["statement"]["text"] = "Lives on the moon."
    other = restored(resealed(lines), opened(clock))

    (waiting,) = other.candidates()

    assert waiting.statement.text == "Lives on the moon."
    assert waiting.content_hash != pending["content_hash"]


def test_the_report_says_that_foreign_tombstones_hold_by_id(clock: FrozenClock, text: str) -> None:
    report = taken(mine(opened(clock)), text)

    assert len(report.notes) == 1
    assert "by id" in report.notes[0]


def test_no_error_of_an_import_shows_what_a_line_says(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    said(me, "Allergic to peanuts.", "s1", metadata={"note": "peanuts"})
    lines = lines_of(exported(me))
    for name in lines[1].keys() - {"evidence", "value"}:
        spoiled = [dict(line) for line in lines]
        spoiled[1][name] = ["peanuts"]
        with pytest.raises((ImportFileError, BatchError)) as caught:
            taken(mine(opened(clock)), resealed([*spoiled]))
        assert "peanuts" not in f"{caught.value} {caught.value.to_dict()}"
    assert "peanuts" in written(lines[1])
