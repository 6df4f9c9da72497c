"""Owners' own rows as they were last read and checked, and what stood in the way of their records.

An owner's own row covers, under a fresh mask at each change, the digest of everything the owner
has. While it is read byte for byte as before, it need not be checked again, and what was read with
it still holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from muniment.ports import OwnerState
from muniment.scope import Owner
from muniment.storage.base import owner_values
from muniment.storage.guard import Guard
from muniment.storage.ledger import Connection
from muniment.storage.views import RowSnapshot

_MOST = 4096


class Seen(NamedTuple):
    """An owner's own row, what it says, and the records that were contested; None: not read."""

    row: tuple[Any, ...]
    state: OwnerState
    contested: frozenset[str] | None


class OwnersSeen:
    """What was last read of the owners. Bounded: over the bound it starts anew.

    Safe to use from several threads.
    """

    def __init__(self) -> None:
        self._seen: dict[Owner, Seen] = {}

    def get(self, owner: Owner) -> Seen | None:
        """Return what was last read of an owner, or None."""
        return self._seen.get(owner)

    def put(self, owner: Owner, seen: Seen) -> None:
        """Note what was read of an owner."""
        if len(self._seen) >= _MOST:
            self._seen = {}
        self._seen[owner] = seen


class SeeingSnapshot(RowSnapshot):
    """The `Snapshot` port over committed rows, which reads what is large only when it changed.

    Args:
        connection: Runs statements inside one read.
        sql: The statements by name.
        guard: Checks rows.
        seen: What was read of owners before.
    """

    def __init__(
        self, connection: Connection, sql: Mapping[str, str], guard: Guard, seen: OwnersSeen
    ) -> None:
        super().__init__(connection, sql, guard)
        self._seen = seen
        self._here: dict[int, tuple[Owner, Seen]] = {}

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state, or None."""
        row = self._one("owner", owner_values(owner))
        seen = self._seen.get(owner)
        if seen is None or seen.row != row:
            state = self._state(owner, row)
            if state is None or row is None:
                return None
            seen = Seen(row, state, None)
            self._seen.put(owner, seen)
        self._here[seen.state.owner_no] = owner, seen
        return seen.state

    def contested(self, owner: OwnerState) -> frozenset[str]:
        """Return the records that a pending candidate contradicts."""
        here = self._here.get(owner.owner_no)
        if here is None or here[0].tenant_id != owner.owner.tenant_id:
            return super().contested(owner)
        name, seen = here
        if seen.contested is None:
            seen = seen._replace(contested=super().contested(owner))
            self._seen.put(name, seen)
            self._here[owner.owner_no] = name, seen
        assert seen.contested is not None
        return seen.contested
