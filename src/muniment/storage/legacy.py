"""Reads the tables of another system's SQLite file, and leaves the file as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import apsw

from muniment.errors import InvalidInputError
from muniment.storage.sqlfiles import queries
from muniment.storage.sqlite_driver import DriverErrors

_HEADER = 100
_WAL_VERSION = 2
_VERSIONS = slice(18, 20)


def read_old_tables(path: Path, names: Sequence[str]) -> dict[str, list[Mapping[str, object]]]:
    """Return the rows of the wanted tables that a SQLite file has, by table.

    The file is opened for reading only, and all tables are read in one snapshot. A file in
    write-ahead mode whose log is gone or empty is read as it lies, so that no log is made beside
    it.

    Args:
        path: The file.
        names: The tables that are wanted; one that is missing is left out.

    Raises:
        InvalidInputError: There is no such file.
        ForeignFileError: It is not a SQLite database.
        StoreError: It cannot be read.
    """
    if not path.is_file():
        raise InvalidInputError("The database to import cannot be read; check its path.")
    sql = queries("legacy")
    with DriverErrors("The database to import"):
        connection = apsw.Connection(_address(path), flags=_FLAGS)
        try:
            connection.execute("BEGIN")
            there = {row[0] for row in connection.execute(sql["tables"])}
            return {name: _rows(connection, sql[name]) for name in names if name in there}
        finally:
            connection.close()


_FLAGS = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _address(path: Path) -> str:
    log = path.with_name(f"{path.name}-wal")
    with path.open("rb") as opened:
        versions = opened.read(_HEADER)[_VERSIONS]
    idle = not log.exists() or not log.stat().st_size
    still = idle and _WAL_VERSION in versions
    return f"{path.absolute().as_uri()}?mode=ro{'&immutable=1' if still else ''}"


def _rows(connection: apsw.Connection, statement: str) -> list[Mapping[str, object]]:
    cursor = connection.execute(statement)
    found: list[Mapping[str, object]] = []
    for row in cursor:
        names = [column[0] for column in cursor.get_description()]
        found.append(dict(zip(names, row, strict=True)))
    return found
