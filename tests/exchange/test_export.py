"""An export holds everything about its subject, as documented, and nothing of anybody else."""

from __future__ import annotations

import io
import json
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import InvalidInputError, ScopeError, StoreError
from muniment.scope import Principal, Role, Space, SpaceType
from muniment.testing import FrozenClock
from tests.exchange.world import ME, exported, items_of, lines_of, lived, mine, opened


@pytest.mark.promise("EXP-1")
def test_an_export_holds_one_line_for_everything_that_is_kept() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    ids = lived(me, clock)

    text = exported(me)

    records = {line["memory_id"]: line for line in items_of(text, "record")}
    kept = ("first", "second", "corrected", "context", "expiring", "approved")
    assert set(records) == {ids[name] for name in kept}
    assert records[ids["first"]]["status"] == "superseded"
    assert records[ids["first"]]["superseded_by"] == ids["second"]
    assert records[ids["second"]]["supersedes"] == ids["first"]
    assert records[ids["approved"]]["approved_by"] == "subject"
    candidates = {line["candidate_id"]: line for line in items_of(text, "candidate")}
    assert candidates[ids["contested"]]["evidence"] == ["evt_1"]
    assert candidates[ids["rejected"]]["reason"] == "not so"
    assert {line["reason"] for line in items_of(text, "tombstone")} == {
        "forgotten",
        "rejected",
        "corrected",
    }
    assert [line["number"] for line in items_of(text, "audit")] == [
        entry.number for entry in me.audit()
    ]


def test_every_line_is_valid_by_the_schema_that_the_package_ships() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    shipped = files("muniment.services.exchange").joinpath("export.schema.json")
    validator = jsonschema.Draft202012Validator(json.loads(shipped.read_text(encoding="utf-8")))

    for line in lines_of(exported(me)):
        validator.validate(line)


@pytest.mark.promise("EXP-1")
def test_a_second_export_differs_in_made_at_only() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)

    first = exported(me)
    clock.advance(seconds=1)
    second = exported(me)

    assert first != second
    assert first.splitlines()[1:] == second.splitlines()[1:]
    made = [lines_of(text)[0].pop("made_at") for text in (first, second)]
    assert made == ["2030-01-01T00:02:00Z", "2030-01-01T00:02:01Z"]


@pytest.mark.promise("FOR-3")
def test_forgotten_text_is_in_no_line() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)

    assert "zanzibar" not in exported(me)


def test_a_record_past_its_expiry_is_marked_as_expired() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    ids = lived(me, clock)
    clock.set("2030-01-02T00:00:00Z")

    records = {line["memory_id"]: line["status"] for line in items_of(exported(me), "record")}

    assert records[ids["expiring"]] == "expired"
    assert records[ids["context"]] == "active"


def test_the_report_counts_what_the_file_holds() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    target = io.StringIO()
    steps: list[tuple[int, int]] = []

    report = me.export(target, progress=lambda done, total: steps.append((done, total)))

    lines = lines_of(target.getvalue())
    assert report.lines == len(lines)
    assert lines[-1]["counts"] == {
        "record": report.records,
        "candidate": report.candidates,
        "tombstone": report.tombstones,
        "receipt": report.receipts,
        "audit": report.audit,
        "thread": report.threads,
        "entry": report.entries,
    }
    assert report.sha256 == lines[-1]["sha256"]
    assert steps[-1] == (len(lines) - 2, len(lines) - 2)


def test_an_empty_scope_gives_a_header_and_a_footer() -> None:
    kinds = [line["type"] for line in lines_of(exported(mine(opened())))]

    assert kinds == ["header", "footer"]


def test_a_file_is_replaced_whole_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    me = mine(opened())
    target = tmp_path / "me.jsonl"
    target.write_text("older")

    me.export(target)

    assert lines_of(target.read_text(encoding="utf-8"))[0]["type"] == "header"
    assert target.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [target]


def test_a_failed_export_leaves_the_older_file_as_it_was(tmp_path: Path) -> None:
    memory = opened()
    me = mine(memory)
    target = tmp_path / "me.jsonl"
    target.write_text("older")
    memory.close()

    with pytest.raises(StoreError):
        me.export(target)

    assert [path.read_text() for path in tmp_path.iterdir()] == ["older"]


def test_a_folder_that_cannot_be_written_to_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match="folder"):
        mine(opened()).export(tmp_path / "missing" / "me.jsonl")


def test_an_unknown_layout_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="layout"):
        mine(opened()).export(io.StringIO(), layout="xml")


PARTS = st.sampled_from(["a", "b", "a:b", "A", "a ", "ä"])
SCOPES = st.tuples(PARTS, PARTS, PARTS)


@pytest.mark.promise("SCO-3")
@given(st.sets(SCOPES, min_size=2, max_size=8), st.data())
def test_no_line_is_another_scopes(scopes: set[tuple[str, str, str]], data: st.DataObject) -> None:
    memory = opened(embedder="none")
    marks = {scope: f"mark-{place}-end" for place, scope in enumerate(sorted(scopes))}
    for (tenant_id, user_id, agent_id), mark in marks.items():
        one = memory.scoped(tenant_id=tenant_id, user_id=user_id, agent_id=agent_id)
        one.remember(mark, kind="preference", source_id=f"r {mark}", approved=True)
        one.propose(mark + "!", kind="preference", source_id=f"c {mark}")
    chosen = data.draw(st.sampled_from(sorted(scopes)))
    tenant_id, user_id, agent_id = chosen

    alone = exported(memory.scoped(tenant_id=tenant_id, user_id=user_id, agent_id=agent_id))
    whole = io.StringIO()
    memory.export_user(whole, tenant_id=tenant_id, user_id=user_id)

    for scope, mark in marks.items():
        assert (mark in alone) is (scope == chosen)
        assert (mark in whole.getvalue()) is (scope[:2] == chosen[:2])


@pytest.mark.promise("EXP-1")
def test_a_users_export_holds_all_agents_and_the_users_own_space() -> None:
    memory = opened()
    space = Space.of_user("acme", "user_42")
    project = Space("acme", SpaceType.PROJECT, "user_42")
    for agent in ("helper", "planner"):
        mine(memory, agent_id=agent).remember(
            f"Told to {agent}.", kind="preference", source_id=agent, approved=True
        )
    me = memory.scoped(**ME).with_spaces(space, project)
    desk = memory.reviewing(Principal("acme", "ruth", frozenset({Role.REVIEWER})))
    for owner, words in ((space, "Shared by the agents."), (project, "The project's.")):
        shown = me.propose(words, kind="decision", source_id=words, space=owner)
        desk.approve(
            owner, shown.candidate_id, version=shown.version, content_hash=shown.content_hash
        )
    target = io.StringIO()

    report = memory.export_user(target, tenant_id="acme", user_id="user_42")

    texts = [line["text"] for line in items_of(target.getvalue(), "record")]
    assert texts == ["Told to helper.", "Told to planner.", "Shared by the agents."]
    assert report.records == 3


def test_a_users_export_needs_a_complete_name() -> None:
    with pytest.raises(ScopeError):
        opened().export_user(io.StringIO(), tenant_id="acme", user_id=" ")
