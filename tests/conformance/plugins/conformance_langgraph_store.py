"""Puts our store in the place of LangGraph's, over a clock that the suites' sleeps move on.

`CONFORMANCE_SEALED` makes the stores sealed ones.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import langgraph.store.memory as in_memory
import langgraph.store.sqlite as in_sqlite
import langgraph.store.sqlite.aio as in_sqlite_async

import muniment
from muniment.adapters.langgraph import AsyncMunimentStore, MunimentStore
from muniment.testing import FrozenClock

SEALED = bool(os.environ.get("CONFORMANCE_SEALED"))


class SteppedClock(FrozenClock):
    """A clock that moves on with each look at it, and by what is slept."""

    def now(self) -> int:
        """Return the present instant, a microsecond after the last one."""
        self.advance(seconds=1e-6)
        return super().now()


CLOCK = SteppedClock()


def _open(location: str) -> muniment.Memory:
    if location != ":memory:":  # the suites make the file themselves, empty
        location = str(Path(tempfile.mkdtemp()) / "store.db")
    return muniment.open(location, embedder="none", clock=CLOCK, sealed=SEALED or None)


def _scoped(memory: muniment.Memory) -> muniment.ScopedMemory:
    return memory.scoped(tenant_id="tenant", user_id="user", agent_id="agent")


class Store(MunimentStore):
    """Ours, made as the in-memory store is."""

    def __init__(self, *, index: Any = None) -> None:
        super().__init__(_scoped(_open(":memory:")), index=index)


class SqliteStore(MunimentStore):
    """Ours, made as the SQLite store is."""

    @classmethod
    @contextmanager
    def from_conn_string(  # type: ignore[override]
        cls, conn_string: str, **options: Any
    ) -> Iterator[SqliteStore]:
        with _open(conn_string) as memory:
            yield cls(_scoped(memory), **options)

    def setup(self) -> None:
        """Nothing: a store is ready when it is open."""


class AsyncSqliteStore(AsyncMunimentStore):
    """Ours, made as the asynchronous SQLite store is."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]
        cls, conn_string: str, **options: Any
    ) -> AsyncIterator[AsyncSqliteStore]:
        with _open(conn_string) as memory:
            yield cls(_scoped(memory), **options)

    async def setup(self) -> None:
        """Nothing: a store is ready when it is open."""


def _sleep(seconds: float) -> None:
    CLOCK.advance(seconds=seconds)


_yield = asyncio.sleep


async def _async_sleep(seconds: float) -> None:
    _sleep(seconds)
    await _yield(0)


REPLACED: dict[tuple[ModuleType, str], object] = {
    (in_memory, "InMemoryStore"): Store,
    (in_sqlite, "SqliteStore"): SqliteStore,
    (in_sqlite, "AsyncSqliteStore"): AsyncSqliteStore,
    (in_sqlite_async, "AsyncSqliteStore"): AsyncSqliteStore,
    (time, "sleep"): _sleep,
    (asyncio, "sleep"): _async_sleep,
}
for (module, name), ours in REPLACED.items():
    setattr(module, name, ours)
