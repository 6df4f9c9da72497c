"""What PostgreSQL's driver raises, as errors of the tree. The one place that maps them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import psycopg_pool
from psycopg import errors

from muniment.errors import StoreBusyError, StoreError, StoreUnavailableError
from muniment.storage.pg_breaker import Resting

_SHARED = {"models", "owners", "receipts", "tenants"}
"""Tables in which transactions of different owners may choose the same next number."""

_GONE = (
    errors.AdminShutdown,
    errors.CannotConnectNow,
    errors.CrashShutdown,
    errors.IdleInTransactionSessionTimeout,
    errors.QueryCanceled,
    errors.ReadOnlySqlTransaction,
    errors.TooManyConnections,
)

_BUSY = (errors.LockNotAvailable, errors.SerializationFailure, errors.DeadlockDetected)


def may_repeat(error: psycopg.Error) -> bool:
    """Return whether nothing of a transaction was kept and it may succeed when it runs again."""
    if isinstance(error, errors.UniqueViolation):
        return error.diag.table_name in _SHARED
    return isinstance(error, errors.SerializationFailure | errors.DeadlockDetected)


def is_lost(error: psycopg.Error) -> bool:
    """Return whether the connection is gone, so that another one may do what it could not."""
    lost = isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)
    return lost and (error.sqlstate is None or isinstance(error, _GONE[:3]))


@contextmanager
def driver_errors(location: str) -> Iterator[None]:
    """Map what the driver raises; its own words, which may repeat a value, are left behind.

    Args:
        location: What an error calls the database; holds no password.
    """
    try:
        yield
    except psycopg_pool.PoolTimeout:
        raise StoreUnavailableError(
            f"{location}: no connection was free in time; retry, or open with more connections."
        ) from None
    except Resting as rest:
        due = f"is due in {rest.seconds:.1f} s" if rest.seconds else "is being made just now"
        raise StoreUnavailableError(
            f"{location} could not be reached just before, and the next attempt {due}; retry "
            "then. Nothing was sent."
        ) from None
    except _BUSY:
        raise StoreBusyError(
            f"{location} is busy: another transaction held a row for too long; retry."
        ) from None
    except psycopg.Error as error:
        if is_lost(error) or isinstance(error, _GONE):
            raise StoreUnavailableError(
                f"{location} cannot be reached or ended the session "
                f"({type(error).__name__}); retry. A write that was not acknowledged may have been "
                "kept: repeat it with its source_id."
            ) from None
        raise StoreError(
            f"{location}: PostgreSQL failed ({type(error).__name__}); nothing was written."
        ) from None
