"""The example runs as it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "examples" / "langgraph_agent.py"


@pytest.mark.promise("TOO-6")
def test_the_example_answers_from_both_memories_and_keeps_users_apart(tmp_path: Path) -> None:
    kept = {
        name: value for name, value in os.environ.items() if name not in ("MODEL", "MUNIMENT_STORE")
    }

    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLE],
        cwd=tmp_path,
        env=kept,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    said = [line for line in done.stdout.splitlines() if line.startswith(("agent:", "kept:"))]
    assert said[2:] == [
        "agent: You have 12 apples, and your maximum is 100.",
        "agent: You have an unknown number of apples, and your maximum is 100.",
        "agent: You have an unknown number of apples, and your maximum is unknown.",
        "kept: max apples = 100 for 1001 (by agent for subject)",
    ]
