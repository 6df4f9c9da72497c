"""What the tests of threads share: a plain and a sealed store, and two users of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.testing import FrozenClock


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2030-01-01T00:00:00Z")


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    path = tmp_path / "memory.db"
    with muniment.open(path, embedder="none", clock=clock, sealed=request.param) as opened:
        yield opened


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")


@pytest.fixture
def other(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="user_102", agent_id="helper")


def surfaces(receipt: muniment.Receipt) -> dict[str, tuple[int, int, int]]:
    """Return what a receipt found, removed and read back, where it found anything."""
    counted = {one.name: (one.found, one.removed, one.left) for one in receipt.surfaces}
    return {name: counts for name, counts in counted.items() if any(counts)}
