"""Connections to PostgreSQL: lent for a transaction, never lent again when they are in doubt."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool

from muniment.storage.pg_errors import is_lost

if TYPE_CHECKING:
    from muniment.storage.ledger import Rows
    from muniment.storage.pg_place import Postgres

T = TypeVar("T")
_ATTEMPTS = 3
_MARGIN = 5.0
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Pool:
    """A bounded pool that survives a fork, a restart of the server and a failover.

    Args:
        place: Where the database is and how to connect.
        attempts: How often to begin before a lost connection is an error.
        given: More for libpq.

    Attributes:
        slots: Numbers of models, by the values that they were asked for with; a number that was
            read never changes.
    """

    def __init__(
        self, place: Postgres, *, attempts: int = _ATTEMPTS, given: Mapping[str, Any] = _NOTHING
    ) -> None:
        self._place = place
        self._attempts = attempts
        self._given = given
        self.slots: dict[tuple[Any, ...], Rows] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._pool: ConnectionPool[psycopg.Connection[Any]] | None = None

    def _opened(self) -> ConnectionPool[psycopg.Connection[Any]]:
        with self._lock:
            if self._pid != os.getpid():
                _abandoned.append(self._pool)
                self._pid, self._pool = os.getpid(), None
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._place.url,
                    kwargs={"autocommit": True, "options": self._place.options, **self._given},
                    min_size=0,
                    max_size=self._place.connections,
                    timeout=self._place.patience,
                    open=False,
                    num_workers=1,
                )
                self._pool.open()
            return self._pool

    def first(self, run: Callable[[psycopg.Connection[Any]], T]) -> tuple[T, psycopg.Connection]:
        """Lend a connection and run what begins its transaction.

        A connection that the server dropped meanwhile is thrown away with all that are like it,
        and another one is tried: nothing was read or written yet.

        Args:
            run: Begins on the connection it is given.
        """
        for attempt in range(self._attempts):
            connection = self._opened().getconn()
            has_begun = False
            try:
                given = run(connection)
                has_begun = True
            except psycopg.Error as error:
                if not is_lost(error) or attempt == self._attempts - 1:
                    raise
                self.drain()
            else:
                return given, connection
            finally:
                if not has_begun:
                    self.take_back(connection)
        raise AssertionError("unreachable")

    def take_back(self, connection: psycopg.Connection[Any]) -> None:
        """Take a connection back, its transaction undone; one in doubt is closed.

        So is one on which a statement failed: the driver may believe that statements were prepared
        which the server skipped.
        """
        if self._pid != os.getpid():
            return
        status = connection.pgconn.transaction_status
        try:
            if status == TransactionStatus.INTRANS:
                connection.execute("ROLLBACK")
            elif status != TransactionStatus.IDLE:
                connection.close()
        except psycopg.Error:
            connection.close()
        self._opened().putconn(connection)

    def drain(self) -> None:
        """Throw away every connection: those that are lent, when they come back."""
        self._opened().drain()

    def close(self) -> None:
        """Close every connection."""
        if self._pid == os.getpid() and self._pool is not None:
            self._pool.close(timeout=_MARGIN)
        self._pool = None


_abandoned: list[object] = []
