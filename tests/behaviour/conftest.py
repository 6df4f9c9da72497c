"""What the behaviour tests share: one store file, opened with and without an embedder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Memory, ScopedMemory, Written
from muniment.records import PacketItem, Record
from muniment.testing import FakeEmbedder, FrozenClock
from tests.postgres.server import Fresh

LEXICAL = pytest.mark.parametrize("embedder", ["lexical"], indirect=True)
HYBRID = pytest.mark.parametrize("embedder", ["hybrid"], indirect=True)
_numbers = count()


@dataclass
class House:
    """One store file and everything that was opened on it."""

    path: Any
    clock: FrozenClock
    embedder: FakeEmbedder | None
    opened: list[Memory] = field(default_factory=list)

    def open(self, **options: Any) -> Memory:  # noqa: ANN401 - whatever `muniment.open` takes
        """Open the file, as another process or a later run would."""
        settings = {"embedder": self.embedder or "none", "clock": self.clock} | options
        place = self.path.ready(settings) if isinstance(self.path, Fresh) else self.path
        memory = muniment.open(place, **settings)
        self.opened.append(memory)
        return memory

    def held(self) -> bytes:
        """Return every byte of the store's files; on PostgreSQL of its rows."""
        if isinstance(self.path, Fresh):
            return self.path.rows().encode()
        return b"".join(file.read_bytes() for file in Path(self.path).parent.iterdir())


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2030-01-01T00:00:00Z")


@pytest.fixture(params=["lexical", "hybrid"])
def embedder(request: pytest.FixtureRequest) -> FakeEmbedder | None:
    return FakeEmbedder() if request.param == "hybrid" else None


@pytest.fixture
def place(tmp_path: Path) -> Path | str:
    """Where the store is; a module that never opens it twice may say `:memory:`."""
    return tmp_path / "memory.db"


@pytest.fixture
def house(
    place: Path | str | Fresh, clock: FrozenClock, embedder: FakeEmbedder | None
) -> Iterator[House]:
    house = House(place, clock, embedder)
    yield house
    for memory in house.opened:
        memory.close()


@pytest.fixture
def memory(house: House) -> Memory:
    return house.open()


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


@pytest.fixture
def other_user(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="t1", user_id="u2", agent_id="a1")


@pytest.fixture
def other_tenant(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="t2", user_id="u1", agent_id="a1")


def said(scoped: ScopedMemory, text: str, **parts: Any) -> Written:  # noqa: ANN401 - as `remember`
    """Remember an approved preference under a source_id of its own, unless told otherwise."""
    whole: dict[str, Any] = {"kind": "preference", "source_id": f"said-{next(_numbers)}"}
    return scoped.remember(text, **{**whole, "approved": True, **parts})


def same_scope(memory: Memory, scoped: ScopedMemory) -> ScopedMemory:
    """Return the same scope of another memory object."""
    return memory.scoped(**scoped.scope.to_dict())


def texts(found: Iterable[PacketItem | Record]) -> list[str]:
    """Return the texts of what was recalled or listed, in order."""
    return [each.text if isinstance(each, Record) else each.record.text for each in found]


def ids(found: Iterable[PacketItem | Record]) -> list[str]:
    """Return the memory_id of what was recalled or listed, in order."""
    return [each.memory_id if isinstance(each, Record) else each.record.memory_id for each in found]
