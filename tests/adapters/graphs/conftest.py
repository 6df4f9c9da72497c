"""Memories of two users, plain and sealed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

import muniment
from muniment import Scope, ScopedMemory
from muniment.memory import Memory
from muniment.testing import FrozenClock

ALICE = Scope("acme", "alice", "helper")
BOB = Scope("acme", "bob", "helper")
Of: TypeAlias = Callable[[Scope], ScopedMemory]


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def memory(request: pytest.FixtureRequest, clock: FrozenClock) -> Iterator[Memory]:
    with muniment.open(":memory:", embedder="none", sealed=request.param, clock=clock) as opened:
        yield opened


@pytest.fixture
def of(memory: Memory) -> Of:
    """The memory of one user."""
    return lambda scope: memory.scoped(**scope.to_dict())
