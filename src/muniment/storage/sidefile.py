"""A small SQLite file beside a store's database: private, durable, shared by processes."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import apsw

from muniment.errors import KeyMissingError, StoreBusyError, StoreError
from muniment.keyfile import private_file
from muniment.storage.sqlfiles import queries, schema

MEMORY = ":memory:"
_BUSY_MS = 30_000


class SideFile:
    """A file that holds one sort of thing. Safe to use from several threads.

    Args:
        location: A path or `:memory:`.
        dialect: Name of the folder with its statements.
    """

    def __init__(self, location: str, dialect: str) -> None:
        self.location = location
        self._dialect = dialect
        self._sql = queries(dialect)
        self._lock = threading.RLock()
        self._connection: apsw.Connection | None = None
        self._pid = os.getpid()

    def exists(self) -> bool:
        """Return whether the file is there and holds something."""
        if self.location == MEMORY:
            return self._connection is not None
        with suppress(OSError, ValueError):
            return Path(self.location).stat().st_size > 0
        return False

    def make(self) -> None:
        """Make the file, readable by its owner only, unless it is there."""
        with self._errors():
            if self.location != MEMORY:
                private_file(Path(self.location))
            with self._locked():
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(schema(self._dialect))
                connection.execute("COMMIT")

    def run(self, name: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        with self._locked(), self._errors():
            return self._open().execute(self._sql[name], values or {}).fetchall()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep all statements of the body or none; durable when it ends."""
        with self._locked(), self._errors():
            connection = self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def moved(self) -> int:
        """Return a number that changes when another connection changed the file."""
        with self._locked(), self._errors():
            return int(self._open().pragma("data_version"))

    def close(self) -> None:
        """Close the file. It opens again when it is used."""
        with self._locked():
            if self._connection is not None and self.location != MEMORY:
                self._connection.close()
                self._connection = None

    def _locked(self) -> threading.RLock:
        """Return the lock; a forked child leaves its parent's connection and lock alone."""
        if self._pid != os.getpid():
            _abandoned.append(self._connection)
            self._pid, self._connection, self._lock = os.getpid(), None, threading.RLock()
        return self._lock

    def _open(self) -> apsw.Connection:
        if self._connection is None:
            flags = apsw.SQLITE_OPEN_READWRITE | (
                apsw.SQLITE_OPEN_CREATE if self.location == MEMORY else 0
            )
            connection = apsw.Connection(self.location, flags=flags)
            connection.set_busy_timeout(_BUSY_MS)
            connection.pragma("secure_delete", True)
            connection.pragma("synchronous", "extra")
            self._connection = connection
        return self._connection

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except apsw.CantOpenError as error:
            raise KeyMissingError(f"{self.location} is missing or cannot be opened.") from error
        except apsw.BusyError as error:
            raise StoreBusyError(f"{self.location} is locked by another process; retry.") from error
        except apsw.Error as error:
            raise StoreError(
                f"{self.location} cannot be used ({type(error).__name__}); restore it from a "
                "backup."
            ) from error


_abandoned: list[object] = []
