"""Two real servers with one store over both, and what the tests of it say and see."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import muniment
from muniment import Memory
from muniment.storage import Postgres, Shards, prepare_shards
from muniment.storage.pg_map import TenantMap
from muniment.testing import FakeEmbedder
from tests.postgres.server import APP, OWNER, Server


class Pair:
    """Two servers, each with an empty database of one name, and the store over both."""

    def __init__(self, servers: dict[str, Server], name: str, folder: Path) -> None:
        self.servers = servers
        self.name = name
        self._folder = folder

    def shards(self, role: str = APP, patience: float = 20) -> Shards:
        places = {
            name: Postgres(server.location(self.name, role), patience=patience)
            for name, server in self.servers.items()
        }
        return Shards(places, "north", self._folder / "store")

    def make(self, *, sealed: bool = False) -> None:
        prepare_shards(self.shards(OWNER), sealed=sealed)

    def empty(self) -> None:
        for server in self.servers.values():
            server.empty(self.name)

    def there(self, name: str, tenant_id: str) -> list[object]:
        """Return the texts of a tenant's records that lie on a server."""
        rows = self.servers[name].run(
            "SELECT tenant_id, text FROM records ORDER BY text", database=self.name
        )
        return [text for tenant, text in rows if tenant == tenant_id]


def opened(pair: Pair, patience: float = 20) -> Memory:
    return muniment.open(pair.shards(patience=patience), embedder=FakeEmbedder())


def say(memory: Memory, tenant: str, text: str) -> str:
    me = memory.scoped(tenant_id=tenant, user_id="ada", agent_id="helper")
    return me.remember(text, kind="context", source_id=text, approved=True).memory_id


def said(memory: Memory, tenant: str) -> list[str]:
    me = memory.scoped(tenant_id=tenant, user_id="ada", agent_id="helper")
    return sorted(record.text for record in me.list(limit=1000).records)


def found(memory: Memory, tenant: str, query: str) -> list[str]:
    me = memory.scoped(tenant_id=tenant, user_id="ada", agent_id="helper")
    return [hit.record.text for hit in me.recall(query, limit=3)]


class Interrupted(TenantMap):
    """A map whose process is interrupted at a statement."""

    def __init__(self, shards: Shards, step: str, when: str) -> None:
        super().__init__(shards)
        self.step = step
        self._when = when

    def ask(
        self, server: str, name: str, values: Mapping[str, Any] | None = None
    ) -> list[tuple[Any, ...]]:
        if name == self.step and self._when == "before":
            raise KeyboardInterrupt
        rows = super().ask(server, name, values)
        if name == self.step:
            raise KeyboardInterrupt
        return rows


@contextmanager
def lost_server(pair: Pair, name: str) -> Iterator[None]:
    """Let nobody connect to one server's database, and end every session there."""
    pair.servers[name].run("ALTER DATABASE {} ALLOW_CONNECTIONS false", pair.name)
    pair.servers[name].run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname IS NOT NULL AND usename = 'muniment_test_app'"
    )
    try:
        yield
    finally:
        pair.servers[name].run("ALTER DATABASE {} ALLOW_CONNECTIONS true", pair.name)


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until another thread has got on, at most a minute."""
    patient = threading.Event()
    for _ in range(6000):
        if holds():
            return
        patient.wait(0.01)
    raise AssertionError("the writer stands still")
