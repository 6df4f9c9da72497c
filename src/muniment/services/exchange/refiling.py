"""Stores the lines of an export inside one write transaction, by the rules of merging.

========================================= =====================================================
here already                              what happens to the line
========================================= =====================================================
the same id or source_id, the same words  skipped: known
the same id or source_id, other words     reported: conflict
a forgotten id, source_id or value        reported: tombstoned
a rejected or corrected value             reported: tombstoned, unless the line is history
an active record about the same field     reported: conflict, unless the line is history
an event, item or state of another name   stored, in its thread
nothing of the sort                       stored
========================================= =====================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muniment.clock import to_instant
from muniment.errors import ConflictError, InvalidInputError, TombstonedError
from muniment.ports import (
    ArchivedRecord,
    ImportedEntry,
    ImportedReceipt,
    NewCandidate,
    NewTombstone,
    ThreadRow,
    Transaction,
)
from muniment.records import Authority, Status, WritePath
from muniment.results import Candidate, CandidateStatus
from muniment.rules.statement import content_hash
from muniment.rules.tombstones import Burial
from muniment.services.exchange.knowing import Knowing, arrived_id
from muniment.services.exchange.ledger import LINE_ERRORS, Ledger
from muniment.services.exchange.reading import Item
from muniment.services.exchange.restocking import Restocking
from muniment.services.exchange.threads_lines import PlacedEntry
from muniment.services.gate import Gate
from muniment.services.past import Admitted, Author

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.review import Reviewing

_IDS_PER_ENTRY = 500


@dataclass(slots=True)
class Arrival:
    """One line on its way into the store.

    Attributes:
        item: The line.
        admitted: Its statement after the write gate, or None when it has none.
        inferred: Whether it is a record that nobody confirmed and so arrives as a candidate.
        vector: Its embedding, or None.
    """

    item: Item
    admitted: Admitted | None
    inferred: bool = False
    vector: bytes | None = None


def _check_history(kept: ArchivedRecord, now: int) -> None:
    """Refuse a superseded record that nothing superseded, or that something will."""
    if kept.record.status is not Status.SUPERSEDED:
        return
    made = to_instant("created_at", kept.record.created_at)
    ended = kept.superseded_at
    if kept.record.superseded_by is None or ended is None or not made <= ended <= now:
        raise InvalidInputError("A superseded record must say by what, and when in the past.")


class Refiling:
    """One owner's part of an import, inside the transaction.

    Args:
        gate: The write gate.
        reviewing: Files what arrives as a candidate.
        tx: The transaction.
        owner: Where it goes.
        ledger: The books.
    """

    def __init__(
        self, gate: Gate, reviewing: Reviewing, tx: Transaction, owner: Owner, ledger: Ledger
    ) -> None:
        self._gate = gate
        self._reviewing = reviewing
        self._tx = tx
        self._owner = owner
        self._ledger = ledger
        self._now = gate.clock.now()
        self._stored: dict[str, None] = {}

    def take(self, arrivals: Sequence[Arrival], *, moved: bool, file_hash: str) -> None:
        """Store what is new of an owner's lines, under one version and one run of audit entries.

        Args:
            arrivals: The lines, in the order of the file.
            moved: Whether they come from another scope, so that every id is made anew.
            file_hash: The file's own SHA-256, for the audit.
        """
        if not arrivals:
            return
        state = self._tx.bump(self._tx.ensure_owner(self._owner, self._now))
        self._state = state
        self._empty = not self._tx.audit(state, 0, 1)
        self._knowing = Knowing(self._gate, self._tx, state, moved=moved)
        self._restocking = Restocking(self._tx, state, self._gate.store.keys)
        self._audit([], f"{file_hash}{_head(arrivals)}", "import")
        for burying in (False, True):
            for one in arrivals:
                if isinstance(one.item.body, NewTombstone) is burying:
                    self._take(one)
        ids = list(self._stored)
        for start in range(0, len(ids), _IDS_PER_ENTRY):
            self._audit(ids[start : start + _IDS_PER_ENTRY], None, "imported")

    def _audit(self, ids: Sequence[str], reason: str | None, action: str) -> None:
        self._tx.append_audit(
            self._state,
            at=self._now,
            actor="operator",
            action=action,
            memory_ids=ids,
            reason=reason,
        )

    def _take(self, one: Arrival) -> None:
        line, body = one.item.line, one.item.body
        try:
            known = not self._store(one)
        except LINE_ERRORS as error:
            self._ledger.fail(line, error, arrived_id(body))
            return
        if known:
            self._ledger.skip(line, "known", arrived_id(body))
        else:
            self._ledger.saved += 1

    def _store(self, one: Arrival) -> bool:
        """Store a line; return whether it was new.

        Raises:
            ConflictError: Something else is here under its id, source_id or field.
            TombstonedError: It was forgotten, rejected or corrected here.
        """
        body, admitted = one.item.body, one.admitted
        if isinstance(body, ImportedEntry | ImportedReceipt | NewTombstone):
            return self._keep(body)
        if isinstance(body, ThreadRow | PlacedEntry):
            return self._restocking.take(body)
        assert admitted is not None
        if isinstance(body, Candidate):
            return self._store_candidate(body, admitted)
        if one.inferred:
            return self._propose(body, admitted)
        return self._store_record(body, admitted, one.vector)

    def _keep(self, body: ImportedEntry | ImportedReceipt | NewTombstone) -> bool:
        if isinstance(body, ImportedEntry):
            return self._keep_entry(body)
        if isinstance(body, ImportedReceipt):
            return self._keep_receipt(body)
        return self._bury(body)

    def _store_record(self, kept: ArchivedRecord, admitted: Admitted, vector: bytes | None) -> bool:
        record, knowing = kept.record, self._knowing
        if knowing.knows_record(record):
            return False
        past = record.status is Status.SUPERSEDED
        _check_history(kept, self._gate.clock.now())
        self._check_burials(admitted, record.memory_id, past=past)
        memory_id = knowing.name(record.memory_id)
        if not past:
            self._make_room(admitted, memory_id)
        author = Author(
            record.actor,
            record.source.path,
            record.authority,
            approved_by=record.approved_by,
            evidence=record.evidence,
        )
        made = to_instant("created_at", record.created_at)
        drafted = self._gate.draft_record(
            self._tx, self._state, admitted.checked, author, vector, None, made
        )
        new = drafted._replace(
            memory_id=memory_id,
            supersedes=knowing.maybe(record.supersedes),
            status=Status.SUPERSEDED if past else Status.ACTIVE,
            superseded_by=knowing.maybe(record.superseded_by),
            superseded_at=kept.superseded_at,
            expires_at=(
                None if record.expires_at is None else to_instant("expires_at", record.expires_at)
            ),
        )
        self._tx.insert(self._state, new)
        self._stored[memory_id] = None
        return True

    def _make_room(self, admitted: Admitted, memory_id: str) -> None:
        """Refuse a second active record about a field, unless the first one has expired."""
        standing = self._gate.standing(self._tx, self._state, admitted.checked)
        if standing is None:
            return
        if standing.in_force:
            raise ConflictError(
                "Another record about the same field is active here; an import never replaces it.",
                memory_id=standing.memory_id,
            )
        self._tx.supersede(self._state, standing.memory_id, memory_id, self._now)

    def _propose(self, kept: ArchivedRecord, admitted: Admitted) -> bool:
        record = kept.record
        if self._knowing.knows_record(record):
            return False
        if record.status is not Status.ACTIVE:
            raise ConflictError(
                "Nobody confirmed this replaced or expired record, so it is not taken in; import "
                "with trust 'operator'."
            )
        self._check_burials(admitted, record.memory_id, past=False)
        author = Author(
            record.actor, WritePath.PROPOSE, Authority.INFERRED, evidence=record.evidence
        )
        known = self._tx.proposed(self._state, admitted.checked.source_id)
        filed = self._reviewing.file_proposal(self._tx, self._owner, admitted, author)
        if known is not None:
            return False
        self._stored[filed] = None
        self._ledger.candidates += 1
        return True

    def _store_candidate(self, candidate: Candidate, admitted: Admitted) -> bool:
        knowing, pending = self._knowing, candidate.status is CandidateStatus.PENDING
        if knowing.knows_candidate(candidate):
            return False
        self._check_burials(admitted, candidate.candidate_id, past=not pending)
        contested = knowing.maybe(candidate.contested)
        if pending and not self._empty:
            standing = self._gate.standing(self._tx, self._state, admitted.checked)
            contested = standing.memory_id if standing and standing.in_force else None
        statement = candidate.statement
        new = NewCandidate(
            candidate_id=knowing.name(candidate.candidate_id),
            statement=statement,
            content_hash=(
                content_hash(statement) if pending else bytes.fromhex(candidate.content_hash)
            ),
            payload_digest=self._gate.payload_digest(self._owner, admitted.checked),
            path=candidate.path,
            authority=candidate.authority,
            actor=candidate.actor,
            evidence=candidate.evidence,
            findings=tuple(
                dict.fromkeys(
                    replace(finding, memory_id=knowing.maybe(finding.memory_id))
                    for finding in (*candidate.findings, *admitted.findings)
                )
            ),
            contested=contested,
            created_at=to_instant("created_at", candidate.created_at),
            version=candidate.version,
        )
        self._tx.insert_candidate(self._state, new)
        self._end_review(candidate, new.candidate_id)
        self._stored[new.candidate_id] = None
        self._ledger.candidates += pending
        return True

    def _end_review(self, candidate: Candidate, candidate_id: str) -> None:
        if candidate.decided_at is not None:
            self._tx.decide(
                self._state,
                candidate_id,
                status=candidate.status,
                at=to_instant("decided_at", candidate.decided_at),
                by=candidate.decided_by,
                reason=candidate.reason,
                memory_id=self._knowing.maybe(candidate.memory_id),
            )

    def _bury(self, tombstone: NewTombstone) -> bool:
        named = replace(tombstone, memory_id=self._knowing.name(tombstone.memory_id))
        if self._tx.has_tombstone(self._state, named):
            return False
        living = self._tx.record(self._state, named.memory_id, self._now)
        if living is not None and named.reason == Burial.FORGOTTEN:
            raise ConflictError(
                "The file says that this record was forgotten, and it is here; forget it.",
                memory_id=named.memory_id,
            )
        self._tx.bury(self._state, named)
        self._stored[named.memory_id] = None
        return True

    def _keep_entry(self, imported: ImportedEntry) -> bool:
        first = self._tx.audit(self._state, 0, 1)
        if first and first[0].digest == imported.chain:
            return False
        return self._tx.append_imported_audit(self._state, imported)

    def _keep_receipt(self, receipt: ImportedReceipt) -> bool:
        own = self._tx.receipt(self._owner.tenant_id, receipt.receipt_id)
        return own is None and self._tx.keep_receipt(self._state, receipt)

    def _check_burials(self, admitted: Admitted, item_id: str, *, past: bool) -> None:
        """Refuse what a tombstone that stood here before the import is against."""
        tx, state, gate = self._tx, self._state, self._gate
        found = set(tx.buried_id(state, item_id)) | set(
            tx.buried_id(state, self._knowing.name(item_id))
        )
        source = gate.source_digest(self._owner, admitted.checked.source_id)
        found |= {tx.buried_source(state, source) or ""}
        for value in gate.value_digests(self._owner, admitted.checked):
            found |= tx.buried_value(state, value)
        against = found & {Burial.FORGOTTEN} if past else found - {""}
        if against:
            raise TombstonedError(f"It was {_listed(against)} here, and an import cannot undo it.")


def _listed(reasons: Iterable[str]) -> str:
    return " and ".join(sorted(reasons))


def _head(arrivals: Sequence[Arrival]) -> str:
    """Return the last link of the chain that the file brings, as text for the audit."""
    entries = [one.item.body for one in arrivals if isinstance(one.item.body, ImportedEntry)]
    if not entries:
        return ""
    last = entries[-1].entry
    return f" continues {last.digest} at {last.number}"
