"""Forgetting one record: its row, words and vectors go, a tombstone stays, a receipt says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.clock import from_instant, new_id
from muniment.errors import NotFoundError, StoreError
from muniment.ports import Traces, Transaction
from muniment.records import Record
from muniment.results import Receipt, Surface
from muniment.rules.statement import statement_of
from muniment.rules.tombstones import Burial
from muniment.services.gate import Gate
from muniment.services.reads import stored

if TYPE_CHECKING:
    from muniment.scope import Owner

_COMPACTION = (
    "Freed pages of the database and its log may hold old bytes until the store is compacted."
)
_CACHES = (
    "Another process may hold the record's packed words in memory until its next recall in this "
    "scope; it will not serve them."
)


class Forgetting:
    """Deletes records of one scope."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._store = gate.store
        self._clock = gate.clock

    def forget(self, owner: Owner, memory_id: str, *, actor: str, compact: bool) -> Receipt:
        """Forget one record and return the evidence.

        Args:
            owner: Whose it is.
            memory_id: The record, active or superseded.
            actor: Who asks.
            compact: Whether to rewrite the database at once, so that no byte of it is left.

        Raises:
            NotFoundError: The owner has no such record.
            StoreError: The database failed; the record is still there.
        """
        requested = self._clock.now()
        record, traces = self._store.write(lambda tx: self._remove(tx, owner, memory_id, actor))
        removed = self._clock.now()
        states = [("requested", requested), ("hidden", removed), ("derived", removed)]
        compacted = compact and self._compacted()
        if compacted:
            states.append(("compacted", self._clock.now()))
        surfaces = self._read_back(owner, record, traces)
        states.append(("verified", self._clock.now()))
        earlier = record.supersedes is not None or record.superseded_by is not None
        remains = [
            *([] if compacted else [_COMPACTION]),
            _CACHES,
            *(["Other versions of the statement remain in its history."] if earlier else []),
        ]
        return Receipt(
            receipt_id=new_id("rcp"),
            memory_ids=(memory_id,),
            states=tuple((name, from_instant(at)) for name, at in states),
            surfaces=surfaces,
            remains=tuple(remains),
        )

    def _compacted(self) -> bool:
        try:
            self._store.compact()
        except StoreError:
            return False
        return True

    def _remove(
        self, tx: Transaction, owner: Owner, memory_id: str, actor: str
    ) -> tuple[Record, Traces]:
        now = self._clock.now()
        state = tx.owner(owner)
        record = stored(tx, state, memory_id, now)
        if state is None or record is None:
            raise NotFoundError("No record with this memory_id in this scope.")
        state = tx.bump(state)
        traces = tx.remove(state, record)
        self._gate.bury(tx, state, statement_of(record), memory_id, Burial.FORGOTTEN)
        tx.append_audit(state, at=now, actor=actor, action="forget", memory_ids=[memory_id])
        return record, traces

    def _read_back(self, owner: Owner, record: Record, traces: Traces) -> tuple[Surface, ...]:
        with self._store.snapshot() as view:
            state = view.owner(owner)
            assert state is not None
            left = view.traces(state, record.seq)
        return tuple(
            Surface(name, found=found, removed=found, left=still)
            for name, found, still in zip(Traces._fields, traces, left, strict=True)
        )
