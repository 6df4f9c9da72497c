"""What the tests of adapters share: a store of either database, plain or sealed, sync or async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

import pytest

import muniment
from muniment import Record, Scope, ScopedMemory
from muniment.adapters.bridge import AnyMemory, AnyScoped, in_scope
from muniment.aio import open_async
from muniment.storage import Postgres
from tests.postgres.server import Server, running

T = TypeVar("T")

APP = "calculator"
ALICE = Scope("acme", "1001", APP)
BOB = Scope("acme", "102", APP)
STRANGER = Scope("other", "1001", APP)


class Store:
    """A memory under test, with a look into it that goes past the adapter."""

    def __init__(self, memory: AnyMemory) -> None:
        self.memory = memory

    def scoped(self, scope: Scope = ALICE) -> AnyScoped:
        """Return the memory of one scope, sync or async as the store was opened."""
        return self.memory.scoped(**scope.to_dict())

    def look(self, work: Callable[[ScopedMemory], T], scope: Scope = ALICE) -> T:
        """Return what work on the sync memory of a scope returns."""
        return asyncio.run(in_scope(self.memory, scope, work))

    def records(self, scope: Scope = ALICE) -> list[Record]:
        """Return the active records of a scope."""
        return self.look(lambda scoped: list(scoped.list()), scope)

    def save(self, key: str, value: str, scope: Scope = ALICE) -> None:
        """Remember a fact as the person's own statement."""
        self.look(
            lambda scoped: scoped.remember(
                f"{key}: {value}",
                kind="fact",
                field=key,
                value=value,
                source_id=f"{key}:{value}",
                approved=True,
            ),
            scope,
        )


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as one:
        yield one


WAYS = ["sync-plain", "async-sealed", "sync-sealed-postgres", "async-plain-postgres"]


@pytest.fixture(params=WAYS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    way = request.param.split("-")
    with ExitStack() as stack:
        options: dict[str, Any] = {"embedder": "none"}
        location: Path | Postgres = tmp_path / "memory.db"
        if "postgres" in way:
            one: Server = request.getfixturevalue("server")
            location = stack.enter_context(one.database(tmp_path, sealed="sealed" in way))
        else:
            options["sealed"] = "sealed" in way
        if "sync" in way:
            yield Store(stack.enter_context(muniment.open(location, **options)))
            return
        opened = asyncio.run(open_async(location, **options))
        stack.callback(lambda: asyncio.run(opened.close()))
        yield Store(opened)


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Store]:
    """One sync store, for what does not depend on how it is opened."""
    with muniment.open(tmp_path / "memory.db", embedder="none") as memory:
        yield Store(memory)
