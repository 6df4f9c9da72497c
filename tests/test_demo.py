"""The demo does what it shows, without the built-in embedder too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


def demo(*arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MUNIMENT_")}
    return subprocess.run(
        [sys.executable, "-m", "muniment", "demo", *arguments],
        capture_output=True,
        encoding="utf-8",
        env={**kept, "PYTHONUTF8": "1"},
        check=False,
    )


@pytest.mark.promise("OPE-2")
@pytest.mark.slow
def test_the_demo_passes_every_check_and_shows_what_it_does(tmp_path: Path) -> None:
    shown = demo("--embedder", "none", "--keep", str(tmp_path / "demo.db"))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "✗" not in shown.stdout
    for part in ("Packet · 1 record", "Trace", "1 expired", "ConflictError", "Receipt", "گزارش‌ها"):
        assert part in shown.stdout
    assert (tmp_path / "demo.db").is_file()
    again = demo("--keep", str(tmp_path / "demo.db"), "--json")
    assert json.loads(again.stdout)["error"]["code"] == "invalid_input"


@pytest.mark.local
@pytest.mark.slow
def test_the_demo_passes_with_the_built_in_embedder() -> None:
    done = demo("--embedder", "local", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["passed"], found["checks"]
    assert len(found["checks"]) >= 8
