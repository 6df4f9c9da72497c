"""The Anthropic SDK's own suite of its memory tool, with ours in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.runner import Suite, run

TOOL = Suite(
    name="anthropic-memory-tool",
    distribution="anthropic",
    targets=("tests/lib/tools/memory_tools/test_filesystem.py",),
    plugin="conformance_anthropic_tool",
    options=("--noconftest",),
)


@pytest.mark.conformance
@pytest.mark.slow
@pytest.mark.promise("TOO-4")
def test_the_memory_tool_passes_the_sdks_own_suite(tmp_path: Path) -> None:
    run(TOOL, tmp_path).expect(passed=60)
