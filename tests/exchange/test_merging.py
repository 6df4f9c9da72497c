"""An import adds what is new, and never replaces, revives or widens anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment import BatchError, ScopedMemory, TombstonedError
from muniment.testing import FrozenClock
from tests.exchange.world import (
    edited,
    exported,
    lived,
    mine,
    opened,
    opened_at,
    restored,
    taken,
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


def test_a_pending_candidate_meets_what_stands_here_and_can_be_approved(
    clock: FrozenClock,
) -> None:
    me, other = mine(opened(clock)), mine(opened(clock))
    me.propose("Sits there.", kind="preference", field="seat", value="there", source_id="s1")
    standing = said(other, "Sits here.", "t1", field="seat", value="here")

    taken(other, exported(me))

    (waiting,) = other.candidates()
    assert waiting.contested == standing
    approved = other.approve(
        waiting.candidate_id, version=waiting.version, content_hash=waiting.content_hash
    )
    assert approved.superseded == standing


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
