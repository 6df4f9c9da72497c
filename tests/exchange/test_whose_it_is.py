"""A file never widens a scope, and never lends a statement more weight than it had."""

from __future__ import annotations

import io
from typing import Any

import pytest

from muniment import BatchError, ScopedMemory
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
