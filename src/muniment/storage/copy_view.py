"""Whole rows of an owner, as they are, for moving a store to another database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from muniment.storage.ledger import GuardedView, Rows
from muniment.storage.sqlfiles import queries

MODELS = "models"


@cache
def copied_tables() -> tuple[str, ...]:
    """Return the tables that hold something of an owner, each after those it refers to."""
    names = (name.removeprefix("read_") for name in queries("copying") if name.startswith("read_"))
    return tuple(name for name in names if name != MODELS)


class CopySource(GuardedView):
    """The part of a view that gives whole rows as they are."""

    def rows_of(self, table: str, key: Mapping[str, Any]) -> Rows:
        """Return every row of an owner's in a table, in the order of its key.

        Args:
            table: One of `copied_tables()`, or `MODELS`, which are nobody's.
            key: Tenant and number of the owner; nothing for `MODELS`.
        """
        return self._connection.execute(queries("copying")[f"read_{table}"], key).fetchall()


class CopyTarget(GuardedView):
    """The part of a transaction that takes whole rows; their digests stay as they are."""

    def put_rows(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Store rows as they are."""
        columns = self._guard.columns(table, self._columns)
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            self._connection.execute(queries("copying")[f"write_{table}"], values)

    def drop_rows(self, table: str, key: Mapping[str, Any]) -> None:
        """Remove every row of an owner's in a table."""
        self._connection.execute(queries("copying")[f"erase_{table}"], key)
