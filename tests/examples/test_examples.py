"""Every example runs offline as it stands, answers from both memories and keeps one record."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.adapters.sdk import needed

ROOT = Path(__file__).parents[2]
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "GOOGLE_API_KEY",
    "GEMINI_API_KEY",
    "MODEL",
    "MUNIMENT_STORE",
)
EXAMPLES = {
    "anthropic_memory_agent": ("anthropic", "anthropic"),
    "claude_agent": ("claude_agent_sdk", "claude"),
    "google_adk_agent": ("google.adk", "adk"),
    "langgraph_agent": ("langgraph", "langgraph"),
    "openai_agents_agent": ("agents", "openai-agents"),
}


def ran(name: str, folder: Path, **variables: str) -> str:
    """Run an example in an empty folder, without keys but those given; return what it printed."""
    environment = {key: value for key, value in os.environ.items() if key not in KEYS}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(ROOT / "examples" / f"{name}.py")],
        cwd=folder,
        env={**environment, "HOME": str(folder), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.promise("TOO-1")
@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_runs_offline_and_keeps_one_record(name: str, tmp_path: Path) -> None:
    needed(*EXAMPLES[name])

    printed = ran(name, tmp_path).splitlines()

    assert any("12" in line and "100" in line for line in printed if line.startswith("agent:"))
    kept = [line for line in printed if line.startswith("kept:")]
    assert len(kept) == 1
    assert "100" in kept[0]


def test_every_example_is_run() -> None:
    here = {path.stem for path in (ROOT / "examples").glob("*.py")}

    assert set(EXAMPLES) | {"scripted_messages"} == here
