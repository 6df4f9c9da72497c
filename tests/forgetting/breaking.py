"""Breaks a store off in the middle of its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from muniment import Memory
from muniment.storage.ledger import Rows
from muniment.storage.pg_wire import Step, Wired
from muniment.storage.postgres import PostgresStore


class Killed(BaseException):
    """What a test raises where a process would die."""


def killed() -> None:
    """Stand for the end of the process."""
    raise Killed


def writer_of(memory: Memory) -> Any:  # noqa: ANN401 - a connection of SQLite's driver
    """Return the connection by which a memory over SQLite writes, under its seal or plain."""
    store: Any = memory._store
    return getattr(store, "inner", store)._writer()


@contextmanager
def at_statement(memory: Memory, number: int, act: Callable[[], None]) -> Iterator[list[int]]:
    """Do something before the writer runs its n-th statement, from 1; yield the count of all.

    On PostgreSQL, before the round trip that carries it; statements that read count there too.
    """
    count = [0]

    def run(statements: int) -> None:
        before, count[0] = count[0], count[0] + statements
        if before < number <= count[0]:
            act()

    with _watched(memory, run):
        yield count


@contextmanager
def _watched(memory: Memory, run: Callable[[int], None]) -> Iterator[None]:
    """Call back with how many statements are about to be run."""
    store: Any = memory._store
    if isinstance(getattr(store, "inner", store), PostgresStore):
        with pytest.MonkeyPatch.context() as patch:
            sent = Wired.sent

            def watched(connection: Wired, steps: Sequence[Step]) -> list[Rows]:
                run(len(steps))
                return sent(connection, steps)

            patch.setattr(Wired, "sent", watched)
            yield
        return
    connection = writer_of(memory)

    def trace(cursor: object, statement: str, bindings: object) -> bool:
        run(1)
        return True

    connection.exec_trace = trace
    try:
        yield
    finally:
        connection.exec_trace = None
