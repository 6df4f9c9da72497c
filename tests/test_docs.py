"""The documents' Python blocks run as they stand, and print what they say they print."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = (
    *("README.md", "docs/how-to.md", "docs/governance.md", "docs/sealing.md"),
    *("docs/tools.md", "docs/threads.md", "docs/frameworks/langgraph.md"),
)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("page", PAGES)
def test_every_python_block_of_a_page_runs_in_an_empty_folder(page: str, tmp_path: Path) -> None:
    program = "\n".join(blocks(page, "python")).replace(
        'open("agent-memory.db")', 'open("agent-memory.db", embedder="none")'
    )

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_first_program_prints_the_result_that_the_readme_shows(tmp_path: Path) -> None:
    program, shown = blocks("README.md", "python")[0], blocks("README.md", "text")[0]
    program = program.replace('open("agent-memory.db")', 'open("agent-memory.db", embedder="none")')

    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert done.stdout == shown


def prose(page: Path) -> str:
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


def test_every_file_that_a_page_links_to_exists() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    missing = [
        f"{page.name}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#:]+)\)", prose(page))
        if not (page.parent / target).exists()
    ]

    assert missing == []
