"""Reading and writing through a seal: what the core sees is open, what the database sees is not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from muniment.ports import (
    ArchivedRecord,
    Deletion,
    ExpiredRow,
    Filed,
    Head,
    Hidden,
    ImportedEntry,
    Inspection,
    NewCandidate,
    NewRecord,
    OwnerState,
    PendingText,
    Proposed,
    Reveal,
    Snapshot,
    Transaction,
)
from muniment.records import AuditEntry, Record, Statement
from muniment.results import Candidate, CandidateStatus, Counts, Finding, Flaw
from muniment.rules.filters import Facts
from muniment.scope import Owner
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.storage.sealed_names import (
    SEALED,
    Names,
    candidate_text,
    labelled,
    labels_of,
    opened_candidate,
    opened_record,
    owner_label,
    sealed_candidate,
    sealed_decision,
    sealed_record,
    sealed_statement,
)
from muniment.storage.sealed_pieces import all_sealed, can_open
from muniment.storage.sealing import Sealer, Unreadable
from muniment.storage.vault import DataKey, Place, Vault

T = TypeVar("T")
_FILTERED = ("field", "value", "source_id", "actor", "metadata")


def _through(name: str) -> Any:
    """Return a method that hands its call to the inner view: nothing in it is sealed."""

    def call(self: SealedSnapshot, *args: Any, **named: Any) -> Any:
        return getattr(self._inner, name)(*args, **named)

    return call


class SealedSnapshot:
    """The `Snapshot` port over another one, opened.

    A row whose key was destroyed is not there. What was altered is an error.

    Args:
        inner: What the database sees.
        vault: The owners' data keys.
        names: Digests of names.
    """

    def __init__(self, inner: Snapshot, vault: Vault, names: Names) -> None:
        self._inner = inner
        self._vault = vault
        self._names = names
        self._sealers: dict[tuple[str, int, bytes], Sealer] = {}

    buried_source = _through("buried_source")
    buried_value = _through("buried_value")
    buried_id = _through("buried_id")
    contested = _through("contested")
    count_pending = _through("count_pending")
    count_traces = _through("count_traces")
    deletion_state = _through("deletion_state")
    has_tombstone = _through("has_tombstone")
    heads = _through("heads")
    imported_receipts = _through("imported_receipts")
    is_taken = _through("is_taken")
    item_ids = _through("item_ids")
    next_seq = _through("next_seq")
    receipt = _through("receipt")
    receipt_head = _through("receipt_head")
    receipt_link = _through("receipt_link")
    receipts = _through("receipts")
    sealed_rows = _through("sealed_rows")
    slot = _through("slot")
    tombstones = _through("tombstones")
    traces = _through("traces")

    def _sealer(self, owner: OwnerState) -> Sealer:
        place = Place(owner.owner.tenant_id, owner.owner_no)
        known = self._sealers.get((*place, owner.incarnation))
        if known is None:
            known = Sealer(
                self._vault.data_keys(place), owner.incarnation, lambda: self._renewed(owner)
            )
            self._sealers[(*place, owner.incarnation)] = known
        return known

    def _renewed(self, owner: OwnerState) -> Mapping[int, DataKey]:
        raise AssertionError("a snapshot does not write")

    def _mac(self, owner: OwnerState, sort: str, name: str) -> str:
        return self._names.name(owner.owner.tenant_id, sort, name)

    def _real(self, state: OwnerState) -> OwnerState | None:
        """Return an owner by its own parts, or None when their key was destroyed."""
        if state.label is None:
            return None
        try:
            return replace(state, owner=labelled(self._sealer(state).open("owner", 0, state.label)))
        except Unreadable:
            return None

    def _all_real(self, states: Iterable[OwnerState]) -> list[OwnerState]:
        return [real for state in states if (real := self._real(state)) is not None]

    def owner(self, owner: Owner) -> OwnerState | None:
        state = self._inner.owner(self._names.owner(owner))
        return None if state is None else replace(state, owner=owner)

    def owners(self) -> list[OwnerState]:
        return self._all_real(self._inner.owners())

    def owners_of_user(self, tenant_id: str, user_id: str) -> list[OwnerState]:
        masked = self._names.name(tenant_id, "user", user_id)
        return self._all_real(self._inner.owners_of_user(tenant_id, masked))

    def index_changes(self, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
        rows, gone = self._inner.index_changes(owner, since, slot)
        return IndexChanges(self._sealer(owner).open_rows(rows, slot), gone)

    def rows_as_of(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        return self._sealer(owner).open_rows(self._inner.rows_as_of(owner, at, slot), slot)

    def superseded_rows(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        return self._sealer(owner).open_rows(self._inner.superseded_rows(owner, at, slot), slot)

    def _opened(self, items: Iterable[T], opened: Callable[[T], T]) -> list[T]:
        """Return what can be opened; what was shredded is left out."""
        found = []
        for item in items:
            try:
                found.append(opened(item))
            except Unreadable:
                continue
        return found

    def _records(self, owner: OwnerState, records: Iterable[Record]) -> list[Record]:
        sealer = self._sealer(owner)
        return self._opened(records, lambda one: opened_record(one, owner.owner, sealer))

    def _candidates(self, owner: OwnerState, candidates: Iterable[Candidate]) -> list[Candidate]:
        sealer = self._sealer(owner)
        return self._opened(candidates, lambda one: opened_candidate(one, owner.owner, sealer))

    def records(self, owner: OwnerState, seqs: Sequence[int], now: int) -> list[Record]:
        return self._records(owner, self._inner.records(owner, seqs, now))

    def _one(self, owner: OwnerState, record: Record | None) -> Record | None:
        return next(iter(self._records(owner, () if record is None else (record,))), None)

    def record(self, owner: OwnerState, memory_id: str, now: int) -> Record | None:
        return self._one(owner, self._inner.record(owner, memory_id, now))

    def active_field(self, owner: OwnerState, kind: str, field_key: str, now: int) -> Record | None:
        masked = self._mac(owner, "field_key", field_key)
        return self._one(owner, self._inner.active_field(owner, kind, masked, now))

    def filed(self, owner: OwnerState, source_id: str, now: int) -> Filed | None:
        filed = self._inner.filed(owner, self._mac(owner, "source_id", source_id), now)
        if filed is not None and self._sealer(owner).is_shredded:
            return None
        return filed

    def page(self, owner: OwnerState, before: int, limit: int, now: int) -> list[Record]:
        return self._records(owner, self._inner.page(owner, before, limit, now))

    def inferred(self, owner: OwnerState, now: int) -> list[Record]:
        return self._records(owner, self._inner.inferred(owner, now))

    def archived_records(
        self, owner: OwnerState, after: int, limit: int, now: int
    ) -> list[ArchivedRecord]:
        sealer = self._sealer(owner)
        return self._opened(
            self._inner.archived_records(owner, after, limit, now),
            lambda one: one._replace(record=opened_record(one.record, owner.owner, sealer)),
        )

    def archived_candidates(self, owner: OwnerState, after: int, limit: int) -> list[Candidate]:
        return self._candidates(owner, self._inner.archived_candidates(owner, after, limit))

    def candidate(self, owner: OwnerState, candidate_id: str) -> Candidate | None:
        found = self._inner.candidate(owner, candidate_id)
        return next(iter(self._candidates(owner, () if found is None else (found,))), None)

    def proposed(self, owner: OwnerState, source_id: str) -> Proposed | None:
        if self._sealer(owner).is_shredded:
            return None
        return self._inner.proposed(owner, self._mac(owner, "source_id", source_id))

    def candidates(
        self, owner: OwnerState, status: CandidateStatus, before: int, limit: int
    ) -> list[Candidate]:
        return self._candidates(owner, self._inner.candidates(owner, status, before, limit))

    def conflicts(self, owner: OwnerState) -> list[Candidate]:
        return self._candidates(owner, self._inner.conflicts(owner))

    def facts(self, owner: OwnerState) -> list[tuple[int, Facts]]:
        sealer = self._sealer(owner)

        def opened(row: tuple[int, Facts]) -> tuple[int, Facts]:
            seq, facts = row
            said = labels_of(facts["metadata"], seq, sealer)
            return seq, {**facts, **{name: said[name] for name in _FILTERED}}

        return self._opened(self._inner.facts(owner), opened)

    def counts(self, owner: OwnerState, now: int) -> Counts:
        counts = self._inner.counts(owner, now)
        if self._sealer(owner).is_shredded:
            return Counts(tombstones=counts.tombstones)
        return counts

    def pending(self, owner: OwnerState, slot: int, after: int, limit: int) -> list[PendingText]:
        sealer = self._sealer(owner)
        return self._opened(
            self._inner.pending(owner, slot, after, limit),
            lambda one: one._replace(text=sealer.open_text("text", one.seq, one.text)),
        )

    def audit(self, owner: OwnerState, after: int, limit: int) -> list[AuditEntry]:
        place = owner.owner.tenant_id, owner.owner_no
        entries = self._inner.audit(owner, after, limit)
        return [self._names.opened(*place, entry) for entry in entries]

    def imported_audit(self, owner: OwnerState, after: int, limit: int) -> list[ImportedEntry]:
        place = owner.owner.tenant_id, owner.owner_no
        imported = self._inner.imported_audit(owner, after, limit)
        return [one._replace(entry=self._names.opened(*place, one.entry)) for one in imported]

    def hidden(self, owner: OwnerState, source_id: str) -> Hidden:
        return self._inner.hidden(owner, self._mac(owner, "source_id", source_id))

    def expired(self, now: int, limit: int) -> list[ExpiredRow]:
        rows = self._inner.expired(now, limit)
        return [row._replace(owner=self._real(row.owner) or row.owner) for row in rows]

    def deletion(self, tenant_id: str, deletion_id: str) -> list[Deletion]:
        return [self._deletion(one) for one in self._inner.deletion(tenant_id, deletion_id)]

    def open_deletions(self) -> list[Deletion]:
        return [self._deletion(one) for one in self._inner.open_deletions()]

    def _deletion(self, deletion: Deletion) -> Deletion:
        state = deletion.owner
        (actor,) = self._names.words(state.owner.tenant_id, state.owner_no, deletion.actor)
        return replace(deletion, owner=self._real(state) or state, actor=actor)

    def inspect(self, head: Head, noted: Head | None, reveal: Reveal | None = None) -> Inspection:
        del reveal
        rows, entries, flaws = self._inner.inspect(
            head, noted, lambda one, entry: self._names.opened(one.tenant_id, one.owner_no, entry)
        )
        keys = self._vault.data_keys(Place(head.tenant_id, head.owner_no))
        sealer = Sealer(keys, head.incarnation)
        unreadable = [
            Flaw("unreadable", head.tenant_id, head.owner_no, row.table, str(row.seq))
            for row in all_sealed(self._inner, head)
            if not can_open(row, sealer)
        ]
        return Inspection(rows, entries, (*flaws, *unreadable))


class SealedTransaction(SealedSnapshot):
    """The `Transaction` port over another one: seals what it writes."""

    _inner: Transaction

    append_receipt = _through("append_receipt")
    archive = _through("archive")
    bump = _through("bump")
    bury = _through("bury")
    drop_items = _through("drop_items")
    drop_replaced_vectors = _through("drop_replaced_vectors")
    ensure_slot = _through("ensure_slot")
    erase = _through("erase")
    hide = _through("hide")
    keep_receipt = _through("keep_receipt")
    label = _through("label")
    lapse = _through("lapse")
    note_candidates = _through("note_candidates")
    put_sealed = _through("put_sealed")
    remove = _through("remove")
    retire_tombstones = _through("retire_tombstones")
    supersede = _through("supersede")

    def _renewed(self, owner: OwnerState) -> Mapping[int, DataKey]:
        """Give an owner's incarnation a key; durable before anything sealed with it commits."""
        place = Place(owner.owner.tenant_id, owner.owner_no)
        self._vault.add(place, owner.incarnation)
        return self._vault.data_keys(place)

    def _labelled(self, owner: OwnerState) -> OwnerState:
        sealed = self._sealer(owner).seal("owner", 0, owner_label(owner.owner))
        self._inner.label(owner, sealed)
        return replace(owner, label=sealed)

    def ensure_owner(self, owner: Owner, now: int) -> OwnerState:
        state = replace(self._inner.ensure_owner(self._names.owner(owner), now), owner=owner)
        if state.label is None or self._sealer(state).generation is None:
            return self._labelled(state)
        return state

    def renew(self, owner: OwnerState) -> OwnerState:
        return self._labelled(self._inner.renew(owner))

    def relabel(self, owner: OwnerState) -> None:
        """Seal an owner's parts with the newest key."""
        if owner.label is not None and not self._sealer(owner).is_current(owner.label):
            self._labelled(owner)

    def doomed(self, owner: OwnerState, deletion_id: str, limit: int, now: int) -> list[Record]:
        return self._records(owner, self._inner.doomed(owner, deletion_id, limit, now))

    def insert(self, owner: OwnerState, record: NewRecord) -> int:
        seq = self._inner.next_seq(owner)
        tenant = owner.owner.tenant_id
        sealed = sealed_record(record, seq, self._sealer(owner), self._names, tenant)
        return self._inner.insert(owner, sealed)

    def set_vector(self, owner: OwnerState, seq: int, slot: int, vector: bytes) -> None:
        sealed = self._sealer(owner).seal(f"vector:{slot}", seq, vector)
        self._inner.set_vector(owner, seq, slot, sealed)

    def insert_candidate(self, owner: OwnerState, candidate: NewCandidate) -> None:
        seq = self._inner.next_seq(owner)
        tenant = owner.owner.tenant_id
        sealed = sealed_candidate(candidate, seq, self._sealer(owner), self._names, tenant)
        self._inner.insert_candidate(owner, sealed)

    def revise(
        self,
        owner: OwnerState,
        candidate_id: str,
        *,
        statement: Statement,
        content_hash: bytes,
        findings: Sequence[Finding],
        contested: str | None,
        actor: str,
    ) -> None:
        old = self.candidate(owner, candidate_id)
        if old is None:
            return
        text = candidate_text(statement, content_hash, actor, old.evidence, tuple(findings))
        sealed = self._sealer(owner).seal_text("candidate", old.seq, text)
        self._inner.revise(
            owner,
            candidate_id,
            statement=sealed_statement(statement, sealed, self._names, owner.owner.tenant_id),
            content_hash=b"",
            findings=(),
            contested=contested,
            actor=SEALED,
        )

    def decide(
        self,
        owner: OwnerState,
        candidate_id: str,
        *,
        status: CandidateStatus,
        at: int,
        by: str | None,
        reason: str | None,
        memory_id: str | None,
    ) -> None:
        candidate = self._inner.candidate(owner, candidate_id)
        if candidate is None:
            return
        self._inner.decide(
            owner,
            candidate_id,
            status=status,
            at=at,
            by=None if by is None else SEALED,
            reason=sealed_decision(by, reason, candidate.seq, self._sealer(owner)),
            memory_id=memory_id,
        )

    def append_audit(
        self,
        owner: OwnerState,
        *,
        at: int,
        actor: str,
        action: str,
        memory_ids: Sequence[str],
        reason: str | None = None,
        sealed: str | None = None,
    ) -> None:
        del sealed
        self._inner.append_audit(
            owner,
            at=at,
            actor=actor,
            action=action,
            memory_ids=memory_ids,
            reason=reason,
            sealed=self._names.note(owner.owner.tenant_id, owner.owner_no, actor, reason),
        )

    def append_imported_audit(self, owner: OwnerState, imported: ImportedEntry) -> bool:
        entry = imported.entry
        note = self._names.note(owner.owner.tenant_id, owner.owner_no, entry.actor, entry.reason)
        sealed = replace(entry, actor=note, reason=None)
        return self._inner.append_imported_audit(owner, imported._replace(entry=sealed))

    def open_deletion(self, deletion: Deletion) -> None:
        state = deletion.owner
        note = self._names.note(state.owner.tenant_id, state.owner_no, deletion.actor)
        self._inner.open_deletion(replace(deletion, actor=note))

    def save_deletion(self, deletion: Deletion) -> None:
        state = deletion.owner
        note = self._names.note(state.owner.tenant_id, state.owner_no, deletion.actor)
        self._inner.save_deletion(replace(deletion, actor=note))
