"""Every promise of a store, on SQLite in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import ClassVar

import pytest

from muniment.ports import Store
from muniment.storage import open_store as open_location
from muniment.testing import StoreContract


@pytest.fixture
def open_store() -> Iterator[Callable[[], Store]]:
    with ExitStack() as stack:

        def open_one() -> Store:
            store = open_location(":memory:")
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()


@pytest.mark.promise("SCO-1", "SCO-4")
class TestSqliteMemory(StoreContract):
    durable: ClassVar[bool] = False
    concurrent: ClassVar[bool] = False
