"""The log of a thread: append-only, ordered, idempotent by event id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from muniment.clock import from_instant, new_id
from muniment.errors import ConflictError, InvalidInputError, NotFoundError, TombstonedError
from muniment.ports import EntryRow, OwnerState, Snapshot, ThreadRow, Transaction
from muniment.records import JSONValue
from muniment.rules.limits import check_limit
from muniment.services.fence import event_digest
from muniment.services.threads.places import (
    ACTOR,
    EVERY,
    Places,
    ThreadKey,
    audit_id,
    checked_expiry,
    checked_id,
    checked_state,
    info_of,
    is_over,
    is_same,
    packed,
    unpacked,
    with_part,
)
from muniment.services.threads.staleness import WITHDRAWN, Changed, make_stale
from muniment.threads import Event, NewEvent, ThreadInfo

if TYPE_CHECKING:
    from muniment.scope import Scope

EVENT = "event"
MOST_EVENTS = 10_000
MOST_THREADS = 10_000


class ThreadLog(Places):
    """Appends, reads and withdraws events."""

    def create(
        self,
        key: ThreadKey,
        state: Mapping[str, JSONValue] | None,
        expires_at: datetime | str | None,
        *,
        anew: bool,
    ) -> ThreadInfo:
        """Make a thread unless it is there, and return it.

        Raises:
            TombstonedError: It was forgotten and `anew` is false.
        """
        said = None if state is None else checked_state(state)
        until = checked_expiry(expires_at)

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            if row.version:
                return None, None
            self.audit(tx, owner, key, "create_thread", key.type)
            made = row if said is None else with_part(row, "state", said)
            return None, replace(made, expires_at=until)

        self.change(key, work, anew=anew)
        return self._now(key)

    def _now(self, key: ThreadKey) -> ThreadInfo:
        info = self.info(key)
        if info is None:
            raise NotFoundError("The thread's time is over; give it a later expires_at.")
        return info

    def info(self, key: ThreadKey) -> ThreadInfo | None:
        """Return a thread as it stands, or None."""
        with self._store.snapshot() as view:
            found = self.found(view, key)
        return None if found is None else info_of(found[1])

    def threads(
        self, owner: Scope, sort: str | None, limit: int, *, oldest_first: bool
    ) -> tuple[ThreadInfo, ...]:
        """Return the threads of a scope by their last change, the newest first."""
        check_limit(limit, MOST_THREADS)
        if sort is not None:
            checked_id("type", sort)
        now = self._clock.now()
        with self._store.snapshot() as view:
            state = view.owner(owner)
            rows = [] if state is None else view.threads(state, sort)
        alive = [row for row in rows if not is_over(row, now)]
        alive.sort(key=lambda row: (row.changed_at, row.seq), reverse=not oldest_first)
        return tuple(info_of(row) for row in alive[:limit])

    def append(
        self, key: ThreadKey, events: Sequence[NewEvent], expected_version: int | None
    ) -> tuple[Event, ...]:
        """Append events in one transaction; those that are there already are returned as they are.

        Raises:
            ConflictError: An event_id identifies another event.
            TombstonedError: The thread or an event was forgotten.
            VersionConflictError: The thread has another version.
        """
        new = [_checked(place, event) for place, event in enumerate(events)]

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[tuple[Event, ...], ThreadRow | None]:
            found, added = [], 0
            for event_id, content in new:
                known = tx.entry(owner, row.seq, EVENT, event_id)
                if known is None:
                    added += 1
                    known = self._entry(tx, owner, row, row.last_number + added, event_id, content)
                elif not is_same(known.content, content):
                    raise ConflictError(
                        "An event_id of this thread already identifies a different event.",
                        number=known.number,
                    )
                found.append(_event(known))
            if not added:
                return tuple(found), None
            self.audit(tx, owner, key, "append", f"{added}")
            return tuple(found), replace(row, last_number=row.last_number + added)

        return self.change(key, work, expected_version=expected_version) if new else ()

    def _entry(
        self,
        tx: Transaction,
        owner: OwnerState,
        row: ThreadRow,
        number: int,
        event_id: str,
        content: bytes,
    ) -> EntryRow:
        mark = event_digest(self._store.keys, owner.owner, event_id)
        if tx.buried_source(owner, mark) is not None:
            raise TombstonedError("An event with this event_id was forgotten; it is not kept anew.")
        now = self._clock.now()
        entry = EntryRow(0, row.seq, EVENT, number, event_id, "", b"", content, now, now)
        return replace(entry, seq=tx.put_entry(owner, entry))

    def events(self, key: ThreadKey, after: int, limit: int) -> tuple[Event, ...]:
        """Return events numbered above `after`, in order."""
        check_limit(limit, MOST_EVENTS)
        with self._store.snapshot() as view:
            found = self.found(view, key)
            if found is None:
                return ()
            owner, row = found
            return tuple(map(_event, view.entries_after(owner, row.seq, EVENT, after, limit)))

    def latest(self, key: ThreadKey, limit: int | None, before: int | None) -> tuple[Event, ...]:
        """Return the last events numbered below `before`, in order."""
        if limit is not None:
            check_limit(limit, MOST_EVENTS)
        most = EVERY if limit is None else limit
        below = EVERY if before is None else before
        with self._store.snapshot() as view:
            found = self.found(view, key)
            if found is None:
                return ()
            owner, row = found
            rows = view.entries_before(owner, row.seq, EVENT, below, most)
        return tuple(_event(one) for one in reversed(rows))

    def event(self, key: ThreadKey, event_id: str) -> Event:
        """Return one event.

        Raises:
            NotFoundError: The thread has no such event.
        """
        named = checked_id("event_id", event_id)
        with self._store.snapshot() as view:
            found = self.found(view, key)
            row = None if found is None else view.entry(found[0], found[1].seq, EVENT, named)
        if row is None:
            raise NotFoundError("No event with this event_id in this thread.")
        return _event(row)

    def pop(self, key: ThreadKey) -> Event | None:
        """Withdraw the last event for good and return it; None when there is none."""
        if self.info(key) is None:
            return None

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[Event | None, ThreadRow | None]:
            last = tx.entries_before(owner, row.seq, EVENT, EVERY, 1)
            if not last:
                return None, None
            numbers = {row.seq: frozenset({last[0].number})}
            gone = Changed(frozenset({last[0].name}), numbers, WITHDRAWN, ACTOR)
            make_stale(tx, owner, gone, self._clock.now())
            tx.drop_entries(owner, [last[0].seq])
            self.audit(tx, owner, key, "withdraw", f"{last[0].number}")
            return _event(last[0]), row

        return self.change(key, work)

    def set_state(
        self, key: ThreadKey, state: Mapping[str, JSONValue], expected_version: int | None
    ) -> ThreadInfo:
        """Give a thread another state.

        Raises:
            TombstonedError: The thread was forgotten.
            VersionConflictError: The thread has another version.
        """
        said = checked_state(state)

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            self.audit(tx, owner, key, "set_state")
            return None, with_part(row, "state", said)

        self.change(key, work, expected_version=expected_version)
        return self._now(key)

    def keep_until(self, key: ThreadKey, expires_at: datetime | str | None) -> ThreadInfo | None:
        """Set when to stop keeping a thread; None for never."""
        until = checked_expiry(expires_at)

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            self.audit(tx, owner, key, "set_expiry")
            return None, replace(row, expires_at=until)

        self.change(key, work)
        return self.info(key)

    def audit_id(self, key: ThreadKey) -> str:
        """Return how audit and receipts name a thread."""
        return audit_id(self._store.keys, key)


def _checked(place: int, event: NewEvent) -> tuple[str, bytes]:
    if not isinstance(event, NewEvent):
        raise InvalidInputError(f"events[{place}] must be a NewEvent.")
    event_id = new_id("evt") if event.event_id is None else checked_id("event_id", event.event_id)
    return event_id, packed("content", event.content)


def _event(row: EntryRow) -> Event:
    return Event(row.name, row.number, unpacked(row.content), from_instant(row.created_at))


def every_event(view: Snapshot, owner: OwnerState, row: ThreadRow) -> tuple[Event, ...]:
    """Return all events of a thread, in order."""
    return tuple(map(_event, view.entries_after(owner, row.seq, EVENT, 0, EVERY)))
