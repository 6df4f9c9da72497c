"""Leaves out the tests of an adapter whose framework is not installed, and says why."""

from __future__ import annotations

from importlib.util import find_spec

from tests.conformance.runner import unavailable


def needed(module: str, extra: str) -> None:
    """Skip the calling module when a framework is absent; fail where everything is required."""
    top = module.partition(".")[0]
    if find_spec(top) is None or find_spec(module) is None:
        unavailable(f"{module} is not installed: scripts/setup {extra} installs it")
