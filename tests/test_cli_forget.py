"""`muniment forget` and `muniment receipt`: nothing by accident, and the evidence of all."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.command_line import Command, command_line, remember

OTHER_AGENT = ("--agent", "planner")
STRANGER = ("--user", "user_43")


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


def texts(cli: Command, *options: str) -> set[str]:
    return {one["text"] for one in cli("list", "--json", *options).json["records"]}


def say(monkeypatch: pytest.MonkeyPatch, answer: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{answer}\n"))


@pytest.mark.promise("FOR-1")
@pytest.mark.parametrize(
    "given",
    [(), ("mem_0", "--all"), ("--all", "--whole", "user"), ("mem_0", "--source-id", "s")],
)
def test_what_to_forget_is_said_exactly_once(cli: Command, given: tuple[str, ...]) -> None:
    remember(cli, "Likes tea", "s1")
    refused = cli("forget", *given, "--yes")
    assert (refused.code, "Say what to forget" in refused.err) == (2, True)
    assert texts(cli) == {"Likes tea"}


@pytest.mark.promise("FOR-1")
@pytest.mark.parametrize(
    ("given", "gone"),
    [
        (("--source-prefix", "thread-7/"), {"one", "two"}),
        (("--source-id", "thread-7/1"), {"one"}),
        (("--filter", "metadata.tag=x"), {"three"}),
        (("--kind", "preference", "--source-id", "s3"), {"three"}),
        (("--all",), {"one", "two", "three"}),
    ],
)
def test_what_meets_the_conditions_goes_after_a_look_and_a_yes(
    cli: Command, monkeypatch: pytest.MonkeyPatch, given: tuple[str, ...], gone: set[str]
) -> None:
    for text, source in (("one", "thread-7/1"), ("two", "thread-7/2")):
        remember(cli, text, source)
    remember(cli, "three", "s3", "--metadata", "tag=x")
    everything = {"one", "two", "three"}
    rehearsed = cli("forget", *given, "--dry-run", "--json").json
    found = next(one["found"] for one in rehearsed["surfaces"] if one["name"] == "records")
    assert (found, texts(cli)) == (len(gone), everything)
    assert "Would forget" in cli("forget", *given, "--dry-run").out
    assert cli("forget", *given, "--json").json["error"]["code"] == "invalid_input"
    say(monkeypatch, "n")
    assert cli("forget", *given).code == 1
    assert texts(cli) == everything
    say(monkeypatch, "y")
    done = cli("forget", *given)
    assert (done.code, "Receipt · " in done.out) == (0, True)
    assert texts(cli) == everything - gone


@pytest.mark.promise("FOR-1", "FOR-5")
def test_a_whole_user_goes_when_its_id_is_typed_and_neighbours_stay(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cli, "mine", "s1")
    remember(cli, "mine too", "s2", *OTHER_AGENT)
    remember(cli, "another's", "s3", *STRANGER)
    for answer in ("y", "user_43"):
        say(monkeypatch, answer)
        assert cli("forget", "--whole", "user").code == 1
    assert texts(cli) == {"mine"}
    say(monkeypatch, "user_42")
    assert cli("forget", "--whole", "user").code == 0
    assert texts(cli) | texts(cli, *OTHER_AGENT) == set()
    assert texts(cli, *STRANGER) == {"another's"}


@pytest.mark.promise("FOR-1")
def test_an_agent_a_space_and_a_tenant_are_each_named(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cli, "mine", "s1")
    remember(cli, "planned", "s2", *OTHER_AGENT)
    remember(cli, "foreign", "s3", "--tenant", "globex")
    forget = ("forget", "--yes", "--json", "--whole")
    assert cli(*forget, "agent", *OTHER_AGENT).json["target"] == "agent"
    assert texts(cli, *OTHER_AGENT) == set()
    assert texts(cli) == {"mine"}
    assert cli(*forget, "project/apollo").code == 0
    for wrong in ("everything", "group/x", ""):
        assert cli(*forget, wrong).code == 2
    monkeypatch.delenv("MUNIMENT_USER")
    assert "--user" in cli("forget", "--whole", "user", "--yes").err
    assert cli(*forget, "tenant").json["target"] == "tenant"
    assert texts(cli, "--user", "user_42") == set()
    assert texts(cli, "--user", "user_42", "--tenant", "globex") == {"foreign"}


def test_one_record_may_be_rehearsed(cli: Command) -> None:
    memory_id = remember(cli, "Likes tea", "s1")
    seen = cli("forget", memory_id, "--dry-run", "--json").json
    assert seen["would_forget"]["memory_id"] == memory_id
    assert texts(cli) == {"Likes tea"}


@pytest.mark.promise("FOR-2")
def test_a_receipt_is_found_again_listed_and_verified(cli: Command) -> None:
    first = cli("forget", remember(cli, "Likes tea", "s1"), "--yes", "--json").json
    shown = cli("receipt", first["receipt_id"], "--json").json
    assert shown["memory_ids"] == first["memory_ids"]
    assert f"Receipt · {first['receipt_id']}" in cli("receipt", "show", first["receipt_id"]).out
    assert cli("receipt", "list", "--json").json["receipts"] == [shown]
    assert first["receipt_id"] in cli("receipt", "list", "--all").out
    Path("receipt.json").write_text(json.dumps(shown), encoding="utf-8")
    verified = cli("receipt", "verify", "receipt.json")
    assert (verified.code, "is what this store issued" in verified.out) == (0, True)
    Path("receipt.json").write_text(json.dumps({**shown, "actor": "me"}), encoding="utf-8")
    forged = cli("receipt", "verify", "receipt.json", "--json")
    assert (forged.code, forged.json["genuine"]) == (1, False)
    Path("receipt.json").write_text("[]", encoding="utf-8")
    assert cli("receipt", "verify", "receipt.json").code == 2


@pytest.mark.promise("SCO-3")
def test_a_receipt_of_another_scope_is_not_found(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = cli("forget", remember(cli, "Likes tea", "s1"), "--yes", "--json").json
    show = ("receipt", done["receipt_id"], "--json")
    for foreign in (STRANGER, ("--tenant", "globex")):
        assert cli(*show, *foreign).json["error"]["code"] == "not_found"
        assert cli("receipt", "list", "--json", *foreign).json["receipts"] == []
    monkeypatch.delenv("MUNIMENT_USER")
    assert cli(*show).json["receipt_id"] == done["receipt_id"]
    assert cli(*show, "--tenant", "globex").json["error"]["code"] == "not_found"


@pytest.mark.promise("FOR-2")
def test_maintenance_finishes_what_waits_and_says_so(cli: Command) -> None:
    done = cli("forget", remember(cli, "Likes tea", "s1"), "--yes", "--json").json
    (waiting,) = cli("maintain", "deletions", "--json").json["deletions"]
    assert waiting["receipt_id"] == done["receipt_id"]
    assert "waits for compaction" in cli("maintain", "deletions").out
    assert "1 deletion finished and verified" in cli("maintain").out
    assert cli("maintain", "deletions").out == "Every deletion is finished.\n"
    states = [name for name, _ in cli("receipt", done["receipt_id"], "--json").json["states"]]
    assert states[-1] == "verified"
    assert "nothing was due" in cli("maintain", "run").out


@pytest.mark.promise("MAI-1", "MAI-2")
def test_duplicates_are_proposed_merged_and_taken_apart_again(cli: Command) -> None:
    kept, dropped = (remember(cli, text, text) for text in ("Likes tea", "likes tea."))
    tried = cli("maintain", "deduplicate", "--dry-run")
    assert "1 duplicate of 1 record, 0 proposed, 0 merged, 0 left" in tried.out
    assert f"{dropped} repeats {kept} of acme / user_42 / helper" in tried.out
    assert cli("maintain", "deduplicate", "--json").json["proposed"] == 1
    (seen,) = cli("review", "list", "--principal", "dana", "--json").json["candidates"]
    assert {one["name"] for one in seen["findings"]} == {"duplicate_kept", "duplicate_dropped"}
    assert cli("maintain", "deduplicate", "--supersede", "--json").json["merged"] == 1
    assert [one["memory_id"] for one in cli("list", "--json").json["records"]] == [kept]
    assert cli("unmerge", dropped, "--json").json["status"] == "active"
    assert cli("unmerge", dropped).code == 1
    assert "0 examined, 0 unused, 0 deleted" in cli("maintain", "clean-up", "--dry-run").out
