"""Every promise of a store, on one that is spread over two servers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from muniment.ports import Store
from muniment.storage import open_store as open_location
from muniment.testing import StoreContract
from tests.postgres.pair import Pair

TWO_TENANTS = "one transaction writes to one server, and this one writes to two tenants"
OTHERWISE = {
    "test_snapshots_stand_still": "a snapshot that names no owner begins with its first read",
    "test_failed_work_vanishes": "a model's number is given for good at once, on every server",
    "test_lookalikes_stay_apart": TWO_TENANTS,
    "test_parts_never_join": TWO_TENANTS,
    "test_scopes_never_mix": TWO_TENANTS,
    "test_numbers_are_distinct": TWO_TENANTS,
}
"""What is not as on one server, and why."""


@pytest.fixture(autouse=True)
def as_on_one_server(request: pytest.FixtureRequest) -> None:
    reason = OTHERWISE.get(request.node.name)
    if reason is not None:
        pytest.skip(reason)


@pytest.mark.promise("OPE-2")
class TestShards(StoreContract):
    @pytest.fixture
    def open_store(self, pair: Pair) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:

            def open_one() -> Store:
                store = open_location(pair.shards())
                stack.callback(store.close)
                return store

            yield open_one

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Store:
        return open_store()
