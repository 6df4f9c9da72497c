"""The behaviour that every store has, as one test class."""

from __future__ import annotations

from muniment.testing.changes_contract import ChangesContract
from muniment.testing.lifecycle_contract import LifecycleContract
from muniment.testing.owners_contract import OwnersContract
from muniment.testing.records_contract import RecordsContract
from muniment.testing.threads_contract import ThreadsContract


class StoreContract(
    OwnersContract, RecordsContract, ChangesContract, LifecycleContract, ThreadsContract
):
    """What every back end of the `Store` port must do, and every wrapper around one.

    A back end's test file is two fixtures and a subclass::

        @pytest.fixture
        def open_store(tmp_path):
            with contextlib.ExitStack() as stack:
                def open_one():
                    store = MyStore(tmp_path / "store")
                    stack.callback(store.close)
                    return store
                yield open_one

        @pytest.fixture
        def store(open_store):
            return open_store()

        class TestMyStore(StoreContract):
            pass

    Attributes:
        durable: Whether every store that `open_store` gives shows the same database, also after
            the first was closed. False for a store in memory.
        concurrent: Whether a write can be made while a snapshot is open. When false, a writer
            waits until the snapshot is closed.
    """
