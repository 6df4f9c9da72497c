"""`bench load`: what many clients were told stays true while servers and clients are killed."""

from __future__ import annotations

from pathlib import Path

import pytest

from muniment.bench.load_check import check
from muniment.bench.load_client import Settings, marked
from tests.command_line import command_line

SHORT = ("--clients", "3", "--threads", "3", "--calls", "40", "--scopes", "9", "--json")


@pytest.mark.slow
@pytest.mark.promise("OPE-3", "OPE-4")
@pytest.mark.parametrize(("store", "kills"), [("postgres", 2), ("sqlite", 0)])
def test_what_was_acknowledged_is_true_after_servers_and_clients_were_killed(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    store: str,
    kills: int,
) -> None:
    cli = command_line(monkeypatch, capsys, tmp_path)
    result = cli("bench", "load", "--on", store, *SHORT)
    report = result.json
    assert report["server_kills"] == kills
    assert report["client_kills"] == 1
    assert report["recovered"]
    assert report["undocumented"] == 0
    checked = report["checked"]
    assert checked["written"] > 20
    wrong = ("lost", "resurrected", "foreign", "twice", "flaws")
    assert [checked[name] for name in wrong] == [0] * 5
    assert result.code == 0


def test_the_check_sees_what_is_wrong(tmp_path: Path) -> None:
    import muniment
    from muniment.bench.load_client import scope
    from muniment.bench.sample import RandomEmbedder

    path = tmp_path / "load.db"
    settings = Settings(0, str(path), None, "", 3, 0, 1, 1, 1.0, 1)
    marks = [marked(0, 1, number) for number in range(4)]
    with muniment.open(path, embedder=RandomEmbedder()) as memory:
        for mark in (marks[0], marks[1], marked(2, 1, 9)):
            for where in (0, 0) if mark == marks[0] else (0,):
                scope(memory, where).remember(
                    f"{mark} words", kind="context", source_id=mark, approved=True
                )
        scope(memory, 0).remember(
            f"{marks[0]} words again", kind="context", source_id="x", approved=True
        )
    said = [("wants", mark, "") for mark in (*marks, marked(2, 1, 9))]
    said += [("remember", mark, "") for mark in marks]
    said += [("unwants", marks[1], ""), ("forget", marks[1], ""), ("wrong", marks[1], "")]
    said += [("unwants", marks[3], ""), ("forget", marks[3], "store_unavailable")]
    checked = check(settings, [{"op": op, "mark": mark, "error": code} for op, mark, code in said])
    assert (checked.written, checked.forgotten) == (2, 1)
    assert (checked.lost, checked.resurrected) == (1, 2)
    assert (checked.foreign, checked.twice, checked.flaws) == (1, 1, 0)
    assert not checked.is_sound


def test_only_postgres_and_sqlite_are_loaded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cli = command_line(monkeypatch, capsys, tmp_path)
    assert cli("bench", "load", "--on", "paper", "--json").json["error"]["code"] == "invalid_input"
