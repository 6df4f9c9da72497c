"""What the tests of opening a file share: the shape of a schema, and a failure at a statement."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest

from muniment.storage.sqlite import SqliteStore


def shape(connection: apsw.Connection) -> list[tuple[str, ...]]:
    """Return the statements of a schema, without their white space."""
    rows = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2")
    return [(*row[:3], " ".join((row[3] or "").split())) for row in rows]


def traced(monkeypatch: pytest.MonkeyPatch, trace: Callable[[str], None]) -> None:
    """Have every connection that is opened from now on report each statement before it runs."""
    connect = SqliteStore._connect

    def report(_: apsw.Cursor, sql: str, __: object) -> bool:
        trace(sql)
        return True

    def connected(store: SqliteStore) -> apsw.Connection:
        connection = connect(store)
        connection.exec_trace = report
        return connection

    monkeypatch.setattr(SqliteStore, "_connect", connected)


class CrashError(Exception):
    """What stands for the end of the process."""
