"""Proposing, reviewing and correcting from a terminal: what is approved is what was shown."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from tests.command_line import Command, command_line, remember, write_lines

CITY = ("--kind", "verified_fact", "--field", "city")
REVIEWER = ("--principal", "dana")
SPACE = ("--space", "project/apollo")


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


def propose(cli: Command, text: str, source_id: str, *more: str) -> dict[str, Any]:
    given = more or (*CITY, "--value", text.rsplit(maxsplit=1)[-1])
    result = cli("propose", text, "--source-id", source_id, "--json", *given)
    assert (result.code, result.err) == (0, ""), result
    return result.json


def as_shown(*candidates: dict[str, Any]) -> list[str]:
    options: list[str] = []
    for one in candidates:
        options += ["--version", str(one["version"]), "--content-hash", one["content_hash"]]
    return options


def say(monkeypatch: pytest.MonkeyPatch, *answers: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(f"{answer}\n" for answer in answers)))


def test_a_proposal_waits_and_is_not_recalled(cli: Command) -> None:
    seen = cli("propose", "Lives in Oslo", *CITY, "--value", "Oslo", "--source-id", "s1")
    assert "it waits for review" in seen.out
    (listed,) = cli("candidates", "--json").json["candidates"]
    assert listed["statement"]["value"] == "Oslo"
    assert "city=Oslo" in cli("candidates").out
    assert cli("recall", "Oslo", "--minimum-score", "-1", "--json").json["packet"]["items"] == []
    assert cli("candidates", "--status", "approved").out == "No candidate is approved.\n"
    assert cli("candidates", "--status", "open").code == 2


def test_candidates_go_page_by_page(cli: Command) -> None:
    for city in ("Rome", "Oslo", "Bonn"):
        propose(cli, f"Visited {city}", city, "--kind", "insight")
    first = cli("candidates", "--limit", "2")
    before = first.out.partition("--before ")[2].strip()
    rest = cli("candidates", "--limit", "2", "--before", before, "--json").json["candidates"]
    assert [one["statement"]["text"] for one in rest] == ["Visited Rome"]


@pytest.mark.promise("WRI-5")
def test_the_reviewer_sees_all_that_an_approval_stands_for(cli: Command) -> None:
    rome = remember(cli, "Lives in Rome", "s1", "--field", "city", "--value", "Rome")
    more = ("--field", "city", "--value", "Oslo", "--evidence", "evt_1", "--metadata", "tag=home")
    oslo = propose(cli, "Lives in \u200eOslo", "s2", "--kind", "preference", *more)
    shown = cli("review", "show", oslo["candidate_id"], *REVIEWER)
    assert "\u200e" not in shown.out
    for part in (
        "Lives in \\u200eOslo",
        "[-Rome-]{+\\u200eOslo+}",
        f"contradicts active {rome}",
        "direction marks at 9–10",
        "evt_1",
        "user_42 with helper",
        '{"tag": "home"}',
        f"{rome} (explicit, by subject)",
        oslo["content_hash"],
    ):
        assert part in shown.out, part
    printed = cli("review", "show", oslo["candidate_id"], *REVIEWER, "--json").json
    assert printed["candidate"] == oslo
    assert printed["replaces"]["memory_id"] == rome
    assert cli("candidate", oslo["candidate_id"], "--json").json == printed
    for command in (("conflicts",), ("review", "conflicts", *REVIEWER)):
        (contested,) = cli(*command, "--json").json["candidates"]
        assert contested == oslo
        assert f"contradicts {rome}" in cli(*command).out


def test_a_reviewer_says_who_is_calling(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = cli("review", "list")
    assert (refused.code, "--principal" in refused.err) == (2, True)
    assert "MUNIMENT_PRINCIPAL" in refused.err
    monkeypatch.setenv("MUNIMENT_PRINCIPAL", "dana")
    assert cli("review", "list").code == 0
    assert cli("review", "list", "--user", "user_42").code == 2
    assert cli("review", "correct", "mem_0", "--text", "x").code == 2


@pytest.mark.promise("WRI-6")
def test_an_approval_names_the_version_and_hash_that_were_shown(cli: Command) -> None:
    oslo = propose(cli, "Lives in Oslo", "s1")
    approve = ("review", "approve", oslo["candidate_id"], *REVIEWER, "--json")
    assert cli(*approve).json["error"]["code"] == "invalid_input"
    assert cli(*approve, "--version", "1").json["error"]["code"] == "invalid_input"
    revised = cli(
        *("review", "revise", oslo["candidate_id"], "--text", "Lives in Oslo now"),
        *(*REVIEWER, "--json"),
    ).json
    assert (revised["version"], revised["statement"]["text"]) == (2, "Lives in Oslo now")
    stale = cli(*approve, *as_shown(oslo))
    assert (stale.code, stale.json["error"]["code"]) == (1, "stale_approval")
    assert cli("list", "--json").json["records"] == []
    (decided,) = cli(*approve, *as_shown(revised)).json["decided"]
    assert (decided["candidate_id"], decided["outcome"]) == (oslo["candidate_id"], "created")
    assert cli("show", decided["memory_id"], "--json").json["approved_by"] == "dana"
    ended = cli(*approve, *as_shown(revised))
    assert ended.json["error"]["code"] == "conflict"
    shown = cli("review", "show", oslo["candidate_id"], *REVIEWER).out
    assert "by dana" in shown
    assert "replaces" not in shown


@pytest.mark.promise("WRI-6")
def test_who_is_asked_approves_exactly_what_is_displayed(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    oslo = propose(cli, "Lives in Oslo", "s1")
    say(monkeypatch, "n")
    declined = cli("approve", oslo["candidate_id"])
    assert (declined.code, "Nothing was done" in declined.err) == (1, True)
    assert oslo["content_hash"] in declined.out
    assert len(cli("candidates", "--json").json["candidates"]) == 1
    say(monkeypatch, "y")
    approved = cli("approve", oslo["candidate_id"])
    assert (approved.code, f"Approved {oslo['candidate_id']}" in approved.out) == (0, True)
    (record,) = cli("list", "--json").json["records"]
    assert (record["value"], record["authority"]) == ("Oslo", "explicit")


@pytest.mark.promise("WRI-6")
def test_what_changes_while_somebody_is_asked_is_not_approved(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    oslo = propose(cli, "Lives in Oslo", "s1")

    def changed(*_: object, **__: object) -> bool:
        revise = ("--text", "Lives in Bonn", *REVIEWER)
        assert cli("review", "revise", oslo["candidate_id"], *revise).code == 0
        return True

    monkeypatch.setattr("typer.confirm", changed)
    result = cli("approve", oslo["candidate_id"])
    assert (result.code, "changed since it was shown" in result.err) == (1, True)
    assert cli("list", "--json").json["records"] == []


def test_several_are_decided_at_once_and_each_failure_is_told(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (
        propose(cli, f"Visited {city}", city, "--kind", "insight")
        for city in ("Rome", "Oslo", "Bonn")
    )
    ids = [one["candidate_id"], two["candidate_id"]]
    wrong = as_shown(one, {**two, "content_hash": "0" * 64})
    mixed = cli("review", "approve", *ids, *wrong, *REVIEWER, "--json")
    assert mixed.code == 1
    assert [done["candidate_id"] for done in mixed.json["decided"]] == ids[:1]
    assert [(bad["candidate_id"], bad["code"]) for bad in mixed.json["failed"]] == [
        (ids[1], "stale_approval")
    ]
    say(monkeypatch, "n", "y")
    asked = cli("review", "approve", two["candidate_id"], three["candidate_id"], *REVIEWER)
    assert (asked.code, asked.out.count("Approved cnd_")) == (0, 1)
    told = cli("review", "reject", *ids, "--reason", "not so", *REVIEWER)
    assert (told.code, f"✗ {ids[0]}: " in told.out) == (1, True)
    assert f"Rejected {ids[1]}" in told.out
    (rejected,) = cli("candidates", "--status", "rejected", "--json").json["candidates"]
    assert (rejected["reason"], rejected["decided_by"]) == ("not so", "dana")


@pytest.mark.promise("CON-5")
def test_a_rejected_value_stays_out(cli: Command) -> None:
    oslo = propose(cli, "Lives in Oslo", "s1")
    assert cli("reject", oslo["candidate_id"], "--reason", "never said so").code == 0
    again = cli("propose", "lives in  OSLO", *CITY, "--value", "oslo", "--source-id", "s2")
    assert (again.code, "rejected" in again.err) == (1, True)
    said = ("remember", "Lives in Oslo", *CITY, "--value", "Oslo", "--approved", "--json")
    assert cli(*said, "--source-id", "s3").json["error"]["code"] == "tombstoned"
    back = cli(*said, "--source-id", "s3", "--override-tombstone", "moved there")
    assert back.json["outcome"] == "created"


@pytest.mark.promise("SCO-3")
def test_a_candidate_of_another_tenant_is_not_found(cli: Command) -> None:
    oslo = propose(cli, "Lives in Oslo", "s1")
    for command in ("show", "approve", "reject", "revise"):
        more = {
            "approve": as_shown(oslo),
            "reject": ["--reason", "no"],
            "revise": ["--text", "Lives in Bonn"],
        }.get(command, [])
        given = ("review", command, *more, *REVIEWER, "--tenant", "globex", "--json")
        foreign, unknown = cli(*given, oslo["candidate_id"]), cli(*given, "cnd_" + "0" * 32)
        assert (foreign.code, foreign.out) == (1, unknown.out)
        assert foreign.json["error"]["code"] == "not_found"
    assert cli("review", "list", "--tenant", "globex", *REVIEWER, "--json").json == {
        "candidates": []
    }
    assert len(cli("candidates", "--json").json["candidates"]) == 1


@pytest.mark.promise("SCO-5")
def test_a_space_is_written_through_review_and_read_by_claim(cli: Command) -> None:
    steps = ("Deploy only after the checks pass.", "--kind", "decision", "--field", "deploy")
    proposed = propose(cli, steps[0], "d1", *steps[1:], "--value", "checks", *SPACE)
    assert cli("candidates", "--json").json["candidates"] == []
    (listed,) = cli("review", "list", *SPACE, *REVIEWER, "--json").json["candidates"]
    assert listed == proposed
    assert "project/apollo" in cli("review", "list", *REVIEWER).out
    own = ("--user", "user_42", "--agent", "helper")
    assert cli("review", "list", *own, *REVIEWER, "--json").json["candidates"] == []
    approve = ("review", "approve", proposed["candidate_id"], *REVIEWER, "--json")
    (decided,) = cli(*approve, *as_shown(proposed)).json["decided"]
    assert cli("recall", "deploy", "--json").json["packet"]["items"] == []
    read = cli("recall", "deploy", *SPACE)
    assert "project/apollo" in read.out
    assert decided["memory_id"] in read.out
    corrected = cli(
        *("review", "correct", decided["memory_id"], *SPACE, *REVIEWER, "--json"),
        *("--text", "Deploy only after two approvals.", "--value", "approvals"),
    )
    assert corrected.json["superseded"] == decided["memory_id"]
    assert "two approvals" in cli("recall", "deploy", *SPACE).out
    forget = ("review", "forget", corrected.json["memory_id"], *REVIEWER, "--json")
    assert cli(*forget, *SPACE).json["error"]["code"] == "invalid_input"
    assert cli(*forget, "--yes").json["error"]["code"] == "invalid_scope"
    assert cli(*forget, *SPACE, "--yes").json["actor"] == "dana"
    assert "two approvals" not in cli("recall", "deploy", *SPACE).out
    for wrong in ("acme-corp", "group/x", "project/"):
        assert cli("recall", "deploy", "--space", wrong).code == 2
    two = (*SPACE, "--space", "project/other", "--source-id", "d2", "--kind", "decision")
    assert cli("propose", "Deploy on Fridays.", *two).code == 2


@pytest.mark.promise("CON-4")
def test_a_correction_replaces_and_keeps_what_it_does_not_name(cli: Command) -> None:
    more = ("--field", "city", "--value", "Rome", "--metadata", "tag=home")
    rome = remember(cli, "Lives in Rome", "s1", *more)
    assert cli("correct", rome).code == 2
    done = cli("correct", rome, "--text", "Lives in Bergen", "--value", "Bergen")
    assert (done.code, f"supersedes {rome}" in done.out) == (0, True)
    (record,) = cli("list", "--json").json["records"]
    assert (record["value"], record["metadata"]) == ("Bergen", {"tag": "home"})
    assert record["source"]["path"] == "correct"
    assert cli("correct", rome, "--text", "x", "--json").json["error"]["code"] == "not_found"


@pytest.mark.promise("WRI-12")
def test_an_outcome_says_whether_it_worked_and_what_was_done(cli: Command) -> None:
    given = ("record-outcome", "The backup ran.", "--source-id", "j1", "--action", "pg_dump")
    assert cli(*given).code == 2
    failed = cli(*given, "--failed", "--action", "upload", "--json").json
    shown = cli("show", failed["memory_id"], "--json").json
    assert shown["metadata"] == {"succeeded": False, "actions": ["pg_dump", "upload"]}
    assert (shown["kind"], shown["authority"]) == ("outcome", "verified_outcome")
    seen = cli("record-outcome", "It ran.", "--source-id", "j2", "--succeeded", "--action", "x")
    assert "Recorded as mem_" in seen.out


@pytest.mark.promise("CON-3")
def test_a_contested_import_is_told_and_waits_for_review(cli: Command) -> None:
    rome = remember(cli, "Prefers Rome", "s1", "--field", "city", "--value", "Rome")
    line = {"kind": "preference", "text": "Prefers Oslo", "field": "city", "value": "Oslo"}
    file = write_lines({**line, "source_id": "s2"})
    assert cli("import", file, "--json").json["contested"] == 1
    assert "1 contested" in cli("import", file).out
    (contested,) = cli("conflicts", "--json").json["candidates"]
    assert contested["contested"] == rome
    assert "contested" in cli("recall", "city").out
    preview = ("--kind", "preference", "--field", "city", "--value", "Bonn", "--source-id", "s3")
    assert "would be written" in cli("preview", "Prefers Bonn", *preview).out


@pytest.mark.promise("CON-7")
def test_recall_tells_what_was_believed_at_a_past_time(cli: Command) -> None:
    remember(cli, "Lives in Rome", "s1", "--field", "city", "--value", "Rome")
    (rome,) = cli("list", "--json").json["records"]
    remember(cli, "Lives in Oslo", "s2", "--field", "city", "--value", "Oslo")
    assert "Lives in Oslo" in cli("recall", "city").out
    then = cli("recall", "city", "--as-of", rome["created_at"]).out
    assert "Lives in Rome" in then
    assert "Lives in Oslo" not in then
    assert cli("recall", "city", "--as-of", "2026-01-01").code == 2
