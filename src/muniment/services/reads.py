"""Reading without a question: one record, a list, a history, the audit trail, the counts."""

from __future__ import annotations

import base64
import hmac
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muniment.clock import Clock, from_instant
from muniment.errors import CursorError, InvalidInputError, NotFoundError
from muniment.keys import digest
from muniment.ports import OwnerState, Snapshot, Store
from muniment.records import AuditEntry, PacketItem, Page, Record, Status
from muniment.results import Counts
from muniment.rules.filters import Condition, facts_of, parse_filters, passes
from muniment.rules.kinds import Reader
from muniment.rules.limits import check_limit
from muniment.rules.statement import MAX_NAME, checked_text, field_key

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy
    from muniment.scope import Owner, Scope

LONGEST_PAGE = 1000
_NEWEST = 2**63 - 1
_NOT_FOUND = "No record with this memory_id in this scope."
_AUDIT_PAGE = 1000


class Reads:
    """Reads of one scope. A record of another scope, or an expired one, is *not found*."""

    def __init__(self, store: Store, *, policy: Policy, clock: Clock) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock

    def get(self, owner: Owner, memory_id: str, reader: Reader) -> Record:
        """Return one record, active or superseded.

        Raises:
            NotFoundError: The owner has no such record, it has expired, or its kind is not shown
                to the reader.
        """
        now = self._clock.now()
        with self._store.snapshot((owner,)) as view:
            view.next_is_last()
            record = find(view, view.owner(owner), memory_id, now)
        if record.kind in self._policy.withheld(reader):
            raise NotFoundError(_NOT_FOUND)
        return record

    def named(self, owners: Sequence[Owner], name: str, reader: Reader) -> tuple[PacketItem, ...]:
        """Return the records that hold a field now, at most one a kind and owner, own ones first.

        Args:
            owners: The scope and the spaces that it may read.
            name: The field, in any spelling.
            reader: Who is shown them.

        Raises:
            InvalidInputError: The name is blank or too long.
        """
        key, now = field_key(checked_text("field", name, MAX_NAME)), self._clock.now()
        kinds = [kind for kind in self._policy.kinds if kind not in self._policy.withheld(reader)]
        found: list[PacketItem] = []
        with self._store.snapshot(owners) as view:
            for owner in owners:
                state = view.owner(owner)
                if state is None:
                    continue
                contested = {one.contested for one in view.conflicts(state)}
                for kind in kinds:
                    record = view.active_field(state, kind, key, now)
                    if record is not None and _holds(record, now):
                        found.append(PacketItem(record, 1.0, record.memory_id in contested))
        return tuple(found)

    def history(self, scope: Scope, memory_id: str) -> tuple[Record, ...]:
        """Return a record with all that it replaced and all that replaced it, oldest first.

        Raises:
            NotFoundError: The scope has no such record, or it has expired.
        """
        now = self._clock.now()
        with self._store.snapshot((scope,)) as view:
            owner = view.owner(scope)
            here = find(view, owner, memory_id, now)
            if here.kind in self._policy.withheld(Reader.SUBJECT):
                raise NotFoundError(_NOT_FOUND)
            assert owner is not None
            older = list(_follow(view, owner, here.supersedes, "supersedes", now))
            newer = list(_follow(view, owner, here.superseded_by, "superseded_by", now))
        chain = (*reversed(older), here, *newer)
        return tuple(record for record in chain if record.status is not Status.EXPIRED)

    def page(
        self,
        scope: Scope,
        *,
        limit: int,
        cursor: str | None,
        kinds: Collection[str] | None,
        filters: Mapping[str, Any] | None,
        superseded: bool,
        reader: Reader = Reader.SUBJECT,
    ) -> Page:
        """Return one page of the records that a reader is shown, newest first.

        Raises:
            InvalidInputError: `limit` is not between 1 and 1000, or a kind or filter is wrong.
            CursorError: The cursor is not of this scope and these filters.
        """
        check_limit(limit, LONGEST_PAGE)
        names = None if kinds is None else sorted(self._policy.names(kinds))
        conditions = parse_filters(filters)
        withheld = self._policy.withheld(reader)
        bound = repr((names, conditions, superseded, reader.value))
        key = self._store.keys.cursor(scope)
        before = _NEWEST if cursor is None else _read_cursor(key, bound, cursor)
        wanted = (Status.ACTIVE, Status.SUPERSEDED) if superseded else (Status.ACTIVE,)
        now = self._clock.now()
        found: list[Record] = []
        with self._store.snapshot((scope,)) as view:
            owner = view.owner(scope)
            for record in _newest_first(view, owner, before, limit, now):
                is_wanted = record.status in wanted and record.kind not in withheld
                if is_wanted and _passes(record, names, conditions):
                    found.append(record)
                    if len(found) > limit:
                        break
        more = len(found) > limit
        found = found[:limit]
        return Page(tuple(found), _write_cursor(key, bound, found[-1].seq) if more else None)

    def counts(self, scope: Scope) -> Counts:
        """Return how many rows the scope has of each sort."""
        with self._store.snapshot((scope,)) as view:
            owner = view.owner(scope)
            return Counts() if owner is None else view.counts(owner, self._clock.now())

    def audit(self, scope: Scope) -> tuple[AuditEntry, ...]:
        """Return the scope's audit entries, oldest first."""
        entries: list[AuditEntry] = []
        with self._store.snapshot((scope,)) as view:
            owner = view.owner(scope)
            while owner is not None:
                page = view.audit(owner, entries[-1].number if entries else 0, _AUDIT_PAGE)
                entries += page
                if len(page) < _AUDIT_PAGE:
                    break
        return tuple(entries)


def _holds(record: Record, now: int) -> bool:
    """Return whether a record is in force and true at an instant."""
    at = from_instant(now)
    begun = record.valid_from is None or record.valid_from <= at
    ended = record.valid_until is not None and record.valid_until <= at
    return record.status is Status.ACTIVE and begun and not ended


def find(view: Snapshot, owner: OwnerState | None, memory_id: str, now: int) -> Record:
    """Return a record of the scope that has not expired.

    Raises:
        NotFoundError: There is none.
    """
    record = stored(view, owner, memory_id, now)
    if record is None or record.status is Status.EXPIRED:
        raise NotFoundError(_NOT_FOUND)
    return record


def find_among(
    view: Snapshot,
    owners: Sequence[OwnerState | None],
    memory_id: str,
    withheld: frozenset[str],
    now: int,
) -> tuple[OwnerState, Record]:
    """Return a record and its owner, which is the first of several that has it.

    Args:
        view: Where to look.
        owners: Whose it may be.
        memory_id: The record.
        withheld: Kinds that the reader is not shown.
        now: The present instant, microseconds since 1970, UTC.

    Raises:
        NotFoundError: None of them has it, it has expired, or its kind is withheld.
    """
    for owner in owners:
        record = stored(view, owner, memory_id, now)
        if owner is not None and record is not None:
            if record.status is Status.EXPIRED or record.kind in withheld:
                break
            return owner, record
    raise NotFoundError(_NOT_FOUND)


def stored(view: Snapshot, owner: OwnerState | None, memory_id: str, now: int) -> Record | None:
    """Return a record of the owner, whatever its status, or None.

    Raises:
        InvalidInputError: The id is not a string.
    """
    if not isinstance(memory_id, str):
        raise InvalidInputError("memory_id must be a string.")
    if owner is None or not memory_id.isascii():
        return None
    return view.record(owner, memory_id, now)


def _follow(
    view: Snapshot, owner: OwnerState, memory_id: str | None, link: str, now: int
) -> Iterator[Record]:
    while memory_id is not None and (record := view.record(owner, memory_id, now)) is not None:
        yield record
        memory_id = getattr(record, link)


def _newest_first(
    view: Snapshot, owner: OwnerState | None, before: int, limit: int, now: int
) -> Iterator[Record]:
    while owner is not None:
        rows = view.page(owner, before, limit + 1, now)
        yield from rows
        if len(rows) <= limit:
            return
        before = rows[-1].seq


def _passes(
    record: Record, names: Collection[str] | None, conditions: tuple[Condition, ...]
) -> bool:
    if names is not None and record.kind not in names:
        return False
    return not conditions or passes(facts_of(record), conditions)


def _write_cursor(key: bytes, bound: str, seq: int) -> str:
    seal = digest(key, bound, str(seq)).hex()
    return base64.urlsafe_b64encode(json.dumps([seq, seal]).encode()).decode()


def _read_cursor(key: bytes, bound: str, cursor: str) -> int:
    try:
        seq, seal = json.loads(base64.urlsafe_b64decode(cursor))
        if hmac.compare_digest(digest(key, bound, str(int(seq))).hex(), str(seal)):
            return int(seq)
    except (ValueError, TypeError, OverflowError, RecursionError):
        pass
    raise CursorError("The cursor is not of this scope and these filters; start a new list.")
