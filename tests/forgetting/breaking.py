"""Breaks a store off in the middle of its work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from muniment import Memory


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
    """Do something before the writer runs its n-th statement, from 1; yield the count of all."""
    connection = writer_of(memory)
    count = [0]

    def trace(cursor: object, statement: str, bindings: object) -> bool:
        count[0] += 1
        if count[0] == number:
            act()
        return True

    connection.exec_trace = trace
    try:
        yield count
    finally:
        connection.exec_trace = None
