"""What the tests of threads share: a store of either database, and two users of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.storage import Postgres
from muniment.testing import FrozenClock
from tests.postgres.server import Server

ON_FILES = pytest.mark.parametrize("memory", ["plain", "sealed"], indirect=True)
"""For what looks into the files of SQLite; PostgreSQL's lie on its server."""


@contextmanager
def made(request: pytest.FixtureRequest, folder: Path) -> Iterator[Path | Postgres]:
    """Make the place of a store, on PostgreSQL if the fixture's parameter names it."""
    if request.param != "postgres":
        yield folder / "memory.db"
        return
    server: Server = request.getfixturevalue("server")
    with server.database(folder) as place:
        yield place


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2030-01-01T00:00:00Z")


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path | Postgres]:
    """Where a store is that a test opens itself."""
    with made(request, tmp_path) as place:
        yield place


@pytest.fixture(params=["plain", "sealed", "postgres"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    sealed = request.param == "sealed"
    with (
        made(request, tmp_path) as place,
        muniment.open(place, embedder="none", clock=clock, sealed=sealed) as opened,
    ):
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
