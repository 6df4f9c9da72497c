"""Every promise of a store, sealed: over a file and in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import ClassVar

import pytest

from muniment.ports import Store
from muniment.storage import open_store as open_location
from muniment.testing import StoreContract


@pytest.fixture
def location(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


@pytest.fixture
def open_store(location: str) -> Iterator[Callable[[], Store]]:
    with ExitStack() as stack:

        def open_one() -> Store:
            store = open_location(location, sealed=True)
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()


@pytest.mark.promise("SEC-1")
class TestSealedFile(StoreContract):
    pass


class TestSealedMemory(StoreContract):
    durable: ClassVar[bool] = False
    concurrent: ClassVar[bool] = False

    @pytest.fixture
    def location(self) -> str:
        return ":memory:"
