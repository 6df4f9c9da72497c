"""`bench postgres`: a recall beside the least that a server can be asked, and beside a peer."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from muniment.bench.postgres import COLD, LANGGRAPH, SELECT, SQLITE, WARM
from tests.command_line import command_line


@pytest.mark.slow
def test_every_case_stands_beside_its_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cli = command_line(monkeypatch, capsys, tmp_path)
    result = cli("bench", "postgres", "--quick", "--size", "30", "--calls", "20", "--json")
    assert result.code == 0
    cases = {case["name"]: case for case in result.json["cases"]}
    assert {SELECT, WARM, COLD, SQLITE, LANGGRAPH} <= set(cases)
    assert cases[SELECT]["times_select"]["middle"] == 1
    assert cases[WARM]["times_ours"]["middle"] == 1
    is_there = find_spec("langgraph.store.postgres") is not None
    assert (cases[LANGGRAPH]["version"] is not None) == is_there
    assert result.json["records"] == 30
    assert result.json["bytes_each"] > 0
