"""What other systems write out as JSON, and LangGraph's own table."""

from __future__ import annotations

import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muniment import BatchError, InvalidInputError
from muniment.errors import ImportFileError
from muniment.testing import FrozenClock
from tests.exchange.world import mine, opened

WHEN = "2026-11-01T10:00:00Z"


def document(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a document of a search index for memory, with a made-up embedding."""
    return {
        "id": "d1",
        "user_id": "user_42",
        "memory_type": "preference",
        "content": "Prefers short answers.",
        "metadata": json.dumps({"category": "style"}),
        "created_at": WHEN,
        "access_count": 3,
        "last_accessed": WHEN,
        "embedding": [0.0, 1.0],
        **changes,
    }


def as_file(value: object) -> io.StringIO:
    return io.StringIO(json.dumps(value, ensure_ascii=False))


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-30T00:00:00Z")


@pytest.mark.promise("EXP-2")
@pytest.mark.parametrize("wrapped", [False, True])
def test_documents_of_an_index_arrive_as_candidates_of_their_kind(
    clock: FrozenClock, wrapped: bool
) -> None:
    documents = [
        document(),
        document(id="d2", memory_type="fact", content="Works in Delft.", metadata="{}"),
        document(id="d3", memory_type="insight", content="Asks best in the morning."),
        document(id="d4", user_id="user_7"),
        document(id="d5", memory_type="gossip"),
        document(id="d6", content=" "),
        document(id="d7", metadata="{"),
        "not a document",
    ]
    me = mine(opened(clock))

    report = me.import_from(
        "documents", as_file({"value": documents} if wrapped else documents), mode="skip"
    )

    waiting = {one.statement.text: one for one in me.candidates()}
    assert {one.statement.kind for one in waiting.values()} == {"preference", "fact", "insight"}
    first = waiting["Prefers short answers."].statement
    assert first.metadata["category"] == "style"
    imported = first.metadata["imported"]
    assert isinstance(imported, dict)
    assert (imported["id"], imported["access_count"]) == ("d1", 3)
    assert (report.read, report.saved, report.candidates) == (8, 3, 3)
    assert [(one.line, one.reason) for one in report.skipped] == [
        (4, "other_scope"),
        (5, "invalid"),
        (6, "invalid"),
        (7, "invalid"),
        (8, "invalid"),
    ]


def test_documents_run_twice_change_nothing_also_after_review(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    me.import_from("documents", as_file([document(), document(id="d2", content="Other.")]))
    one, two = me.candidates()
    me.approve(one.candidate_id, version=one.version, content_hash=one.content_hash)
    me.reject(two.candidate_id, reason="no")

    report = me.import_from("documents", as_file([document(), document(id="d2", content="Other.")]))

    assert [one.reason for one in report.skipped] == ["known", "known"]
    assert (me.counts().active, me.candidates()) == (1, ())


def test_an_approving_operator_makes_records_of_them(clock: FrozenClock) -> None:
    me = mine(opened(clock))

    report = me.import_from("documents", as_file([document()]), approved_by_operator=True)

    (record,) = me.list()
    assert (report.saved, report.candidates) == (1, 0)
    assert (record.source.path.value, record.actor) == ("import", "operator")
    assert record.evidence == ("documents:d1",)
    assert record.created_at.isoformat() == "2026-11-01T10:00:00+00:00"


def test_mem0_items_of_this_scope_arrive_as_candidates(clock: FrozenClock) -> None:
    items = [
        {"id": "m1", "memory": "Is vegetarian.", "user_id": "user_42", "created_at": WHEN},
        {"id": "m2", "memory": "Has a dog.", "user_id": "user_42", "agent_id": "helper",
         "metadata": {"topic": "pets"}, "hash": "x"},
        {"id": "m3", "memory": "Another agent's.", "user_id": "user_42", "agent_id": "planner"},
        {"id": "m4", "memory": "Another person's.", "user_id": "user_7"},
        {"id": "m5", "memory": "Nobody's.", "agent_id": "helper"},
        {"id": "m6", "memory": "When?", "user_id": "user_42", "created_at": "2026-11-01T10:00:00"},
    ]  # fmt: skip
    me = mine(opened(clock))

    report = me.import_from("mem0", as_file({"results": items}), mode="skip", kind="preference")

    assert {(one.statement.text, one.statement.kind) for one in me.candidates()} == {
        ("Is vegetarian.", "preference"),
        ("Has a dog.", "preference"),
    }
    assert [(one.line, one.reason) for one in report.skipped] == [
        (3, "other_scope"),
        (4, "other_scope"),
        (5, "invalid"),
        (6, "invalid"),
    ]


def test_the_person_may_have_another_id_there(clock: FrozenClock) -> None:
    me = mine(opened(clock))

    report = me.import_from("documents", as_file([document(user_id="u-1")]), known_as="u-1")

    assert report.saved == 1


ITEMS: list[dict[str, Any]] = [
    {"namespace": ["user_42", "facts"], "key": "k1", "value": {"text": "Is left-handed.", "n": 1}},
    {"namespace": ["user_42", "facts"], "key": "k2", "value": {"likes": ["tea", "rain"]}},
    {"namespace": ["user_7", "facts"], "key": "k1", "value": {"text": "Another person's."}},
    {"namespace": ["user_421"], "key": "k1", "value": {"text": "Another person's."}},
]


def store_file(path: Path) -> Path:
    """Make the SQLite file that LangGraph's store leaves."""
    with closing(sqlite3.connect(path)) as db:
        db.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL, "
            "created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, "
            "updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, expires_at TIMESTAMP, "
            "ttl_minutes REAL, PRIMARY KEY (prefix, key))"
        )
        for item in ITEMS:
            db.execute(
                "INSERT INTO store VALUES (?, ?, ?, ?, ?, NULL, NULL)",
                (
                    ".".join(item["namespace"]),
                    item["key"],
                    json.dumps(item["value"]),
                    "2026-11-01 10:00:00",
                    "2026-11-01 10:00:00",
                ),
            )
        gone = ("user_42.facts", "k9", '{"text": "Gone."}', "2026-11-02 00:00:00")
        db.execute("INSERT INTO store (prefix, key, value, expires_at) VALUES (?, ?, ?, ?)", gone)
        db.commit()
    return path


@pytest.mark.parametrize("form", ["json", "sqlite"])
def test_langgraph_items_of_the_wanted_namespace_arrive_as_candidates(
    tmp_path: Path, clock: FrozenClock, form: str
) -> None:
    source = as_file({"items": ITEMS}) if form == "json" else store_file(tmp_path / "store.db")
    me = mine(opened(clock))

    report = me.import_from("langgraph", source, namespace=["user_42"])

    assert {one.statement.text for one in me.candidates()} == {
        "Is left-handed.",
        '{"likes":["tea","rain"]}',
    }
    left = next(one for one in me.candidates() if one.statement.text == "Is left-handed.")
    assert left.statement.metadata["value"] == {"n": 1}
    reasons = sorted(one.reason for one in report.skipped)
    assert reasons == ["inactive"] * (form == "sqlite") + ["other_scope"] * 2


def test_the_same_items_are_known_whichever_form_they_come_in(
    tmp_path: Path, clock: FrozenClock
) -> None:
    path = store_file(tmp_path / "store.db")
    me = mine(opened(clock))
    me.import_from("langgraph", path, namespace=["user_42"])

    assert me.import_from("langgraph", path, namespace=["user_42"]).saved == 0


def test_langgraph_needs_a_namespace_and_is_imported_by_scope(clock: FrozenClock) -> None:
    memory = opened(clock)

    with pytest.raises(InvalidInputError, match="namespace"):
        mine(memory).import_from("langgraph", as_file(ITEMS))
    with pytest.raises(InvalidInputError, match="scope"):
        memory.import_from("langgraph", as_file(ITEMS), tenant_id="acme", agent_id="helper")


def test_a_kind_that_no_model_may_propose_is_refused_for_what_was_inferred(
    clock: FrozenClock,
) -> None:
    me = mine(opened(clock))
    item = document(
        memory_type="outcome", metadata={"succeeded": True, "actions": ["x"], "category": "c"}
    )

    with pytest.raises(BatchError):
        me.import_from("documents", as_file([item]))

    assert "refused" in {entry.action for entry in me.audit()}


@pytest.mark.parametrize("text", ["", "{", "{}", '{"value": 1}', "[1", "\x00"])
@pytest.mark.parametrize("origin", ["documents", "mem0", "pam"])
def test_a_file_that_is_not_what_it_should_be_is_one_clear_error(
    clock: FrozenClock, origin: str, text: str
) -> None:
    memory = opened(clock)

    with pytest.raises((ImportFileError, InvalidInputError)):
        mine(memory).import_from(origin, io.StringIO(text))

    assert memory.health().scopes == 0


@pytest.mark.parametrize("origin", ["documents", "mem0"])
def test_an_empty_list_leaves_no_trace(clock: FrozenClock, origin: str) -> None:
    memory = opened(clock)

    report = mine(memory).import_from(origin, as_file([]))

    assert (report.read, report.saved, memory.health().scopes) == (0, 0, 0)
