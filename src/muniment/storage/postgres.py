"""PostgreSQL through `psycopg`: a transaction a write, a snapshot a read, a wall behind both."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from muniment.errors import StoreBusyError, StoreClosedError, StoreError
from muniment.keys import Keys
from muniment.ports import Anchored, Head, MasterKey, OwnerState, Snapshot, Transaction
from muniment.results import StoreInfo
from muniment.scope import Owner
from muniment.storage.anchors import Anchoring
from muniment.storage.guard import Guard
from muniment.storage.ledger import OWNERS, PROTECTED
from muniment.storage.pg_errors import driver_errors, may_repeat
from muniment.storage.pg_horizon import await_horizon
from muniment.storage.pg_place import Postgres
from muniment.storage.pg_pool import Pool
from muniment.storage.pg_replicas import Replicas, replicas_of
from muniment.storage.pg_schema import check_wall, present, refuse_stranger, run
from muniment.storage.pg_session import READING, WRITING, Session, Transacting
from muniment.storage.pg_views import PgSnapshot
from muniment.storage.sqlfiles import queries
from muniment.storage.unlock import Unlocker
from muniment.storage.views import RowTransaction

T = TypeVar("T")
_ATTEMPTS = 8
_PAUSE = 0.01


class PostgresStore:
    """A store in a PostgreSQL database, shared by any number of threads, processes and machines.

    Every owner's row is its write lock: transactions of different owners run side by side, those
    of one owner one after the other. Nothing is served unless row-level security holds for the
    role that connects.

    Args:
        place: Where the database is.
        unlocker: Finds the store's key.
        shard: Its name and that of the map's server, when it is one server of several.

    Raises:
        InvalidInputError: It is one server of several and is opened alone.
        MissingExtraError: The extra `postgres` is not installed.
        StoreUnavailableError: The database cannot be reached.
        UnsafeRoleError: Row-level security would not hold.
        StoreVersionError: The schema is too old or too new for this muniment.
        KeyMissingError: The store's key is not where it should be.
        WrongKeyError: The key is another one.
        StoreError: There is no store.
    """

    def __init__(
        self, place: Postgres, unlocker: Unlocker, *, shard: tuple[str, str] | None = None
    ) -> None:
        self._place = place
        self._closed = False
        self._sql = queries("postgres")
        self._unlocker = unlocker
        self._pool = Pool(place)
        self._replicas = replicas_of(place)
        with self._connection() as connection, connection.transaction():
            self._version, mark = present(connection, place.name)
            refuse_stranger(connection, place.name, shard)
            check_wall(connection, place.name)
            columns = {table: self._columns(connection, table) for table in (*PROTECTED, OWNERS)}
        self._mark = mark
        self._guard = Guard(unlocker.open(mark), columns)
        self._anchoring = Anchoring(place.base, self.keys, is_on=mark.anchored)

    @contextmanager
    def _connection(self, place: Postgres | None = None) -> Iterator[psycopg.Connection[Any]]:
        """Make a connection of its own for what is no transaction of rows."""
        place = place or self._place
        with driver_errors(place.name):
            connection = psycopg.connect(place.url, autocommit=True, options=place.options)
            try:
                yield connection
            finally:
                connection.close()

    def _columns(self, connection: psycopg.Connection[Any], table: str) -> tuple[str, ...]:
        return tuple(name for (name,) in run(connection, "columns", {"table": table}))

    def _session(self, begin: str) -> Transacting:
        return Session(self._pool, begin, self._replicas)

    def _all_replicas(self) -> Iterable[Replicas | None]:
        return (self._replicas,)

    def _places(self) -> Iterable[Postgres]:
        return (self._place,)

    def _check(self) -> None:
        if self._closed:
            raise StoreClosedError("The store is closed; open it again.")

    @property
    def keys(self) -> Keys:
        """The keys derived from the store's own random bytes."""
        return self._guard.keys

    @property
    def unlocker(self) -> Unlocker:
        """What found the store's key."""
        return self._unlocker

    @contextmanager
    def snapshot(self, owners: Sequence[Owner] = (), *, brief: bool = False) -> Iterator[Snapshot]:
        """Open a consistent view; it shows the moment at which it was opened."""
        del brief
        self._check()
        session = self._session(READING)
        try:
            with driver_errors(self._place.name):
                yield PgSnapshot(session, self._sql, self._guard, owners)
        finally:
            session.end()

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; again if another one was in its way."""
        for attempt in range(_ATTEMPTS):
            self._check()
            try:
                with driver_errors(self._place.name):
                    result, moved = self._once(work, last=attempt == _ATTEMPTS - 1)
            except _Again:
                time.sleep(_PAUSE * random.random() * 2**attempt)  # noqa: S311 - not a secret
                continue
            self._anchoring.has_committed(moved, self._head)
            return result
        raise StoreBusyError(f"{self._place.name} is busy; nothing was written. Retry.")

    def _once(
        self, work: Callable[[Transaction], T], *, last: bool
    ) -> tuple[T, set[tuple[str, int]]]:
        session = self._session(WRITING)
        try:
            transaction = RowTransaction(session, self._sql, self._guard)
            result = work(transaction)
            moved = set(transaction.settle())
            session.commit()
        except psycopg.Error as error:
            if last or not may_repeat(error):
                raise
            raise _Again from error
        finally:
            session.end()
        return result, moved

    def _head(self, tenant_id: str, owner_no: int) -> Head | None:
        with self.snapshot() as view:
            assert isinstance(view, PgSnapshot)
            return view.head(tenant_id, owner_no)

    def anchor(self, *, renew: bool = False) -> None:
        """Note the present state of every owner outside the database."""
        self._check()
        with self.snapshot() as view:
            self._anchoring.write(view.heads(), renew=renew)
        with self._connection() as connection, connection.transaction():
            present(connection, self._place.name)
            run(connection, "mark_anchored")

    def anchored(self, path: Path | None = None) -> Anchored | None:
        """Return what the anchor says; None for a store that has none."""
        return self._anchoring.read(path)

    def reseal(self, owner: OwnerState) -> bool:
        """Return False: without sealing there is no key to replace."""
        del owner
        return False

    def rotate_master(self, master: MasterKey | None) -> int:
        """Refuse: a store that is not sealed has no master key."""
        return self._unlocker.rotate(master)

    def shred(self, owner: OwnerState) -> bool:
        """Return False: without sealing there is no key to destroy."""
        del owner
        return False

    def compact(self) -> None:
        """Rewrite every table and its indexes, each row beside its owner's others.

        What was deleted is then in no table file; it stays in the write-ahead log and in backups
        for as long as the server keeps those.

        Raises:
            StoreBusyError: A transaction is in the way.
            StoreError: This role may not do it.
        """
        self._check()
        for place in self._places():
            with self._connection(place) as connection:
                if not run(connection, "may_compact")[0][0]:
                    raise StoreError(
                        f"{place.name}: compaction needs PostgreSQL 17 and the MAINTAIN privilege "
                        "of muniment_app; let the owner role run CLUSTER instead."
                    )
                await_horizon(connection, place.patience, place.name)
                connection.execute("CLUSTER")

    def info(self) -> StoreInfo:
        """Return the server's version, the database and its size."""
        self._check()
        size, version, role = 0, "", ""
        for place in self._places():
            with self._connection(place) as connection:
                ((version, more),) = run(connection, "server_facts")
                with connection.transaction():
                    role = check_wall(connection, place.name)
            size += more
        return StoreInfo(
            engine=f"PostgreSQL {version}",
            location=self._place.name,
            schema_version=self._version,
            bytes=size,
            sealed=self._mark.sealed,
            integrity=self._anchoring.integrity,
            wall=f"row-level security, as {role}",
            replicas=tuple(one for each in self._all_replicas() if each for one in each.states()),
        )

    def close(self) -> None:
        """Note the last states and close every connection."""
        if not self._closed:
            with suppress(StoreError):
                self._anchoring.note(self._head)
            self._closed = True
            self._pool.close()
            if self._replicas is not None:
                self._replicas.close()


class _Again(Exception):  # noqa: N818 - a signal, no error
    """The transaction lost against another one and may be run again."""
