"""Every promise of a store, on PostgreSQL and sealed over it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from muniment.ports import Store
from muniment.storage import Postgres
from muniment.storage import open_store as open_location
from muniment.testing import StoreContract
from tests.postgres.server import Server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.fresh(tmp_path) as database:
        yield database.ready({})


@pytest.fixture
def open_store(place: Postgres) -> Iterator[Callable[[], Store]]:
    with ExitStack() as stack:

        def open_one() -> Store:
            store = open_location(place)
            stack.callback(store.close)
            return store

        yield open_one


@pytest.fixture
def store(open_store: Callable[[], Store]) -> Store:
    return open_store()


@pytest.mark.promise("OPE-2", "SCO-1", "SCO-4", "WRI-2", "CON-2", "TIM-3", "AUD-1")
class TestPostgres(StoreContract):
    pass


@pytest.mark.promise("SEC-1")
class TestSealedPostgres(StoreContract):
    @pytest.fixture
    def place(self, server: Server, tmp_path: Path) -> Iterator[Postgres]:
        with server.fresh(tmp_path, sealed=True) as database:
            yield database.ready({})
