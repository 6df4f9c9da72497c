"""What the tests of threads share: a store of either database, and two users of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.storage import Postgres
from muniment.testing import FrozenClock
from tests.backends import BACKENDS, place_of


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2030-01-01T00:00:00Z")


@pytest.fixture(params=BACKENDS)
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | Postgres]:
    """Where a store is that a test opens itself."""
    for place in place_of(request, tmp_path):
        yield place if isinstance(place, Path) else place.ready({})


@pytest.fixture
def memory(location: Path | Postgres, clock: FrozenClock) -> Iterator[Memory]:
    with muniment.open(location, embedder="none", clock=clock) as opened:
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
