"""What somebody who sees `muniment` for the first time is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command_line import Command, command_line, remember


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


def test_an_export_is_recognised_and_known_is_explained(cli: Command, tmp_path: Path) -> None:
    remember(cli, "Likes tea.", "s1")
    file = str(tmp_path / "all.jsonl")
    assert cli("export", file).code == 0
    again = cli("import", file)
    assert again.code == 0
    assert "known (it is here already; nothing to do)" in " ".join(again.out.split())
    assert cli("import", file, "--json").json["skipped"][0]["reason"] == "known"


@pytest.mark.parametrize("content", ["", "[1]", "{", '{"format": 5}', "[" * 100_000])
def test_what_is_no_export_is_read_as_statements(
    cli: Command, tmp_path: Path, content: str
) -> None:
    file = tmp_path / "some.jsonl"
    file.write_text(content)
    assert "header" not in cli("import", str(file)).err


def test_an_empty_queue_says_so(cli: Command) -> None:
    who = ("review", "list", "--principal", "dana")
    assert cli(*who).out == cli("candidates").out == "Nothing waits for review.\n"
    assert cli(*who, "--status", "rejected").out == "No candidate is rejected.\n"
    assert cli("conflicts").out == "Nothing contradicts an active record.\n"


def test_the_bare_command_prints_its_help_and_no_error(cli: Command) -> None:
    bare = cli()
    assert "Usage" in bare.out + bare.err
    assert "error" not in bare.err
    assert "error" not in cli("review").err


def test_a_group_that_does_something_alone_names_its_options(cli: Command) -> None:
    assert "--json" in cli("audit", "--help").out


def test_all_that_a_kind_needs_is_named_at_once(cli: Command) -> None:
    options = ("--kind", "constraint", "--source-id", "s", "--approved")
    told = cli("remember", "Never deploy on Friday.", *options).err
    assert "needs expires_at, metadata['owner']." in told


def test_a_receipt_explains_its_words(cli: Command) -> None:
    kept = remember(cli, "Likes tea.", "s1")
    told = " ".join(cli("forget", kept, "--yes").out.split())
    assert "embeddings of other records" in told
    assert "each of which names" in told


def test_a_path_that_cannot_be_a_file_says_why(cli: Command, tmp_path: Path) -> None:
    assert "is a folder; name a file in it." in cli("list", "--store", str(tmp_path)).err
    lost = cli("list", "--store", str(tmp_path / "none" / "memory.db")).err
    assert f"The folder {tmp_path / 'none'} does not exist; make it first." in lost
