"""What a store knows of an export's lines already, and the ids they have here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.errors import ConflictError
from muniment.keys import digest
from muniment.ports import (
    ArchivedRecord,
    ImportedEntry,
    ImportedReceipt,
    OwnerState,
    Snapshot,
    ThreadRow,
)
from muniment.results import Candidate
from muniment.rules.statement import check, statement_of
from muniment.services.exchange.threads_lines import PlacedEntry

if TYPE_CHECKING:
    from muniment.records import Record, Statement
    from muniment.services.exchange.reading import Body
    from muniment.services.gate import Gate
    from muniment.services.past import Admitted


class Knowing:
    """Compares the lines of an export with what an owner has.

    Args:
        gate: The write gate.
        view: The store.
        state: The owner.
        moved: Whether the lines come from another scope, so that every id is made anew.
    """

    def __init__(self, gate: Gate, view: Snapshot, state: OwnerState, *, moved: bool) -> None:
        self._gate = gate
        self._view = view
        self._state = state
        self._moved = moved
        self._names: dict[str, str] = {}
        self._now = gate.clock.now()

    def name(self, item_id: str) -> str:
        """Return the id that a record or candidate of the file has here.

        It is its own, unless the file is another scope's or another owner of the tenant has the
        same id. Then it is made from the owner and the id, so that it is the same every time.
        """
        if item_id not in self._names:
            new = self._moved or self._view.is_taken(self._state, item_id)
            self._names[item_id] = self._made(item_id) if new else item_id
        return self._names[item_id]

    def maybe(self, item_id: str | None) -> str | None:
        """Return the id here of a record or candidate that a line refers to, or None."""
        return None if item_id is None else self.name(item_id)

    def _made(self, item_id: str) -> str:
        owner = self._state.owner
        key = self._gate.store.keys.tombstone(owner)
        parts = (type(owner).__name__, *owner.to_dict().values(), item_id)
        return f"{item_id.partition('_')[0]}_{digest(key, 'moved', *parts).hex()}"

    def knows(self, body: Body) -> bool:
        """Return whether a record or candidate is here; False for anything else.

        Raises:
            ConflictError: Something else is here under its id or source_id.
        """
        if isinstance(body, ArchivedRecord):
            return self.knows_record(body.record)
        return isinstance(body, Candidate) and self.knows_candidate(body)

    def knows_record(self, record: Record) -> bool:
        """Return whether a record is here.

        Raises:
            ConflictError: Something else is here under its id or source_id.
        """
        view, state = self._view, self._state
        here = view.record(state, self.name(record.memory_id), self._now)
        if here is None:
            filed = view.filed(state, record.source.source_id, self._now)
            here = filed and view.record(state, filed.memory_id, self._now)
        if here is not None:
            return _same(statement_of(here), statement_of(record))
        proposed = view.proposed(state, record.source.source_id)
        waiting = proposed and view.candidate(state, proposed.candidate_id)
        if waiting is not None and waiting.decided_at is None:
            return _same(waiting.statement, statement_of(record))
        return False

    def knows_candidate(self, candidate: Candidate) -> bool:
        """Return whether a candidate is here, or the record it could become.

        Raises:
            ConflictError: Something else is here under its id or source_id.
        """
        view, state, source_id = self._view, self._state, candidate.statement.source_id
        here = view.candidate(state, self.name(candidate.candidate_id))
        if here is None:
            proposed = view.proposed(state, source_id)
            here = proposed and view.candidate(state, proposed.candidate_id)
        if here is not None:
            return _same(here.statement, candidate.statement)
        filed = view.filed(state, source_id, self._now)
        record = filed and view.record(state, filed.memory_id, self._now)
        if record is None or candidate.decided_at is not None:
            return False
        return _same(statement_of(record), candidate.statement)


def arrived_id(body: Body) -> str | None:
    """Return the file's id of what a line holds, or None for audit entries and threads."""
    if isinstance(body, ImportedEntry | ThreadRow | PlacedEntry):
        return None
    if isinstance(body, ImportedReceipt):
        return body.receipt_id
    if isinstance(body, ArchivedRecord):
        return body.record.memory_id
    return body.candidate_id if isinstance(body, Candidate) else body.memory_id


def as_written(admitted: Admitted, made: int, gate: Gate) -> Admitted:
    """Return a statement as its writer gave it: an expiry that its kind gave was not the writer's.

    A retry with the same source_id is then known here as it was where it comes from.

    Args:
        admitted: The statement with its expiry.
        made: When it was made there, microseconds since 1970, UTC.
        gate: The write gate, whose policy has the kind.
    """
    rule = admitted.checked.rule
    if rule.lifetime is None or admitted.checked.expires_at != made + rule.lifetime:
        return admitted
    if "expires_at" in rule.requires:
        return admitted
    given = replace(admitted.statement, expires_at=None)
    payload = check(given, gate.policy, made).payload
    return admitted._replace(checked=admitted.checked._replace(payload=payload))


def _same(here: Statement, there: Statement) -> bool:
    """Return True if two statements are one.

    Raises:
        ConflictError: They are not.
    """
    if replace(here, follows=None).to_dict() != replace(there, follows=None).to_dict():
        raise ConflictError("A different statement is here under the same id or source_id.")
    return True
