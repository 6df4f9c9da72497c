"""How records were used, on the command line: ids and numbers for people and for programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Command, command_line, remember


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


@pytest.mark.promise("REC-10")
def test_what_was_shown_cited_and_rated_is_reported_without_text(cli: Command) -> None:
    memory_id = remember(cli, "Prefers the eu-west region.", "p1")
    cli("recall", "region")
    assert cli("cite", memory_id, memory_id, "--json").json == {"cited": [memory_id]}
    assert cli("rate", memory_id, "--unhelpful", "--json").json["helpful"] is False
    assert "Rated helpful." in cli("rate", memory_id, "--helpful").out

    (found,) = cli("usefulness", "--json").json["items"]

    assert found["memory_id"] == memory_id
    assert (found["considered"], found["shown"], found["cited"]) == (1, 1, 1)
    assert (found["helpful"], found["unhelpful"]) == (1, 1)
    shown = cli("usefulness").out
    assert memory_id in shown
    assert "region" not in shown


def test_an_empty_page_and_an_unknown_record_are_said_plainly(cli: Command) -> None:
    remember(cli, "Prefers the eu-west region.", "p1")
    assert "No record here." in cli("usefulness", "--kind", "decision").out
    refused = cli("rate", "mem_unknown", "--helpful", "--json")
    assert (refused.code, refused.json["error"]["code"]) == (1, "not_found")
    assert cli("rate", "mem_unknown").code == 2


def test_pages_follow_each_other(cli: Command) -> None:
    for number in range(3):
        remember(cli, f"Prefers region {number}.", f"r{number}")
    first = cli("usefulness", "--limit", "2", "--json").json
    second = cli("usefulness", "--limit", "2", "--cursor", first["cursor"], "--json").json
    assert len(first["items"]) == 2
    assert len(second["items"]) == 1
    assert "More: --cursor" in cli("usefulness", "--limit", "2").out
