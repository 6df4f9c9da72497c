"""Puts our store in the place of LangGraph's, over a clock that the suites' sleeps move on.

`CONFORMANCE_SEALED` makes the stores sealed ones. With `CONFORMANCE_POSTGRES`, the place of a store
in PostgreSQL, the classes of LangGraph's Postgres store are replaced too; each database that its
suite makes stands for a tenant of that one store.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing, contextmanager
from datetime import timedelta
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

import langgraph.store.memory as in_memory
import langgraph.store.sqlite as in_sqlite
import langgraph.store.sqlite.aio as in_sqlite_async
import pytest

import muniment
from muniment.adapters.langgraph import AsyncMunimentStore, MunimentStore
from muniment.storage import Postgres, open_store
from muniment.testing import FrozenClock

SEALED = bool(os.environ.get("CONFORMANCE_SEALED"))
POSTGRES = json.loads(os.environ.get("CONFORMANCE_POSTGRES", "null"))


class SteppedClock(FrozenClock):
    """A clock that moves on with each look at it, and by what is slept."""

    def now(self) -> int:
        """Return the present instant, a microsecond after the last one."""
        self.advance(seconds=1e-6)
        return super().now()


CLOCK = SteppedClock()


def _open(location: str) -> muniment.Memory:
    if location.startswith("postgresql:"):
        return muniment.open(Postgres(**POSTGRES), embedder="none", clock=CLOCK)
    if location != ":memory:":  # the suites make the file themselves, empty
        location = str(Path(tempfile.mkdtemp()) / "store.db")
    return muniment.open(location, embedder="none", clock=CLOCK, sealed=SEALED or None)


def _scoped(memory: muniment.Memory, tenant_id: str = "tenant") -> muniment.ScopedMemory:
    return memory.scoped(tenant_id=tenant_id, user_id="user", agent_id="agent")


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


class NoCursor:
    """Stands in for a cursor, with which the Postgres suite makes its migrations run again."""

    def execute(self, statement: str) -> None:
        """Do nothing, if it is what our store has nothing to do with."""
        assert statement == "DROP TABLE IF EXISTS store_migrations"


class AsyncNoCursor(NoCursor):
    """The same, awaited."""

    async def execute(self, statement: str) -> None:  # type: ignore[override]
        """Do nothing; see `NoCursor`."""
        super().execute(statement)


class PostgresStore(MunimentStore):
    """Ours, made as the Postgres store is."""

    MIGRATIONS = ()
    held: muniment.ScopedMemory

    @classmethod
    @contextmanager
    def from_conn_string(  # type: ignore[override]
        cls, conn_string: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> Iterator[PostgresStore]:
        with _open(conn_string) as memory:
            scoped = _scoped(memory, urlsplit(conn_string).path.strip("/"))
            store = cls(scoped, index=index, ttl=ttl)
            store.held = scoped
            yield store

    def setup(self) -> None:
        """Nothing: a store is ready when it is open."""

    @contextmanager
    def _cursor(self) -> Iterator[NoCursor]:
        yield NoCursor()


class AsyncPostgresStore(AsyncMunimentStore):
    """Ours, made as the asynchronous Postgres store is."""

    MIGRATIONS = ()
    held: muniment.ScopedMemory

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]
        cls, conn_string: str, *, index: Any = None, ttl: Any = None, **_: Any
    ) -> AsyncIterator[AsyncPostgresStore]:
        with _open(conn_string) as memory:
            scoped = _scoped(memory, urlsplit(conn_string).path.strip("/"))
            store = cls(scoped, index=index, ttl=ttl)
            store.held = scoped
            yield store

    async def setup(self) -> None:
        """Nothing: a store is ready when it is open."""

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[AsyncNoCursor]:
        yield AsyncNoCursor()


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
if POSTGRES:
    in_postgres = importlib.import_module("langgraph.store.postgres")
    REPLACED[in_postgres, "PostgresStore"] = PostgresStore
    REPLACED[in_postgres, "AsyncPostgresStore"] = AsyncPostgresStore
for (module, name), ours in REPLACED.items():
    setattr(module, name, ours)


def _expire_now(store: Any, namespace: tuple[str, ...], key: str) -> None:
    """End an item's time, as its last use does when it lies long enough back."""
    items = store.held.items("langgraph")
    value = items.get(namespace, key, refresh=False).value
    items.put(namespace, key, value, idle=timedelta(microseconds=1))
    _sleep(1)


def _row_exists(store: Any, namespace: tuple[str, ...], key: str) -> bool:
    """Return whether an item lies in the database, whatever its time."""
    with (
        closing(open_store(Postgres(**POSTGRES))) as opened,
        opened.snapshot() as view,
    ):
        owner = view.owner(store.held.scope)
        assert owner is not None
        [shelf] = view.threads(owner, "store")
        rows = view.entries(owner, shelf.seq, "item")
        return [list(namespace), key] in [json.loads(row.name) for row in rows]


def _stored_expires_at(store: Any, namespace: tuple[str, ...], key: str) -> Any:
    """Return until when an item lives, None once that is over."""
    item = store.held.items("langgraph").get(namespace, key, refresh=False)
    return None if item is None else item.idle_until


def _awaited(look: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    async def awaited(*given: Any) -> Any:
        return look(*given)

    return awaited


LOOKS = {
    "_expire_now": _expire_now,
    "_row_exists": _row_exists,
    "_stored_expires_at": _stored_expires_at,
    "_aexpire_now": _awaited(_expire_now),
    "_arow_exists": _awaited(_row_exists),
    "_astored_expires_at": _awaited(_stored_expires_at),
}


def pytest_plugin_registered(plugin: object) -> None:
    """Tell the Postgres suite where the server is."""
    if hasattr(plugin, "DEFAULT_URI"):
        plugin.DEFAULT_URI = os.environ["CONFORMANCE_SERVER"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the Postgres suite look at our items instead of the tables of LangGraph's store."""
    for module in {item.module for item in items if isinstance(item, pytest.Function)}:
        for name in LOOKS.keys() & vars(module).keys():
            setattr(module, name, LOOKS[name])
