"""What the sealing tests share: a sealed and a plain file, and the records in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.storage.sealed import SealedStore
from muniment.testing import FakeEmbedder, FrozenClock

Open = Callable[..., Memory]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2030-01-01T00:00:00Z")


@pytest.fixture
def open_memory(tmp_path: Path, clock: FrozenClock) -> Iterator[Open]:
    """Open a file of the test's folder, as another process or a later run would."""
    with ExitStack() as stack:

        def opened(name: str = "memory.db", **options: Any) -> Memory:  # noqa: ANN401 - any setting
            settings: dict[str, Any] = {"embedder": FakeEmbedder(), "clock": clock} | options
            path = tmp_path / name
            path.parent.mkdir(exist_ok=True)
            return stack.enter_context(muniment.open(path, **settings))

        yield opened


@pytest.fixture
def sealed(open_memory: Open) -> Memory:
    return open_memory(sealed=True)


def sealed_store(memory: Memory) -> SealedStore:
    assert isinstance(memory._store, SealedStore)
    return memory._store


def scope_of(memory: Memory, user_id: str = "user_42") -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id=user_id, agent_id="helper")


def remember(me: ScopedMemory, text: str, number: int = 1, **parts: Any) -> str:  # noqa: ANN401
    given = {"kind": "verified_fact", "source_id": f"source-{number}"} | parts
    return me.remember(text, approved=True, **given).memory_id


def texts(me: ScopedMemory) -> list[str]:
    return [record.text for record in me.list(limit=1000)]
