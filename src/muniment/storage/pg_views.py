"""The views over a PostgreSQL session: what is read together travels together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muniment.ports import OwnerState
from muniment.scope import Owner
from muniment.storage.base import owner_values
from muniment.storage.guard import Guard
from muniment.storage.ledger import Rows
from muniment.storage.pg_session import Transacting
from muniment.storage.pg_statements import own_statements
from muniment.storage.views import RowSnapshot

Call = tuple[str, Mapping[str, Any]]
_KEY = ("tenant_id", "owner_no")


class PgSnapshot(RowSnapshot):
    """The `Snapshot` port over one session.

    Args:
        session: Its transaction begins here, with the first round trip.
        sql: The statements by name.
        guard: Checks rows.
        owners: Whose states are read in that round trip; what is large of theirs may come from a
            replica that shows the very same.
    """

    def __init__(
        self,
        session: Transacting,
        sql: Mapping[str, str],
        guard: Guard,
        owners: Sequence[Owner] = (),
    ) -> None:
        super().__init__(session, sql, guard)
        self._session = session
        self._states: dict[Owner, OwnerState | None] = {}
        self._contested: dict[tuple[str, int], frozenset[str]] = {}
        if owners:
            found = self._together([("owner", owner_values(owner)) for owner in owners])
            for owner, rows in zip(owners, found, strict=True):
                state = self._states[owner] = self._state(owner, rows[0] if rows else None)
                if state is not None:
                    session.note_owner(_place(state), rows[0])
        else:
            session.together([(own_statements()["fix"], {})])

    def _together(self, calls: Sequence[Call]) -> list[Rows]:
        named = [(self._session.named(self._sql[name]), values) for name, values in calls]
        return self._session.together(named)

    def next_is_last(self) -> None:
        """Let the transaction end in the round trip of the next read."""
        self._session.end_with_next()

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state, or None."""
        return self._states[owner] if owner in self._states else super().owner(owner)

    def contested(self, owner: OwnerState) -> frozenset[str]:
        """Return the records that a pending candidate contradicts; of all owners in one trip."""
        wanted = _place(owner)
        if wanted not in self._contested:
            near = [_place(one) for one in self._states.values() if one]
            places = near if wanted in near else [wanted]
            keys = [dict(zip(_KEY, place, strict=True)) for place in places]
            given = self._together([("contested", key) for key in keys])
            for place, rows in zip(places, given, strict=True):
                self._contested[place] = frozenset(row[0] for row in rows)
        return self._contested[wanted]


def _place(state: OwnerState) -> tuple[str, int]:
    return state.owner.tenant_id, state.owner_no
