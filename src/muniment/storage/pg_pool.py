"""Connections to PostgreSQL: lent for a transaction, never lent again when they are in doubt."""

from __future__ import annotations

import math
import os
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import psycopg
from psycopg.pq import TransactionStatus

from muniment.storage.pg_breaker import Breaker
from muniment.storage.pg_errors import PoolFull, is_lost

if TYPE_CHECKING:
    from muniment.storage.ledger import Rows
    from muniment.storage.pg_place import Postgres

T = TypeVar("T")
_ATTEMPTS = 3
_IDLE = 600.0
_LEAST_WAIT = 2


class Turns:
    """Lets at most so many callers in at once, in the order in which they came.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._free = most
        self._lock = threading.Lock()
        self._waiting: deque[threading.Event] = deque()

    def enter(self, patience: float) -> bool:
        """Wait for a turn, at most so many seconds; return whether it came."""
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            gate = threading.Event()
            self._waiting.append(gate)
        gate.wait(patience)
        with self._lock:
            if not gate.is_set():
                self._waiting.remove(gate)
            return gate.is_set()

    def leave(self) -> None:
        """Give the turn to the next."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().set()
            else:
                self._free += 1


class _Held:
    """What one process holds of a pool.

    Args:
        most: Most connections.
    """

    def __init__(self, most: int) -> None:
        self.pid = os.getpid()
        self.turns = Turns(most)
        self.idle: deque[tuple[float, psycopg.Connection[Any]]] = deque()


class Pool:
    """A bounded pool that survives a fork, a restart of the server and a failover.

    A caller connects by itself when nothing is idle, unless the server could not be reached just
    before; then it fails at once.

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
        given: Mapping[str, Any] | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self._place = place
        self._attempts = attempts
        self._given = given or {}
        self._breaker = breaker or Breaker()
        self.slots: dict[tuple[Any, ...], Rows] = {}
        self._lock = threading.Lock()
        self._mine = _Held(place.connections)
        self._is_closed = False

    def _held(self) -> _Held:
        if self._mine.pid != os.getpid():
            with self._lock:
                if self._mine.pid != os.getpid():
                    _abandoned.append(self._mine)
                    self._mine = _Held(self._place.connections)
        return self._mine

    def _lent(self) -> psycopg.Connection[Any]:
        held = self._held()
        if not held.turns.enter(self._place.patience):
            raise PoolFull
        connection = None
        try:
            connection = _newest(held) or self._connected()
        finally:
            if connection is None:
                held.turns.leave()
        return connection

    def _connected(self) -> psycopg.Connection[Any]:
        wait: Mapping[str, Any] = {}
        if "connect_timeout" not in self._place.parts():
            wait = {"connect_timeout": max(_LEAST_WAIT, math.ceil(self._place.patience))}
        how = {"options": self._place.options, **wait, **self._given}
        with self._breaker.attempt():
            return psycopg.connect(self._place.url, autocommit=True, **how)

    def first(self, run: Callable[[psycopg.Connection[Any]], T]) -> tuple[T, psycopg.Connection]:
        """Lend a connection and run what begins its transaction.

        A connection that the server dropped meanwhile is thrown away with all that are like it,
        and another one is tried: nothing was read or written yet.

        Args:
            run: Begins on the connection it is given.

        Raises:
            PoolFull: All connections are lent for too long.
            Resting: The server could not be reached just before.
        """
        for attempt in range(1, self._attempts + 1):
            connection = self._lent()
            has_begun = False
            try:
                given = run(connection)
                has_begun = True
            except psycopg.Error as error:
                if not is_lost(error) or attempt == self._attempts:
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
        held = self._mine
        if held.pid != os.getpid():
            return
        status = connection.pgconn.transaction_status
        try:
            if status == TransactionStatus.INTRANS:
                connection.execute("ROLLBACK")
            elif status != TransactionStatus.IDLE:
                connection.close()
        except psycopg.Error:
            connection.close()
        if self._is_closed:
            connection.close()
        if not connection.closed:
            held.idle.append((self._breaker.clock(), connection))
        held.turns.leave()
        self._close_old(held)

    def _close_old(self, held: _Held) -> None:
        """Close what nobody needed for ten minutes."""
        while (oldest := _oldest(held)) is not None:
            since, connection = oldest
            if self._breaker.clock() - since < _IDLE:
                held.idle.appendleft(oldest)
                return
            connection.close()

    def drain(self) -> None:
        """Close every connection that is idle."""
        held = self._held()
        while (connection := _newest(held)) is not None:
            connection.close()

    def close(self) -> None:
        """Close every connection; one that is lent, when it comes back."""
        self._is_closed = True
        if self._mine.pid == os.getpid():
            self.drain()


def _newest(held: _Held) -> psycopg.Connection[Any] | None:
    try:
        return held.idle.pop()[1]
    except IndexError:
        return None


def _oldest(held: _Held) -> tuple[float, psycopg.Connection[Any]] | None:
    try:
        return held.idle.popleft()
    except IndexError:
        return None


_abandoned: list[object] = []
