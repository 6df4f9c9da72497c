"""What the tests of tools share: two users of one store, plain and sealed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.testing import FrozenClock
from muniment.tools import MemoryTools, ToolResult


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Memory]:
    with muniment.open(
        tmp_path / "memory.db",
        embedder="none",
        clock=FrozenClock("2030-01-01T00:00:00Z"),
        sealed=request.param,
    ) as memory:
        yield memory


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="1001", agent_id="helper")


@pytest.fixture
def other(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="102", agent_id="helper")


@pytest.fixture
def tools(me: ScopedMemory) -> MemoryTools:
    """Tools that may write."""
    return MemoryTools(me, writes="explicit")


def told(result: ToolResult) -> dict[str, Any]:
    """Return what a model reads."""
    found = json.loads(result.text)
    assert isinstance(found, dict)
    return found


def save(tools: MemoryTools, key: str, value: str, call_id: str | None = None) -> ToolResult:
    return tools.call("remember_fact", {"key": key, "value": value}, call_id=call_id)


def recalled(tools: MemoryTools, key: str) -> list[str]:
    return [one["value"] for one in told(tools.call("recall_fact", {"key": key}))["facts"]]
