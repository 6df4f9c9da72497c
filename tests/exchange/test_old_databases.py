"""The databases of applications that kept their agents' memory in a table of their own."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muniment import BatchError, InvalidInputError
from muniment.errors import ForeignFileError
from muniment.results import Outcome
from muniment.testing import FrozenClock
from tests.exchange.old import INSERTS, SECOND, bytes_of, made, row
from tests.exchange.world import mine, opened


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-30T00:00:00Z")


@pytest.mark.promise("EXP-2")
def test_every_live_statement_of_the_second_table_arrives_once(
    tmp_path: Path, clock: FrozenClock
) -> None:
    past = datetime(2026, 11, 29, tzinfo=UTC).timestamp()
    later = datetime(2027, 1, 1, 12, 30, 0, 250000, tzinfo=UTC).timestamp()
    path = made(
        tmp_path / "old.sqlite3",
        second=[
            row(1),
            row(2, kind="verified_fact", expires_at_epoch=later),
            row(3, kind="decision", expires_at_epoch=past),
            row(4, user_id="user_7"),
            row(5, tenant_id="globex"),
            row(6, agent_id="planner"),
        ],
    )
    before = bytes_of(tmp_path)
    memory = opened(clock)

    report = mine(memory).import_from("durable_memory", path)

    records = {record.source.source_id: record for record in mine(memory).list()}
    assert set(records) == {"profile_1", "profile_2"}
    assert records["profile_1"].text == "Statement 1."
    assert records["profile_1"].created_at == datetime(2026, 7, 27, 10, 0, 1, tzinfo=UTC)
    assert records["profile_2"].expires_at == datetime(2027, 1, 1, 12, 30, 0, 250000, tzinfo=UTC)
    assert (report.read, report.saved, report.candidates) == (6, 2, 0)
    assert [one.reason for one in report.skipped] == ["inactive"] + ["other_scope"] * 3
    assert bytes_of(tmp_path) == before


@pytest.mark.promise("EXP-2")
def test_a_second_run_changes_nothing(tmp_path: Path, clock: FrozenClock) -> None:
    path = made(tmp_path / "old.db", second=[row(1), row(2)], facts=[("user_42", "a", "b")])
    me = mine(opened(clock))
    for origin in ("durable_memory", "memories"):
        me.import_from(origin, path)
    counts, waiting = me.counts(), me.candidates()

    reports = [me.import_from(origin, path) for origin in ("durable_memory", "memories")]

    assert [report.saved for report in reports] == [0, 0]
    assert {one.reason for report in reports for one in report.skipped} == {"known"}
    assert (me.counts(), me.candidates()) == (counts, waiting)


def test_the_old_applications_own_retry_is_known(tmp_path: Path, clock: FrozenClock) -> None:
    path = made(tmp_path / "old.db", second=[row(1)])
    me = mine(opened(clock))
    me.import_from("durable_memory", path)

    retry = me.remember("Statement 1.", kind="preference", source_id="profile_1", approved=True)

    assert retry.outcome is Outcome.REPEATED


@pytest.mark.promise("EXP-2")
def test_the_older_table_is_deduplicated_and_its_expiry_normalised(
    tmp_path: Path, clock: FrozenClock
) -> None:
    path = made(
        tmp_path / "old.db",
        second=[row(1)],
        first=[
            row(11, source_id="profile_1", text="Statement 1."),
            row(12, source_id="twice", text="Said twice."),
            row(13, source_id="twice", text="Said twice."),
            row(14, source_id="moved", text="Lives in Rome."),
            row(15, source_id="moved", text="Lives in Oslo."),
            row(16, expires_at="2027-01-01T02:00:00+02:00"),
            row(17, expires_at="2026-11-30T03:00:00+04:00"),
            row(18, expires_at="2027-01-01T00:00:00"),
        ],
    )
    me = mine(opened(clock))

    with pytest.raises(BatchError):
        me.import_from("durable_memory", path)
    assert me.counts().active == 0
    report = me.import_from("durable_memory", path, mode="skip")

    records = {record.source.source_id: record for record in me.list()}
    assert {source: record.text for source, record in records.items()} == {
        "profile_1": "Statement 1.",
        "twice": "Said twice.",
        "moved": "Lives in Oslo.",
        "profile_16": "Statement 16.",
    }
    assert records["profile_16"].expires_at == datetime(2027, 1, 1, tzinfo=UTC)
    assert [(one.line, one.reason) for one in report.skipped] == [
        (2, "duplicate"),
        (3, "duplicate"),
        (5, "conflict"),
        (8, "inactive"),
        (9, "invalid"),
    ]
    assumed = me.import_from("durable_memory", path, mode="skip", assume_utc=True)
    assert assumed.saved == 1


def test_a_row_that_the_gate_refuses_is_reported(tmp_path: Path, clock: FrozenClock) -> None:
    path = made(
        tmp_path / "old.db",
        second=[row(1), row(2, kind="session_message"), row(3, text="Hid\u202eden."), row(4)],
    )
    me = mine(opened(clock))

    report = me.import_from("durable_memory", path, mode="skip")

    assert [(one.line, one.reason, one.item_id) for one in report.skipped] == [
        (2, "invalid", row(2)["id"]),
        (3, "refused", row(3)["id"]),
    ]
    assert report.saved == 2


@pytest.mark.promise("EXP-2", "FOR-3")
def test_what_was_forgotten_after_a_migration_stays_out(tmp_path: Path, clock: FrozenClock) -> None:
    path = made(tmp_path / "old.db", second=[row(1), row(2)])
    me = mine(opened(clock))
    me.import_from("durable_memory", path)
    me.forget(next(iter(me.list())).memory_id)

    report = me.import_from("durable_memory", path, mode="skip")

    assert sorted(one.reason for one in report.skipped) == ["known", "tombstoned"]
    assert me.counts().active == 1


@pytest.mark.promise("EXP-2")
def test_facts_by_key_arrive_as_candidates_unless_the_operator_approves(
    tmp_path: Path, clock: FrozenClock
) -> None:
    facts = [("1001", "max apples", "100"), ("1001", "budget", "40"), ("102", "max apples", "7")]
    path = made(tmp_path / "long_term_memory.db", facts=facts)
    before = bytes_of(tmp_path)
    waiting = mine(opened(clock), user_id="1001", agent_id="calculator")
    trusting = mine(opened(clock), user_id="1001", agent_id="calculator")

    report = waiting.import_from("memories", path)
    trusting.import_from("memories", path, approved_by_operator=True)

    assert (report.read, report.saved, report.candidates) == (3, 2, 2)
    assert [one.reason for one in report.skipped] == ["other_scope"]
    assert {one.statement.field for one in waiting.candidates()} == {"max apples", "budget"}
    assert waiting.counts().active == 0
    assert {record.field: record.value for record in trusting.list()} == {
        "max apples": "100",
        "budget": "40",
    }
    assert {record.text for record in trusting.list()} == {"max apples: 100", "budget: 40"}
    assert bytes_of(tmp_path) == before


@pytest.mark.promise("EXP-2", "WRI-9")
def test_a_fact_that_changed_since_the_last_run_supersedes(
    tmp_path: Path, clock: FrozenClock
) -> None:
    path = made(tmp_path / "facts.db", facts=[("user_42", "budget", "40")])
    me = mine(opened(clock))
    me.import_from("memories", path, approved_by_operator=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("INSERT OR REPLACE INTO memories VALUES ('user_42', 'budget', '50')")
        db.commit()

    report = me.import_from("memories", path, approved_by_operator=True)

    assert report.saved == 1
    assert [record.value for record in me.list()] == ["50"]


@pytest.mark.promise("EXP-2", "SCO-3")
def test_an_operator_moves_every_user_at_once_and_each_to_their_own_scope(
    tmp_path: Path, clock: FrozenClock
) -> None:
    path = made(
        tmp_path / "old.db",
        second=[row(1), row(2, user_id="user_7", agent_id="planner"), row(3, tenant_id="globex")],
        facts=[("1001", "max apples", "100"), ("102", "max apples", "7")],
    )
    memory = opened(clock)

    durable = memory.import_from("durable_memory", path, tenant_id="acme")
    facts = memory.import_from(
        "memories", path, tenant_id="acme", agent_id="calculator", approved_by_operator=True
    )

    assert (durable.saved, facts.saved) == (2, 2)
    assert [record.text for record in mine(memory).list()] == ["Statement 1."]
    other = mine(memory, user_id="user_7", agent_id="planner")
    assert [record.text for record in other.list()] == ["Statement 2."]
    apples = mine(memory, user_id="102", agent_id="calculator")
    assert [record.value for record in apples.list()] == ["7"]
    assert memory.health().scopes == 4


def test_a_source_that_names_no_agent_needs_one(tmp_path: Path, clock: FrozenClock) -> None:
    path = made(tmp_path / "facts.db", facts=[("1001", "max apples", "100")])
    memory = opened(clock)

    with pytest.raises(BatchError) as caught:
        memory.import_from("memories", path, tenant_id="acme")

    assert "agent_id" in str(caught.value.items[0].error)
    assert memory.health().scopes == 0


def test_a_file_in_write_ahead_mode_is_read_with_its_log_and_left_alone(
    tmp_path: Path, clock: FrozenClock
) -> None:
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA journal_mode=wal")
        db.execute(SECOND)
        db.execute(INSERTS["durable_memory_v2"], row(1))
        db.commit()
    before = bytes_of(tmp_path)

    report = mine(opened(clock)).import_from("durable_memory", path)

    assert report.saved == 1
    assert bytes_of(tmp_path) == before


def test_a_file_of_something_else_is_one_clear_error(tmp_path: Path, clock: FrozenClock) -> None:
    me = mine(opened(clock))
    text = tmp_path / "notes.txt"
    text.write_text("Not a database, but longer than the header of one would have to be." * 4)
    other = made(tmp_path / "other.db", facts=[("1001", "max apples", "100")])

    with pytest.raises(ForeignFileError):
        me.import_from("memories", text)
    with pytest.raises(InvalidInputError, match="durable_memory"):
        me.import_from("durable_memory", other)
    with pytest.raises(InvalidInputError, match="path"):
        me.import_from("memories", tmp_path / "missing.db")
    with pytest.raises(InvalidInputError, match="origin must be one of"):
        me.import_from("oracle", other)
