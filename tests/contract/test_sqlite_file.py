"""Every promise of a store, on a SQLite file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from muniment.ports import Store
from muniment.storage import open_store as open_location
from muniment.testing import StoreContract


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[], Store]]:
    with ExitStack() as stack:

        def open_one() -> Store:
            store = open_location(tmp_path / "memory.db")
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()


@pytest.mark.promise("OPE-2", "OPE-4", "SCO-1", "SCO-4", "WRI-2", "CON-2", "TIM-3", "AUD-1")
class TestSqliteFile(StoreContract):
    pass
