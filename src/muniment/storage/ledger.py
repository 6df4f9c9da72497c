"""Authenticates what a transaction writes and what a snapshot reads, over one connection."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Protocol

from muniment.ports import OwnerState
from muniment.storage.guard import MAC, Guard, element, mask, row_mac, unmask

PROTECTED = (
    "records",
    "words",
    "vectors",
    "candidates",
    "tombstones",
    "blocks",
    "threads",
    "entries",
    "deletions",
    "deletion_items",
    "receipts",
    "imported_audit",
    "imported_receipts",
)
OWNERS = "owners"
Place = tuple[str, int]
"""Tenant and number of an owner."""

_CHANGE = re.compile(r"\s*(?:INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+(\w+)")
_OWNERS = re.compile(r"\bowners\b")

Row = tuple[Any, ...]
Rows = list[Row]


class Results(Protocol):
    """The rows that a statement gave."""

    def fetchall(self) -> Rows:
        """Return all of them."""
        ...

    def fetchone(self) -> Any:  # noqa: ANN401 - a row or None; the drivers' types differ
        """Return the next one, or None."""
        ...

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Go through them without holding all."""
        ...


class Connection(Protocol):
    """What a back end brings: it runs one statement inside its open transaction."""

    def execute(self, statement: str, values: Mapping[str, Any], /) -> Results:
        """Run a statement of `sql` with its named values."""
        ...


@cache
def changed_table(statement: str) -> str | None:
    """Return the protected table that a statement changes, or None.

    One that is given the digest of its row is none: it needs no other.

    Raises:
        AssertionError: It changes rows and does not end in `RETURNING *`.
    """
    match = _CHANGE.match(statement)
    if match is None or match[1] not in (*PROTECTED, OWNERS) or ":mac" in statement:
        return None
    if match[1] == OWNERS:
        return OWNERS
    assert statement.endswith("RETURNING *;"), f"a change of {match[1]} must end in RETURNING *"
    return match[1]


@cache
def concerns_owners(statement: str) -> bool:
    """Return whether a statement reads or changes owners' own rows."""
    return _OWNERS.search(statement) is not None


def key_of(owner: OwnerState) -> dict[str, Any]:
    """Return the columns that every row of an owner is keyed by."""
    return {"tenant_id": owner.owner.tenant_id, "owner_no": owner.owner_no}


class GuardedView:
    """Runs named queries and checks rows on one connection."""

    def __init__(self, connection: Connection, sql: Mapping[str, str], guard: Guard) -> None:
        self._connection = connection
        self._sql = sql
        self._guard = guard

    def _all(self, name: str, values: Mapping[str, Any]) -> Rows:
        return self._connection.execute(self._sql[name], values).fetchall()

    def _one(self, name: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        row: tuple[Any, ...] | None = self._connection.execute(self._sql[name], values).fetchone()
        return row

    def _named(self, table: str, row: tuple[Any, ...]) -> dict[str, Any]:
        return self._guard.named(table, row, self._columns)

    def _columns(self, table: str) -> list[str]:
        return [name for (name,) in self._all("columns", {"table": table})]

    def _checked(self, table: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Return the whole rows of a query by column, each checked."""
        return self._intact(table, self._all(name, values))

    def _intact(self, table: str, found: Rows) -> list[dict[str, Any]]:
        """Return whole rows that were read, by column, each checked."""
        columns = self._guard.columns(table, self._columns)
        rows = [dict(zip(columns, row, strict=True)) for row in found]
        for row in rows:
            self._guard.check(table, row)
        return rows

    def _was_seen(self, row: Row) -> bool:
        """Return whether an owner's own row was checked, or written, exactly as it is."""
        del row
        return False

    def _is_settled(self, row: Mapping[str, Any]) -> bool:
        """Return whether an owner's own row has the digest of its present content."""
        del row
        return True

    def _own_row(self, found: tuple[Any, ...] | None) -> dict[str, Any] | None:
        """Return an owner's own row by column, checked, or None."""
        if found is None:
            return None
        row = self._named(OWNERS, found)
        if self._is_settled(row) and not self._was_seen(found):
            self._guard.check(OWNERS, row)
        return row


class Ledger(GuardedView):
    """The part of a transaction that keeps digests in step with every change.

    A new row is stored with its digest. Each other change of a protected table returns the whole
    rows; they get their new digest at once. An owner's own row, which covers the digest of all its
    rows and the head of its audit chain, is read and checked once, changed here, and stored with
    its new digest when the work is done, or before a statement that reads owners.
    """

    def __init__(self, connection: Connection, sql: Mapping[str, str], guard: Guard) -> None:
        super().__init__(connection, sql, guard)
        self._own: dict[Place, dict[str, Any]] = {}
        self._moved: dict[Place, int] = {}
        self._unsaved: set[Place] = set()
        self._saved: dict[Place, Row] = {}
        self._loose: dict[Place, set[tuple[int, int]]] = {}

    def _is_settled(self, row: Mapping[str, Any]) -> bool:
        return (row["tenant_id"], row["owner_no"]) not in self._moved

    def _own_row(self, found: tuple[Any, ...] | None) -> dict[str, Any] | None:
        """Return an owner's own row as this transaction leaves it, or None."""
        if found is None:
            return None
        place = (found[0], found[1])
        known = self._own.get(place)
        if known is None:
            known = super()._own_row(found)
            assert known is not None
            self._own[place] = known
        return known

    def _one(self, name: str, values: Mapping[str, Any]) -> tuple[Any, ...] | None:
        if self._unsaved and concerns_owners(self._sql[name]):
            self._save()
        return super()._one(name, values)

    def _all(self, name: str, values: Mapping[str, Any]) -> Rows:
        statement = self._sql[name]
        if self._unsaved and concerns_owners(statement):
            self._save()
        table = changed_table(statement)
        if table is None:
            return super()._all(name, values)
        place = self._touch(values) if "owner_no" in values else None
        rows = super()._all(name, values)
        if table == OWNERS:
            self._own.pop(place, None) if place else None
            return rows
        for row in rows:
            self._account(table, self._named(table, row), stays=not name.startswith("delete_"))
        return rows

    def _insert(self, table: str, name: str, values: Mapping[str, Any]) -> None:
        """Insert a new row together with its digest; values are named as the columns are."""
        place = self._touch(values)
        key = self._guard.key(place[0])
        row = {column: values.get(column) for column in self._guard.columns(table, self._columns)}
        row[MAC] = mac = row_mac(key, table, row)
        super()._all(name, row)
        self._moved[place] ^= element(key, mac)

    def _account(self, table: str, row: dict[str, Any], *, stays: bool) -> None:
        place = (row["tenant_id"], row["owner_no"])
        key = self._guard.key(row["tenant_id"])
        self._moved[place] ^= element(key, row[MAC])
        if stays:
            row[MAC] = self._guard.mac(table, row)
            self._moved[place] ^= element(key, row[MAC])
            super()._all(f"stamp_{table}", row)
        elif table == "vectors" and not row["vector"]:
            self._loose.setdefault(place, set()).add((row["slot"], row["seq"]))

    def _take_loose(self) -> dict[Place, set[tuple[int, int]]]:
        """Return slot and seq of vectors that were removed and still lie in a block, by owner."""
        loose, self._loose = self._loose, {}
        return loose

    def _touch(self, values: Mapping[str, Any]) -> Place:
        """Check an owner's own row before the first change, since it gets a new digest later."""
        place = (values["tenant_id"], values["owner_no"])
        if place not in self._unsaved:
            self._stored(place)
            self._moved.setdefault(place, 0)
            self._unsaved.add(place)
        return place

    def _stored(self, place: Place) -> dict[str, Any] | None:
        """Return an owner's own row as this transaction leaves it, or None."""
        known = self._own.get(place)
        if known is None:
            key = {"tenant_id": place[0], "owner_no": place[1]}
            known = self._own_row(super()._one("whole_owner", key))
        return known

    def _changing(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return an owner's own row to be changed in place; it is stored when the work is done."""
        place = self._touch(values)
        row = self._own.get(place) or self._stored(place)
        assert row is not None, "an owner's own row is never removed"
        return row

    def _has_made(self, tenant_id: str, owner_no: int) -> None:
        """Say that this transaction made an owner, whose own row has no digest yet."""
        self._moved[tenant_id, owner_no] = 0
        self._touch({"tenant_id": tenant_id, "owner_no": owner_no})

    def _save(self) -> None:
        """Store every owner's own row that was touched, with its new digest."""
        unsaved, self._unsaved = self._unsaved, set()
        for place in unsaved:
            row = self._stored(place)
            if row is not None:
                key = self._guard.key(place[0])
                row["content"] = mask(key, unmask(key, row["content"]) ^ self._moved[place])
                row[MAC] = self._guard.mac(OWNERS, row)
                self._moved[place] = 0
                super()._all("stamp_owner", row)
                self._saved[place] = tuple(row.values())

    def settle(self) -> dict[Place, Row]:
        """Give every owner that was touched its new digest; return their own rows."""
        self._save()
        settled, self._saved = self._saved, {}
        self._moved.clear()
        self._own.clear()
        return settled
