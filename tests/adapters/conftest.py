"""What the tests of adapters share: a store, plain or sealed, opened sync or async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

import muniment
from muniment import Record, Scope, ScopedMemory
from muniment.adapters.bridge import AnyMemory, AnyScoped, in_scope
from muniment.aio import open_async

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


@pytest.fixture(params=["sync-plain", "sync-sealed", "async-plain", "async-sealed"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    way, _, sealed = request.param.partition("-")
    options = {"embedder": "none", "sealed": sealed == "sealed"}
    if way == "sync":
        with muniment.open(tmp_path / "memory.db", **options) as memory:
            yield Store(memory)
        return
    opened = asyncio.run(open_async(tmp_path / "memory.db", **options))
    yield Store(opened)
    asyncio.run(opened.close())


@pytest.fixture
def plain(tmp_path: Path) -> Iterator[Store]:
    """One sync store, for what does not depend on how it is opened."""
    with muniment.open(tmp_path / "memory.db", embedder="none") as memory:
        yield Store(memory)
