"""Records, words, vectors, tombstones and audit over one connection."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from muniment.ports import (
    EmbeddingModel,
    NewRecord,
    NewTombstone,
    OwnerState,
    PendingText,
    SealedRow,
    Traces,
    Usage,
)
from muniment.records import AuditEntry, Record, canonical_json
from muniment.results import Counts
from muniment.rules.filters import Facts
from muniment.scope import Owner
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.storage.base import (
    audit_digest,
    owner_values,
    texts_json,
    to_audit_entry,
    to_facts,
    to_owner,
    to_record,
)
from muniment.storage.guard import Guard
from muniment.storage.ledger import Connection, Ledger, key_of
from muniment.storage.past_view import PastSnapshot

__all__ = ["RecordSnapshot", "RecordTransaction", "key_of"]

_RESEALING = {
    "records": ("reseal_record", ("text", "metadata")),
    "words": ("reseal_words", ("words",)),
    "vectors": ("hold_vector", ("vector",)),
    "candidates": ("reseal_candidate", ("statement", "reason")),
    "blocks": ("put_block", ("content",)),
    "threads": ("reseal_thread", ("content",)),
    "entries": ("reseal_entry", ("label", "content")),
}


class RecordSnapshot(PastSnapshot):
    """A consistent view of records: lives inside one open transaction of its connection."""

    def _records(
        self, name: str, values: Mapping[str, Any], owner: OwnerState, now: int
    ) -> list[Record]:
        rows = self._checked("records", name, values)
        return [to_record(row, owner.owner, now) for row in rows]

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state, or None."""
        return self._state(owner, self._one("owner", owner_values(owner)))

    def _state(self, owner: Owner, found: tuple[Any, ...] | None) -> OwnerState | None:
        """Return the state of an owner from its own row, checked, or None."""
        row = self._own_row(found)
        return None if row is None else _state_of(owner, row)

    def next_is_last(self) -> None:
        """Do nothing: a view of a near database ends when it is closed."""

    def next_seq(self, owner: OwnerState) -> int:
        """Return the seq that the owner's next record or candidate will get."""
        ((seq,),) = self._all("next_seq_of", key_of(owner))
        return int(seq)

    def owners(self) -> list[OwnerState]:
        """Return every owner in the store."""
        return [to_owner(row) for row in self._all("owners", {})]

    def index_changes(self, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
        """Return the active rows that changed after a version, and those that left."""
        values = {**key_of(owner), "since": since, "slot": slot}
        name = "changed_rows" if since else "active_rows"
        rows = [IndexRow._make(row) for row in self._all(name, values)]
        gone = [row[0] for row in self._all("gone_rows", values)] if since else []
        return IndexChanges(rows, gone)

    def rows_as_of(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        """Return what a segment needs of the records that were active at a past instant."""
        values = {**key_of(owner), "at": at, "slot": slot}
        return [IndexRow._make(row) for row in self._all("rows_as_of", values)]

    def superseded_rows(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        """Return what a segment needs of the records that were superseded by an instant."""
        values = {**key_of(owner), "at": at, "slot": slot}
        return [IndexRow._make(row) for row in self._all("superseded_rows", values)]

    def usage(self, owner: OwnerState) -> dict[int, Usage]:
        """Return by seq how each record was used; those that never were are left out."""
        return {seq: Usage(*rest) for seq, *rest in self._all("usage", key_of(owner))}

    def records(self, owner: OwnerState, seqs: Sequence[int], now: int) -> list[Record]:
        """Return the records with these seq, in the order given."""
        values = {**key_of(owner), "seqs": str([*seqs])}
        found = {one.seq: one for one in self._records("whole_records", values, owner, now)}
        return [found[seq] for seq in seqs if seq in found]

    def record(self, owner: OwnerState, memory_id: str, now: int) -> Record | None:
        """Return one record of the scope, or None."""
        values = {**key_of(owner), "memory_id": memory_id}
        return next(iter(self._records("record_by_id", values, owner, now)), None)

    def active_field(self, owner: OwnerState, kind: str, field_key: str, now: int) -> Record | None:
        """Return the active record of a single-valued field, or None."""
        values = {**key_of(owner), "kind": kind, "field_key": field_key}
        return next(iter(self._records("active_field", values, owner, now)), None)

    def page(self, owner: OwnerState, before: int, limit: int, now: int) -> list[Record]:
        """Return records with a seq below `before`, newest first."""
        values = {**key_of(owner), "before": before, "limit": limit}
        return self._records("page", values, owner, now)

    def traces(self, owner: OwnerState, seq: int) -> Traces:
        """Return how many rows belong to the record with this seq."""
        ((records, words, vectors),) = self._all("traces", {**key_of(owner), "seq": seq})
        return Traces(records, words, vectors)

    def facts(self, owner: OwnerState) -> list[tuple[int, Facts]]:
        """Return seq and filterable facts of every active record, ordered by seq."""
        return [(row[0], to_facts(row)) for row in self._all("facts", key_of(owner))]

    def counts(self, owner: OwnerState, now: int) -> Counts:
        """Return how many rows the scope has."""
        values = {**key_of(owner), "now": now}
        ((active, superseded, expired, pending),) = self._all("counts", values)
        ((tombstones,),) = self._all("count_tombstones", values)
        ((threads, entries),) = self._all("count_threads", values)
        return Counts(active, superseded, expired, pending, tombstones, threads, entries)

    def pending(self, owner: OwnerState, slot: int, after: int, limit: int) -> list[PendingText]:
        """Return active records without a vector of the slot, in order."""
        values = {**key_of(owner), "slot": slot, "after": after, "limit": limit}
        return [PendingText._make(row) for row in self._all("pending", values)]

    def count_pending(self, owner: OwnerState, slot: int) -> int:
        """Return how many active records have no vector of the slot."""
        ((waiting,),) = self._all("count_pending", {**key_of(owner), "slot": slot})
        return int(waiting)

    def audit(self, owner: OwnerState, after: int, limit: int) -> list[AuditEntry]:
        """Return audit entries numbered above `after`, oldest first."""
        values = {**key_of(owner), "after": after, "limit": limit}
        return [to_audit_entry(row) for row in self._all("audit_page", values)]

    def slot(self, model: EmbeddingModel) -> int | None:
        """Return the number of a model, or None."""
        row = self._one("slot", _model_values(model))
        return None if row is None else int(row[0])


def _state_of(owner: Owner, row: Mapping[str, Any]) -> OwnerState:
    return OwnerState(owner, row["owner_no"], row["version"], row["incarnation"], row["label"])


def _model_values(model: EmbeddingModel) -> dict[str, Any]:
    return {"name": model.name, "version": model.version, "dimensions": model.dimensions}


class RecordTransaction(Ledger, RecordSnapshot):
    """A view that can also write records, inside the writer's open transaction."""

    def __init__(self, connection: Connection, sql: Mapping[str, str], guard: Guard) -> None:
        super().__init__(connection, sql, guard)
        self._numbers: dict[Owner, int] = {}
        self._slots: dict[EmbeddingModel, int] = {}

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state as this transaction leaves it, or None."""
        number = self._numbers.get(owner)
        if number is None:
            state = super().owner(owner)
            if state is not None:
                self._numbers[owner] = state.owner_no
            return state
        row = self._stored((owner.tenant_id, number))
        return None if row is None else _state_of(owner, row)

    def ensure_owner(self, owner: Owner, now: int) -> OwnerState:
        """Return the owner's state, creating it when it is new."""
        known = self.owner(owner)
        if known is not None:
            return known
        values = {**owner_values(owner), "incarnation": os.urandom(16), "created_at": now}
        for (owner_no,) in self._all("insert_owner", values):
            self._has_made(owner.tenant_id, owner_no)
            self._numbers[owner] = owner_no
        return self.ensure_owner(owner, now)

    def label(self, owner: OwnerState, sealed: bytes) -> None:
        """Keep the sealed parts of an owner whose columns hold only digests of them."""
        self._all("label_owner", {**key_of(owner), "label": sealed})

    def put_sealed(self, tenant_id: str, owner_no: int, row: SealedRow) -> None:
        """Put other ciphertexts of the same content in the place of a row's."""
        key = {"tenant_id": tenant_id, "owner_no": owner_no, "seq": row.seq, "slot": row.slot}
        name, columns = _RESEALING[row.table]
        self._all(name, {**key, **dict(zip(columns, row.parts, strict=True))})

    def ensure_slot(self, model: EmbeddingModel) -> int:
        """Return the number of a model, creating it when it is new."""
        if model not in self._slots:
            known = self.slot(model)
            if known is None:
                ((known,),) = self._all("insert_slot", _model_values(model))
            self._slots[model] = int(known)
        return self._slots[model]

    def bump(self, owner: OwnerState) -> OwnerState:
        """Add one to the scope's version and return the new state."""
        row = self._changing(key_of(owner))
        row["version"] += 1
        return _state_of(owner.owner, row)

    def next_seq(self, owner: OwnerState) -> int:
        """Return the seq that the owner's next record or candidate will get."""
        row = self._stored((owner.owner.tenant_id, owner.owner_no))
        assert row is not None, "an owner's own row is never removed"
        return int(row["last_seq"]) + 1

    def _take_seq(self, values: Mapping[str, Any]) -> int:
        """Take the next place in an owner's order of writing."""
        row = self._changing(values)
        row["last_seq"] += 1
        return int(row["last_seq"])

    def insert(self, owner: OwnerState, record: NewRecord) -> int:
        """Store a record, its words and its vector; return its seq."""
        key = key_of(owner)
        key["seq"] = seq = self._take_seq(key)
        values = {
            **key,
            "memory_id": record.memory_id,
            "kind": record.kind,
            "text": record.text,
            "field": record.field,
            "field_key": record.field_key,
            "value": None if record.value is None else canonical_json(record.value),
            "source_id": record.source_id,
            "path": record.path.value,
            "payload_digest": record.payload_digest,
            "authority": int(record.authority),
            "actor": record.actor,
            "approved_by": record.approved_by,
            "evidence": texts_json(record.evidence),
            "reference": record.reference,
            "follows": record.follows,
            "created_at": record.created_at,
            "valid_from": record.valid_from,
            "valid_until": record.valid_until,
            "expires_at": record.expires_at,
            "metadata": canonical_json(record.metadata) if record.metadata else "{}",
            "supersedes": record.supersedes,
            "status": record.status.value,
            "superseded_by": record.superseded_by,
            "superseded_at": record.superseded_at,
            "embedding": record.embedding.value,
            "changed_version": owner.version,
        }
        self._insert("records", "insert_record", values)
        self._insert("words", "insert_words", {**key, "words": record.words})
        if record.vector is not None:
            slot, vector = record.vector
            self._insert("vectors", "insert_vector", {**key, "slot": slot, "vector": vector})
        return seq

    def supersede(self, owner: OwnerState, old_id: str, new_id: str, now: int) -> None:
        """Mark a record as replaced by one that is inserted next."""
        values = {**key_of(owner), "old_id": old_id, "new_id": new_id, "now": now}
        self._checked("records", "whole_record_by_id", values)
        self._checked("candidates", "pending_about", values)
        self._all("mark_superseded", {**values, "version": owner.version})
        self._all("recontest_candidates", values)

    def merge(self, owner: OwnerState, old_id: str, root_id: str, kept_id: str, now: int) -> None:
        """Put a record and what it replaced before the oldest of another's versions."""
        values = {**key_of(owner), "old_id": old_id, "root_id": root_id, "new_id": root_id}
        self._checked("records", "whole_record_by_id", values)
        self._checked("records", "whole_record_by_id", {**values, "old_id": root_id})
        self._checked("candidates", "pending_about", values)
        self._all("mark_superseded", {**values, "now": now, "version": owner.version})
        self._all("link_older", values)
        self._all("recontest_candidates", {**values, "new_id": kept_id})

    def unmerge(self, owner: OwnerState, old_id: str, root_id: str) -> None:
        """Make a record active again that was merged into another one's history."""
        values = {**key_of(owner), "old_id": old_id, "root_id": root_id}
        self._checked("records", "whole_record_by_id", values)
        self._checked("records", "whole_record_by_id", {**values, "old_id": root_id})
        self._all("mark_active", {**values, "version": owner.version})
        self._all("link_older", {**values, "old_id": None})

    def add_usage(self, owner: OwnerState, seq: int, used: Usage) -> None:
        """Count how a record was used, unless it is gone."""
        self._all("add_usage", {**key_of(owner), "seq": seq, **used._asdict()})

    def set_vector(self, owner: OwnerState, seq: int, slot: int, vector: bytes) -> None:
        """Store a vector for an existing record, unless the record is gone."""
        values = {**key_of(owner), "seq": seq, "version": owner.version}
        self._checked("records", "whole_record", values)
        if self._all("mark_embedded", values):
            place = {**key_of(owner), "seq": seq, "slot": slot}
            self._all("delete_vector", place)
            self._insert("vectors", "insert_vector", {**place, "vector": vector})

    def drop_replaced_vectors(self, owner: OwnerState, slot: int) -> None:
        """Delete other models' vectors of every record that has one of the slot."""
        self._all("delete_replaced_vectors", {**key_of(owner), "slot": slot})

    def remove(self, owner: OwnerState, record: Record) -> Traces:
        """Delete a record, its words, its vectors and those that saw its text; log its seq."""
        values = {**key_of(owner), "seq": record.seq, "version": owner.version}
        followed = {**values, "memory_id": record.memory_id}
        self._all("delete_blocks", values)
        self._all("delete_follower_vectors", followed)
        self._all("unlink_followers", followed)
        vectors = self._deleted("delete_vectors", values)
        words = self._deleted("delete_words", values)
        self._all("delete_usage", values)
        records = self._deleted("delete_record", values)
        self._all("log_removal", values)
        return Traces(records, words, vectors)

    def _deleted(self, name: str, values: Mapping[str, Any]) -> int:
        return len(self._all(name, values))

    def bury(self, owner: OwnerState, tombstone: NewTombstone) -> None:
        """Store a tombstone."""
        values = {
            **key_of(owner),
            "memory_id": tombstone.memory_id,
            "source_digest": tombstone.source_digest,
            "value_digest": tombstone.value_digest,
            "reason": tombstone.reason,
            "created_at": tombstone.created_at,
        }
        self._all("insert_tombstone", values)

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
        """Add an entry to the scope's audit chain."""
        key = key_of(owner)
        own = self._changing(key)
        said = {
            **key,
            "number": own["audit_number"] + 1,
            "at": at,
            "actor": actor,
            "action": action,
            "reason": reason,
        }
        digest = audit_digest(
            self._guard.keys.audit(owner.owner), own["audit_digest"], memory_ids=memory_ids, **said
        )
        values = {**said, "memory_ids": texts_json(memory_ids), "digest": digest}
        own["audit_number"], own["audit_digest"] = said["number"], digest
        if sealed is not None:
            values |= {"actor": sealed, "reason": None}
        self._all("insert_audit", values)
