"""`muniment keys` and `muniment audit verify`: what guards a store, and whether it was touched."""

from __future__ import annotations

import io
from pathlib import Path

import apsw
import pytest

from tests.command_line import Command, command_line, remember

SEALED = ("--store", "sealed.db")


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


@pytest.mark.promise("SEC-1")
def test_a_sealed_store_is_opened_by_its_key_only_and_shows_no_text(cli: Command) -> None:
    assert "sealed" in cli("init", "--sealed", *SEALED).out
    remember(cli, "Prefers the eu-west region.", "s1", *SEALED)
    for file in Path().glob("sealed.db*"):
        assert b"eu-west" not in file.read_bytes()
    assert cli("keys", *SEALED, "--json").json == {
        "key": "file:sealed.db.key",
        "sealed": True,
        "integrity": "on",
    }
    assert "with a key for each scope" in cli("keys", "show", *SEALED).out
    assert "eu-west" in cli("recall", "Which region?", *SEALED).out
    Path("sealed.db.key").rename("elsewhere.key")
    missing = cli("list", *SEALED, "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "key_missing")
    assert cli("list", *SEALED, "--key", "file:elsewhere.key").code == 0


@pytest.mark.promise("SEC-1")
def test_after_a_rotation_the_old_key_opens_nothing(cli: Command) -> None:
    cli("init", "--sealed", *SEALED)
    remember(cli, "Prefers the eu-west region.", "s1", *SEALED)
    old = Path("sealed.db.key").read_bytes()
    assert "1 data key wrapped again" in cli("keys", "rotate", *SEALED).out
    assert cli("keys", "rotate", "--reseal", *SEALED, "--json").json == {"wrapped": 1}
    assert "eu-west" in cli("list", *SEALED).out
    Path("sealed.db.key").write_bytes(old)
    assert cli("list", *SEALED, "--json").json["error"]["code"] == "wrong_key"
    assert cli("keys", "rotate").code == 2


@pytest.mark.promise("AUD-1")
def test_what_was_edited_behind_its_back_is_told(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory_id = remember(cli, "Prefers tea.", "s1")
    well = cli("audit", "verify")
    assert (well.code, "Nothing was changed" in well.out) == (0, True)
    assert cli("audit", "verify", "--json").json["intact"] is True
    anchor = Path("muniment.db.anchor").read_bytes()
    Path("kept.anchor").write_bytes(anchor)
    with apsw.Connection("muniment.db") as connection:
        connection.execute("UPDATE records SET text = 'Prefers coffee.'")
    connection.close()
    edited = cli("audit", "verify", "--anchor", "kept.anchor")
    assert (edited.code, "row edited" in edited.out, memory_id in edited.out) == (1, True, True)
    assert "coffee" not in edited.out
    flaws = cli("audit", "verify", "--json").json["flaws"]
    assert {flaw["name"] for flaw in flaws} == {"row_edited"}


def test_the_present_is_believed_when_somebody_says_so(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(cli, "Prefers tea.", "s1")
    Path("muniment.db.anchor").unlink()
    off = cli("audit", "verify")
    assert "Integrity is off" in off.out
    assert cli("audit", "anchor", "--json").json["error"]["code"] == "invalid_input"
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    assert cli("audit", "anchor").code == 1
    assert cli("audit", "anchor", "--yes", "--json").json == {"integrity": "on"}
    assert cli("audit", "verify", "--json").json["integrity"] == "on"


@pytest.mark.promise("SEC-1")
def test_a_wholly_encrypted_file_needs_its_passphrase(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = ("--store", "whole.db")
    monkeypatch.setenv("MUNIMENT_FILE_KEY", "correct horse")
    assert cli("init", *whole).code == 0
    remember(cli, "Prefers tea.", "s1", *whole)
    assert not Path("whole.db").read_bytes().startswith(b"SQLite format 3")
    monkeypatch.setenv("MUNIMENT_FILE_KEY", "")
    refused = cli("list", *whole)
    assert (refused.code, "horse" in refused.err) == (1, False)
