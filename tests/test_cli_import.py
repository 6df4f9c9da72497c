"""`muniment import`: all or nothing, and errors by line."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.command_line import PERSIAN, STATEMENT, Command, command_line, write_lines


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


@pytest.mark.promise("WRI-10")
def test_import_writes_all_or_nothing_and_names_the_lines(cli: Command) -> None:
    file = write_lines(STATEMENT, "", {**STATEMENT, "source_id": "p2", "kind": "nonsense"})
    refused = cli("import", file)
    assert refused.code == 1
    assert refused.err.startswith("line 3: ")
    assert "1 of 2 lines" in refused.err
    items = cli("import", file, "--json").json["error"]["details"]["items"]
    assert [(item["line"], item["code"]) for item in items] == [(3, "unknown_kind")]
    assert cli("list", "--json").json["records"] == []
    skipped = cli("import", file, "--skip-errors", "--json")
    assert (skipped.code, skipped.err) == (0, "")
    assert (skipped.json["created"], skipped.json["skipped"][0]["line"]) == (1, 3)
    again = cli("import", file, "--skip-errors")
    assert "0 new, 1 known already, 0 contested, 1 left out" in again.out
    assert again.err.startswith("line 3: ")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{broken", "not JSON at column 2"),
        ("[1]", "must be a JSON object"),
        ('{"kind": "preference", "text": "x"}', "source_id is missing"),
        ('{"kind": "preference", "text": "x", "source_id": "s", "tags": []}', "key 'tags'"),
        ('{"kind": "preference", "kind": "context"}', "a key twice"),
        ('{"value": NaN}', "NaN is not a JSON number"),
        ('{"kind": 5, "text": "x", "source_id": "s"}', "kind"),
        ('{"kind": "preference", "text": "x", "source_id": "s", "metadata": 5}', "metadata"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_a_wrong_line_is_told_by_its_number(cli: Command, line: str, message: str) -> None:
    refused = cli("import", write_lines(STATEMENT, line))
    assert refused.code == 1
    assert refused.err.startswith("line 2: ")
    assert message in refused.err


def test_import_reads_standard_input_and_utf8_only(
    cli: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = json.dumps({**STATEMENT, "text": PERSIAN, "value": None}).encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + lines)))
    assert cli("import", "-", "--json").json["created"] == 1
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"text": "\xff"}')))
    assert "not UTF-8 at byte 10" in cli("import", "-").err
    assert cli("import", "absent.jsonl").code == 2
