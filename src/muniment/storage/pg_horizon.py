"""Whether a transaction may still see what was deleted: rewriting a table carries that along."""

from __future__ import annotations

import time
from typing import Any

import psycopg

from muniment.errors import StoreBusyError
from muniment.storage.pg_schema import run

_PAUSE = 0.05


def await_horizon(connection: psycopg.Connection[Any], patience: float, name: str) -> None:
    """Wait until nobody can see what is deleted by now.

    Args:
        connection: To the database, outside a transaction.
        patience: Most seconds to wait.
        name: What an error calls the database.

    Raises:
        StoreBusyError: A transaction that began before, a prepared one, or a replica that asks for
            old rows is still there.
    """
    ((now,),) = run(connection, "present_transaction")
    end = time.monotonic() + patience
    while run(connection, "holders", {"now": now})[0][0]:
        if time.monotonic() >= end:
            raise StoreBusyError(
                f"{name}: a transaction or a replica can still see what was deleted, so that its "
                "bytes would be kept; compact again later."
            )
        time.sleep(_PAUSE)
