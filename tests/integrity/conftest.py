"""A store with two scopes' records, plain and sealed, and somebody who edits its file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.results import Verification
from muniment.testing import FakeEmbedder, FrozenClock
from tests.integrity.editing import Editor

RECORDS = 5


class House:
    """One file, opened and closed at will.

    Args:
        path: Where it is.
        sealed: Whether it is sealed.
    """

    def __init__(self, path: Path, stack: ExitStack, *, sealed: bool) -> None:
        self.path = path
        self.sealed = sealed
        self.editor = Editor(path)
        self._stack = stack

    def open(self) -> Memory:
        sealed = None if self.path.exists() else self.sealed
        memory = muniment.open(
            self.path, sealed=sealed, embedder=FakeEmbedder(), clock=FrozenClock()
        )
        return self._stack.enter_context(memory)

    def verify(self) -> Verification:
        """Open the store as after a restart, verify it, close it."""
        with self.open() as memory:
            return memory.verify()

    def flaws(self) -> set[str]:
        return {flaw.name for flaw in self.verify().flaws}


def scope_of(memory: Memory, user_id: str = "user_42") -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id=user_id, agent_id="helper")


def fill(me: ScopedMemory, label: str, count: int = RECORDS) -> list[str]:
    return [
        me.remember(
            f"Statement {number} of {label}.",
            kind="verified_fact",
            source_id=f"{label}-{number}",
            metadata={"number": number},
            approved=True,
        ).memory_id
        for number in range(count)
    ]


@pytest.fixture(params=["plain", "sealed"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[House]:
    """A closed store: five records of one scope (owner 1), five of another (owner 2)."""
    with ExitStack() as stack:
        house = House(tmp_path / "memory.db", stack, sealed=request.param == "sealed")
        with house.open() as memory:
            fill(scope_of(memory), "first")
            fill(scope_of(memory, "user_43"), "second")
        yield house
