"""Replicas of a server: asked for what is large, believed only where they show the same state."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import psycopg

from muniment.errors import StoreError
from muniment.results import Replica
from muniment.storage.ledger import Rows
from muniment.storage.pg_breaker import Breaker, Resting
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_pool import Pool
from muniment.storage.pg_schema import check_wall, run
from muniment.storage.pg_session import READING, Call, Place, Session
from muniment.storage.pg_statements import statements
from muniment.storage.sqlfiles import queries

if TYPE_CHECKING:
    from muniment.storage.pg_place import Postgres

_PATIENCE = 1.0
_FIRST_PAUSE = 1.0
_LONGEST_PAUSE = 60.0
_LIMITS: Mapping[str, Any] = {"connect_timeout": 2, "tcp_user_timeout": 2000}
"""What libpq waits for a replica, in seconds and milliseconds: the primary answers meanwhile."""


class Copy:
    """One replica: proven before it is used, left alone for a while after it failed.

    Args:
        place: Where it is.
        primary: What it must be a replica of.
    """

    def __init__(self, place: Postgres, primary: Postgres) -> None:
        self._place = replace(place, patience=min(place.patience, _PATIENCE))
        self._primary = primary
        self.pool = Pool(self._place, attempts=1, given=_LIMITS)
        self._rest = Breaker(first=_FIRST_PAUSE, longest=_LONGEST_PAUSE)
        self._is_proven = False

    def is_ready(self) -> bool:
        """Return whether it may be asked now; the first caller of all finds out."""
        if self._is_proven:
            return True
        try:
            with self._rest.admitted():
                self._prove()
        except Resting:
            return False
        except StoreError:
            self.has_failed()
        return self._is_proven

    def _prove(self) -> None:
        with self._connection(self._place) as there, self._connection(self._primary) as here:
            _check(there, here, self._place.name)
        self._is_proven = True

    def has_failed(self) -> None:
        """Leave it alone for a while, twice as long as the last time."""
        self._is_proven = False
        self._rest.has_failed()
        self.pool.drain()

    def has_answered(self) -> None:
        """Trust it again as before."""
        self._rest.has_succeeded()

    @contextmanager
    def _connection(self, place: Postgres) -> Iterator[psycopg.Connection[Any]]:
        with (
            driver_errors(place.name),
            psycopg.connect(place.url, options=place.options, **_LIMITS) as connection,
        ):
            yield connection

    def state(self) -> Replica:
        """Return how it is, asked anew."""
        try:
            with self._connection(self._place) as there, self._connection(self._primary) as here:
                _check(there, here, self._place.name)
                ((written,),) = run(here, "written_to")
                replayed = run(there, "replayed_to")
        except StoreError as error:
            return Replica(self._place.name, problem=str(error))
        return Replica(self._place.name, lag=max(0, written - replayed[0][0]) if replayed else 0)


def _check(there: psycopg.Connection[Any], here: psycopg.Connection[Any], name: str) -> None:
    """Refuse what is no copy of the primary's database, or has no wall for the role.

    Raises:
        UnsafeRoleError: Row-level security would not hold there.
        StoreError: It is no copy.
    """
    if run(there, "identity") != run(here, "identity"):
        raise StoreError(
            f"{name} is no replica of this store's server: it belongs to another cluster, or is "
            "another database. It is not used; correct `replicas`."
        )
    check_wall(there, name)


def replicas_of(place: Postgres) -> Replicas | None:
    """Return a server's replicas, or None when it has none."""
    return Replicas(place) if place.replicas else None


class Replicas:
    """The replicas of one server, asked in turn. Safe to use from several threads.

    Args:
        place: The server, with its replicas.
    """

    def __init__(self, place: Postgres) -> None:
        self._copies = tuple(Copy(copy, place) for copy in place.copies())
        self._turns = itertools.count()
        self._owner = statements()[queries("postgres")["whole_owner"]]

    def ask(
        self,
        session_of: Callable[[Pool, str], Session],
        owners: Mapping[Place, tuple[Any, ...]],
        calls: Sequence[Call],
    ) -> list[Rows] | None:
        """Return the rows of statements from a replica that shows the very same owners.

        Their own rows are read in the same transaction and compared whole. They hold version,
        incarnation and a digest of all that the owner has, under a mask that every write draws
        anew, so what they cover is the same, too.

        Args:
            session_of: Begins a transaction on a pool's connection.
            owners: Each owner's own row as the primary shows it.
            calls: Statements that only depend on those.

        Returns:
            The rows of each; None when no replica is there, or the one whose turn it is failed or
            shows another state.
        """
        copy = self._next()
        if copy is None:
            return None
        names = ("tenant_id", "owner_no")
        same = [(self._owner, dict(zip(names, place, strict=True))) for place in owners]
        session = session_of(copy.pool, READING)
        try:
            session.end_with_next()
            given = session.together([*same, *calls])
        except psycopg.Error:
            copy.has_failed()
            return None
        finally:
            session.end()
        copy.has_answered()
        is_same = given[: len(same)] == [[row] for row in owners.values()]
        return given[len(same) :] if is_same else None

    def _next(self) -> Copy | None:
        turn = next(self._turns)
        count = len(self._copies)
        inturn = (self._copies[(turn + step) % count] for step in range(count))
        return next((copy for copy in inturn if copy.is_ready()), None)

    def states(self) -> tuple[Replica, ...]:
        """Return how each of them is."""
        return tuple(copy.state() for copy in self._copies)

    def close(self) -> None:
        """Close every connection."""
        for copy in self._copies:
            copy.pool.close()
