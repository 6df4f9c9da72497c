"""Edits of a database behind muniment's back, by somebody who has the file and not the key."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

SIDE_FILES = ("-wal", "-shm", "-journal")


class Editor:
    """A database opened by another program.

    Args:
        path: The file; no store has it open.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        connection = apsw.Connection(str(self._path))
        try:
            connection.pragma("foreign_keys", False)
            yield connection
        finally:
            connection.close()

    def run(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows."""
        with self._connection() as connection:
            return connection.execute(statement, values).fetchall()

    def row(self, table: str, where: str, *values: object) -> dict[str, Any]:
        """Return one row by column."""
        names = [row[1] for row in self.run(f"PRAGMA table_info({table})")]
        (found,) = self.run(f"SELECT * FROM {table} WHERE {where}", *values)
        return dict(zip(names, found, strict=True))

    def put(self, table: str, row: dict[str, Any]) -> None:
        """Insert or replace a whole row."""
        places = ", ".join("?" * len(row))
        self.run(
            f"INSERT OR REPLACE INTO {table} ({', '.join(row)}) VALUES ({places})", *row.values()
        )

    def forget_record(self, owner_no: int, seq: int) -> None:
        """Delete a record with all that hangs on it, leaving no trace of it."""
        for table in ("words", "vectors", "records"):
            self.run(f"DELETE FROM {table} WHERE owner_no = ? AND seq = ?", owner_no, seq)


def copy_files(path: Path, folder: Path, *suffixes: str) -> Callable[[], None]:
    """Copy a closed database, and the files beside it that are named; return what restores them."""
    folder.mkdir()
    names = [path.name + suffix for suffix in ("", *suffixes)]
    for name in names:
        shutil.copy2(path.with_name(name), folder / name)

    def restore() -> None:
        for suffix in SIDE_FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        for name in names:
            shutil.copy2(folder / name, path.with_name(name))

    return restore
