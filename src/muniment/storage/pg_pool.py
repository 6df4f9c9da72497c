"""Connections to PostgreSQL: lent for a transaction, never lent again when they are in doubt."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from time import monotonic
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self, TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from psycopg_pool import ConnectionPool, PoolTimeout

from muniment.storage.pg_breaker import Breaker
from muniment.storage.pg_errors import is_lost
from muniment.storage.pg_wire import Wired

if TYPE_CHECKING:
    from muniment.storage.ledger import Rows
    from muniment.storage.pg_place import Postgres

T = TypeVar("T")
_ATTEMPTS = 3
_MARGIN = 5.0
_LOOK = 0.05
_LEAST_WAIT = 2
_NOTHING: Mapping[str, Any] = MappingProxyType({})


def _watched_by(breaker: Breaker) -> type[Wired]:
    """Return a connection that tells a breaker how the attempt to make it ended."""

    class Watched(Wired):
        @classmethod
        def connect(cls, conninfo: str = "", **given: Any) -> Self:  # noqa: ANN401 - libpq's own
            with breaker.watched():
                return super().connect(conninfo, **given)

    return Watched


class Pool:
    """A bounded pool that survives a fork, a restart of the server and a failover.

    While the server cannot be reached, a caller that needs a new connection fails at once, but for
    the one that tries after each pause.

    Args:
        place: Where the database is and how to connect.
        attempts: How often to begin before a lost connection is an error.
        given: More for libpq.
        breaker: Decides whether a connection may be made; None for a new one.

    Attributes:
        slots: Numbers of models, by the values that they were asked for with; a number that was
            read never changes.
    """

    def __init__(
        self,
        place: Postgres,
        *,
        attempts: int = _ATTEMPTS,
        given: Mapping[str, Any] = _NOTHING,
        breaker: Breaker | None = None,
    ) -> None:
        self._place = place
        self._attempts = attempts
        self._given = given
        self._breaker = breaker or Breaker()
        self.slots: dict[tuple[Any, ...], Rows] = {}
        self._lock = threading.Lock()
        self._pid = os.getpid()
        self._pool: ConnectionPool[Wired] | None = None

    def _opened(self) -> ConnectionPool[Wired]:
        with self._lock:
            if self._pid != os.getpid():
                _abandoned.append(self._pool)
                self._pid, self._pool = os.getpid(), None
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._place.url,
                    connection_class=_watched_by(self._breaker),
                    kwargs=self._how(),
                    min_size=0,
                    max_size=self._place.connections,
                    reconnect_timeout=0,
                    open=False,
                    num_workers=1,
                )
                self._pool.open()
            return self._pool

    def _how(self) -> dict[str, Any]:
        how = {"autocommit": True, "options": self._place.options}
        if "connect_timeout" not in self._place.parts():
            how["connect_timeout"] = max(_LEAST_WAIT, math.ceil(self._place.patience))
        return how | dict(self._given)

    def _lent(self) -> Wired:
        """Wait for a connection, no longer than there is hope for one."""
        pool, ends = self._opened(), monotonic() + self._place.patience
        may_try = self._breaker.is_closed or pool.get_stats()["pool_available"]
        with nullcontext() if may_try else self._breaker.admitted():
            while True:
                try:
                    return pool.getconn(min(_LOOK, self._place.patience))
                except PoolTimeout:
                    self._breaker.check()
                    if monotonic() >= ends:
                        raise

    def first(self, run: Callable[[Wired], T]) -> tuple[T, Wired]:
        """Lend a connection and run what begins its transaction.

        A connection that the server dropped meanwhile is thrown away with all that are like it,
        and another one is tried: nothing was read or written yet.

        Args:
            run: Begins on the connection it is given.

        Raises:
            PoolTimeout: All connections are lent for too long.
            Resting: The server could not be reached just before.
        """
        for attempt in range(self._attempts):
            connection = self._lent()
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

    def take_back(self, connection: Wired) -> None:
        """Take a connection back, its transaction undone; one in doubt is closed."""
        if self._pid != os.getpid():
            return
        status = connection.pgconn.transaction_status
        try:
            if status in {TransactionStatus.INTRANS, TransactionStatus.INERROR}:
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
