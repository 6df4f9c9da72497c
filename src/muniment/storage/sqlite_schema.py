"""Bringing a SQLite file to the present schema, or refusing it untouched."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict

import apsw

from muniment.errors import ForeignFileError, StoreVersionError
from muniment.storage.sqlfiles import migrations, queries
from muniment.storage.unlock import Mark

APPLICATION_ID = 0x4D554E49
_WAL_ATTEMPTS = 200
_WAL_PAUSE = 0.02


def schema_version(connection: apsw.Connection) -> int:
    """Return the number of the last migration that ran on the file; 0 for a new one."""
    return int(connection.pragma("user_version"))


def migrate(connection: apsw.Connection, location: str, mark: Callable[[], Mark]) -> None:
    """Bring the file to the present schema.

    All missing migrations, the version stamp and, for a new file, the mark of its key commit in
    one transaction. Several processes may do this at once; one does the work and the others find
    it done.

    Args:
        connection: The file.
        location: What an error calls it.
        mark: Makes the key of a new file.

    Raises:
        ForeignFileError: The file belongs to something else. It was not touched.
        StoreVersionError: The file was written by a newer muniment. It was not touched.
    """
    if _missing(connection, location):
        _use_wal(connection)
        connection.execute("BEGIN IMMEDIATE")
        try:
            for number, script in _missing(connection, location):
                connection.execute(script)
                if number == 1:
                    connection.pragma("application_id", APPLICATION_ID)
                    connection.execute(queries("sqlite")["insert_mark"], asdict(mark()))
                connection.pragma("user_version", number)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


def _missing(connection: apsw.Connection, location: str) -> list[tuple[int, str]]:
    known = migrations("sqlite")
    version = schema_version(connection)
    is_used = version or connection.execute(queries("sqlite")["any_table"]).fetchone()
    if is_used and connection.pragma("application_id") != APPLICATION_ID:
        raise ForeignFileError(f"{location} is a database of something else; it was not touched.")
    if version > len(known):
        raise StoreVersionError(
            f"{location} has schema {version} and this muniment knows {len(known)}; "
            "upgrade muniment. The file was not touched."
        )
    return [step for step in known if step[0] > version]


def _use_wal(connection: apsw.Connection) -> None:
    """Switch to write-ahead logging; SQLite does not wait for a rival that does the same."""
    for attempt in range(_WAL_ATTEMPTS):
        try:
            connection.pragma("journal_mode", "wal")
        except apsw.BusyError:
            if attempt == _WAL_ATTEMPTS - 1:
                raise
            time.sleep(_WAL_PAUSE)
        else:
            return
