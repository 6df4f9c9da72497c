"""Owners' own rows as they were last read and checked, and what stood in the way of their records.

An owner's own row covers, under a fresh mask at each change, the digest of everything the owner
has. While it is read byte for byte as before, it need not be checked again, and what was read with
it still holds.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from muniment.ports import EmbeddingModel, OwnerState
from muniment.scope import Owner
from muniment.storage.base import owner_values
from muniment.storage.blobs import BlobReader
from muniment.storage.guard import Guard
from muniment.storage.ledger import Place, Row
from muniment.storage.views import RowSnapshot, RowTransaction

_MOST = 4096


class Seen(NamedTuple):
    """An owner's own row, what it says, and the records that were contested; None: not read."""

    row: tuple[Any, ...]
    state: OwnerState
    contested: frozenset[str] | None


class OwnersSeen:
    """What was last read of the owners. Bounded: over the bound it starts anew.

    Safe to use from several threads.

    Attributes:
        slots: The numbers of models, which never change once they are committed.
    """

    def __init__(self) -> None:
        self._seen: dict[Owner, Seen] = {}
        self._rows: dict[Place, Row] = {}
        self.slots: dict[EmbeddingModel, int] = {}

    def note(self, rows: Mapping[Place, Row]) -> None:
        """Note owners' own rows that are right: checked, or written and committed."""
        if len(self._rows) + len(rows) > _MOST:
            self._rows = {}
        self._rows.update(rows)

    def has(self, row: Row) -> bool:
        """Return whether an owner's own row was noted exactly as it is."""
        return self._rows.get((row[0], row[1])) == row

    def get(self, owner: Owner) -> Seen | None:
        """Return what was last read of an owner, or None."""
        return self._seen.get(owner)

    def put(self, owner: Owner, seen: Seen) -> None:
        """Note what was read of an owner."""
        if len(self._seen) >= _MOST:
            self._seen = {}
        self._seen[owner] = seen


class SeeingSnapshot(BlobReader, RowSnapshot):
    """The `Snapshot` port over committed rows, which reads what is large only when it changed.

    It shows one moment as long as its first statement is not finished; no other one is needed. A
    brief one shows that of its only read.

    Args:
        connection: Runs statements; nothing is open on it.
        sql: The statements by name.
        guard: Checks rows.
        seen: What was read of owners before.
        owners: Whose states will be asked for; the first one's is what is read first.
        brief: Whether the first one's state as it was seen last will do.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        sql: Mapping[str, str],
        guard: Guard,
        seen: OwnersSeen,
        owners: Sequence[Owner],
        *,
        brief: bool,
    ) -> None:
        super().__init__(connection, sql, guard)
        self._file = connection
        self._seen = seen
        self._states: dict[Owner, Seen] = {}
        last = seen.get(owners[0]) if brief and owners else None
        if last is not None:
            self._states[owners[0]] = last
        self._first = self._begun(owners) if last is None else None

    def end(self) -> None:
        """End the read."""
        if self._first is not None:
            self._first.close()

    def _begun(self, owners: Sequence[Owner]) -> apsw.Cursor:
        for owner in owners[:1]:
            first = self._file.execute(self._sql["owner"], owner_values(owner))
            row = first.fetchone()
            if row is not None:
                try:
                    self._noted(owner, row)
                except BaseException:
                    first.close()
                    raise
                return first
        return self._file.execute(self._sql["any_table"])

    def _noted(self, owner: Owner, row: tuple[Any, ...]) -> OwnerState:
        seen = self._seen.get(owner)
        if seen is None or seen.row != row:
            state = self._state(owner, row)
            assert state is not None
            seen = Seen(row, state, None)
            self._seen.put(owner, seen)
            self._seen.note({(row[0], row[1]): row})
        self._states[owner] = seen
        return seen.state

    def _was_seen(self, row: Row) -> bool:
        return self._seen.has(row)

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state, or None."""
        here = self._states.get(owner)
        if here is not None:
            return here.state
        row = self._one("owner", owner_values(owner))
        return None if row is None else self._noted(owner, row)

    def contested(self, owner: OwnerState) -> frozenset[str]:
        """Return the records that a pending candidate contradicts."""
        for name, seen in self._states.items():
            if seen.state.owner_no != owner.owner_no or name.tenant_id != owner.owner.tenant_id:
                continue
            if seen.contested is not None:
                return seen.contested
            contested = super().contested(owner)
            self._seen.put(name, seen._replace(contested=contested))
            return contested
        return super().contested(owner)


class SeeingTransaction(BlobReader, RowTransaction):
    """The `Transaction` port, which checks the own row of an owner only when it changed.

    Args:
        connection: Runs statements inside the open transaction.
        sql: The statements by name.
        guard: Checks rows.
        seen: What was read of owners before.
    """

    def __init__(
        self, connection: apsw.Connection, sql: Mapping[str, str], guard: Guard, seen: OwnersSeen
    ) -> None:
        super().__init__(connection, sql, guard)
        self._file = connection
        self._seen = seen
        self._slots.update(seen.slots)
        self._settled: dict[Place, Row] = {}

    def _was_seen(self, row: Row) -> bool:
        return self._seen.has(row)

    def settle(self) -> dict[Place, Row]:
        """Tidy up, then give every owner that was touched its new digest."""
        self._settled = super().settle()
        return self._settled

    def note_committed(self) -> Collection[Place]:
        """Note what stands now that it is committed; return the owners that moved."""
        if self._settled:
            self._seen.note(self._settled)
            self._seen.slots.update(self._slots)
        return self._settled
