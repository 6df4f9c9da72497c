"""`muniment export` and `muniment import --from`: everything of a scope, out and in again."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.command_line import Command, command_line, remember

OTHER = ("--store", "other.db")
STRANGER = ("--user", "user_43")


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    run = command_line(monkeypatch, capsys, tmp_path)
    assert run("init", *OTHER).code == 0
    return run


def listed(cli: Command, *options: str) -> list[str]:
    return [one["text"] for one in cli("list", "--json", *options).json["records"]]


@pytest.mark.promise("EXP-1")
def test_what_is_exported_comes_back_whole(cli: Command) -> None:
    remember(cli, "Lives in Rome", "s1", "--field", "city", "--value", "Rome")
    remember(cli, "Lives in Oslo", "s2", "--field", "city", "--value", "Oslo")
    cli("propose", "Likes tea", "--kind", "insight", "--source-id", "s3")
    report = cli("export", "me.jsonl", "--json").json
    assert (report["records"], report["candidates"]) == (2, 1)
    assert cli("import", "me.jsonl", "--from", "export", *OTHER, "--json").json["saved"] > 0
    for command in (("list", "--superseded"), ("candidates",)):
        assert cli(*command, "--json").out == cli(*command, "--json", *OTHER).out
    again = cli("import", "me.jsonl", "--from", "export", *OTHER)
    assert (again.code, "0 saved" in again.out, "left out: known" in again.out) == (0, True, True)


def test_an_export_replaces_no_file_unasked(cli: Command) -> None:
    store = Path("muniment.db").read_bytes()
    refused = cli("export", "muniment.db")
    assert (refused.code, "--replace" in refused.err) == (2, True)
    assert Path("muniment.db").read_bytes() == store
    assert cli("export", "me.jsonl").code == 0
    assert cli("export", "me.jsonl").code == 2
    assert cli("export", "me.jsonl", "--replace").code == 0
    assert cli("export", "me.jsonl", "--replace", "--layout", "xml").code == 2


def test_an_export_goes_through_pipes(cli: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(cli, "Lives in Rome", "s1")
    assert cli("export", "-", "--json").code == 2
    monkeypatch.setattr("sys.stdout", out := io.TextIOWrapper(io.BytesIO(), "utf-8"))
    assert cli("export", "-").code == 0
    written = out.buffer.getvalue()
    monkeypatch.undo()
    assert all(json.loads(line) for line in written.splitlines())


@pytest.mark.promise("EXP-1", "SCO-3")
def test_an_export_goes_to_its_own_scope_unless_an_operator_says_otherwise(cli: Command) -> None:
    remember(cli, "Lives in Rome", "s1")
    cli("export", "me.jsonl")
    take = ("import", "me.jsonl", "--from", "export", *STRANGER)
    refused = cli(*take, "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "forbidden")
    assert listed(cli, *STRANGER) == []
    assert cli(*take, "--rescope").code == 0
    assert listed(cli, *STRANGER) == ["Lives in Rome"]


@pytest.mark.promise("EXP-1")
def test_a_user_is_exported_over_all_agents(cli: Command) -> None:
    remember(cli, "Lives in Rome", "s1")
    remember(cli, "Likes tea", "s2", "--agent", "planner")
    remember(cli, "Likes coffee", "s3", *STRANGER)
    assert cli("export", "all.jsonl", "--all-agents", "--json").json["records"] == 2
    assert "Likes coffee" not in Path("all.jsonl").read_text("utf-8")
    taken = cli("import", "all.jsonl", "--from", "export", "--all-agents", *OTHER, "--json")
    assert taken.code == 0
    assert listed(cli, *OTHER) == ["Lives in Rome"]
    assert listed(cli, *OTHER, "--agent", "planner") == ["Likes tea"]
    assert cli("export", "all.json", "--all-agents", "--layout", "pam").code == 2


@pytest.mark.promise("EXP-2")
def test_the_memory_of_another_system_is_taken_in_for_review(cli: Command) -> None:
    items = [{"id": "m1", "memory": "Likes green tea", "user_id": "old-1"}]
    Path("mem0.json").write_text(json.dumps({"results": items}), encoding="utf-8")
    take = ("import", "mem0.json", "--from", "mem0", "--old-user", "old-1")
    seen = cli(*take)
    assert (seen.code, "1 of them wait for review" in seen.out) == (0, True), seen
    assert listed(cli) == []
    (candidate,) = cli("candidates", "--json").json["candidates"]
    assert candidate["statement"]["text"] == "Likes green tea"
    assert cli(*take, "--json").json["saved"] == 0
    items.append({"id": "m2", "memory": "Li\u202ees", "user_id": "old-1"})
    Path("mem0.json").write_text(json.dumps({"results": items}), encoding="utf-8")
    refused = cli(*take)
    assert (refused.code, refused.err.startswith("line 2: ")) == (1, True)
    assert "pass --skip-errors" in refused.err
    assert [one["code"] for one in cli(*take, "--json").json["error"]["details"]["items"]] == [
        "refused"
    ]
    skipped = cli(*take, "--skip-errors")
    assert skipped.err.splitlines() == ["line 1: known", "line 2: refused"]
    assert (
        "1 left out: known (it is here already; nothing to do), 1 left out: refused"
        in skipped.out.replace("\n", " ")
    )
    assert cli("import", "mem0.json", "--from", "nonsense").code == 2
    assert cli("import", "absent.json", "--from", "mem0").code == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--rescope",),
        ("--approved-by-operator",),
        ("--all-agents",),
        ("--from", "export", "--kind", "insight"),
        ("--from", "export", "--all-agents", "--rescope"),
        ("--from", "mem0", "--rescope"),
        ("--from", "mem0", "--all-agents"),
        ("--from", "mem0", "--all-users", "--old-user", "x"),
    ],
)
def test_an_option_that_an_import_would_not_follow_is_refused(
    cli: Command, options: tuple[str, ...]
) -> None:
    Path("in.jsonl").touch()
    refused = cli("import", "in.jsonl", *options)
    assert (refused.code, "does not go with this import" in refused.err) == (2, True)
