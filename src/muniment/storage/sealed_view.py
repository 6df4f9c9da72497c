"""Reading through a seal: what the core sees is open, what the database sees is not."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeVar

from muniment.clock import is_id
from muniment.ports import (
    ArchivedRecord,
    Block,
    Deletion,
    ExpiredRow,
    Filed,
    Head,
    Hidden,
    ImportedEntry,
    Inspection,
    OwnerState,
    PendingText,
    Proposed,
    Reveal,
    Snapshot,
)
from muniment.ports.blocks import Room
from muniment.records import AuditEntry, Record
from muniment.results import Candidate, CandidateStatus, Counts, Flaw
from muniment.rules.filters import Facts
from muniment.scope import Owner
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.storage.scratch import scratch
from muniment.storage.sealed_facts import Opened, OpenFacts, print_of
from muniment.storage.sealed_names import (
    Names,
    labelled,
    opened_candidate,
    opened_record,
    sealed_part,
)
from muniment.storage.sealed_pieces import all_sealed, block_column, can_open
from muniment.storage.sealing import Sealer, Unreadable
from muniment.storage.vault import DataKey, Place, Vault

T = TypeVar("T")
_FILTERED = ("field", "value", "source_id", "actor", "metadata")


def through(name: str) -> Callable[..., Any]:
    """Return a method that hands its call to the inner view: nothing in it is sealed."""

    def call(self: SealedSnapshot, *args: object, **named: object) -> object:
        return getattr(self._inner, name)(*args, **named)

    return call


class SealedSnapshot:
    """The `Snapshot` port over another one, opened.

    A row whose key was destroyed is not there. What was altered is an error.

    Args:
        inner: What the database sees.
        vault: The owners' data keys.
        names: Digests of names.
        known: Facts that were opened before, or None to open them each time.
    """

    def __init__(
        self, inner: Snapshot, vault: Vault, names: Names, known: OpenFacts | None = None
    ) -> None:
        self._inner = inner
        self._vault = vault
        self._names = names
        self._known = known
        self._sealers: dict[tuple[str, int, bytes], Sealer] = {}

    block_places = through("block_places")
    buried_source = through("buried_source")
    buried_value = through("buried_value")
    contested = through("contested")
    count_pending = through("count_pending")
    count_traces = through("count_traces")
    deletion_state = through("deletion_state")
    has_tombstone = through("has_tombstone")
    heads = through("heads")
    imported_receipts = through("imported_receipts")
    is_taken = through("is_taken")
    item_ids = through("item_ids")
    next_is_last = through("next_is_last")
    next_seq = through("next_seq")
    packed_vectors = through("packed_vectors")
    packed_version = through("packed_version")
    receipt = through("receipt")
    receipt_head = through("receipt_head")
    receipt_link = through("receipt_link")
    receipts = through("receipts")
    sealed_rows = through("sealed_rows")
    slot = through("slot")
    slots = through("slots")
    tombstones = through("tombstones")
    traces = through("traces")
    usage = through("usage")

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
        del owner
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

    def blocks(
        self, owner: OwnerState, slot: int | None, room: Room | None = None
    ) -> Iterator[Block]:
        del room
        with scratch() as sealed:
            yield from self._blocks(owner, self._inner.blocks(owner, slot, sealed))

    def vector_blocks(self, owner: OwnerState, slot: int, low: int, high: int) -> list[Block]:
        return list(self._blocks(owner, self._inner.vector_blocks(owner, slot, low, high)))

    def _blocks(self, owner: OwnerState, blocks: Iterable[Block]) -> Iterator[Block]:
        sealer = self._sealer(owner)
        return self._each_opened(
            blocks,
            lambda one: one._replace(content=sealer.open(block_column(one), one.seq, one.content)),
        )

    def own_vectors(self, owner: OwnerState, slot: int) -> list[tuple[int, bytes]]:
        return self._sealer(owner).open_all(f"vector:{slot}", self._inner.own_vectors(owner, slot))

    def rows_as_of(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        return self._sealer(owner).open_rows(self._inner.rows_as_of(owner, at, slot), slot)

    def superseded_rows(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        return self._sealer(owner).open_rows(self._inner.superseded_rows(owner, at, slot), slot)

    def _opened(self, items: Iterable[T], opened: Callable[[T], T]) -> list[T]:
        """Return what can be opened; what was shredded is left out."""
        return list(self._each_opened(items, opened))

    def _each_opened(self, items: Iterable[T], opened: Callable[[T], T]) -> Iterator[T]:
        for item in items:
            with suppress(Unreadable):
                yield opened(item)

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

    def filed_among(self, owner: OwnerState, source_ids: Sequence[str]) -> frozenset[str]:
        if self._sealer(owner).is_shredded:
            return frozenset()
        masked = {self._mac(owner, "source_id", one): one for one in source_ids}
        found = self._inner.filed_among(owner, list(masked))
        return frozenset(masked[one] for one in found)

    def has_precedent(
        self,
        owner: OwnerState,
        source_id: str,
        source_digest: bytes,
        value_digests: Sequence[bytes],
    ) -> bool:
        masked = self._mac(owner, "source_id", source_id)
        return self._inner.has_precedent(owner, masked, source_digest, value_digests)

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
        if self._known is None:
            return self._opened_facts(owner, {})[0]
        known = self._known.get(owner)
        if known is None:
            known, prints = self._opened_facts(owner, self._known.before(owner))
            self._known.put(owner, known, prints)
        return known

    def _opened_facts(
        self, owner: OwnerState, before: Mapping[int, Opened]
    ) -> tuple[list[tuple[int, Facts]], list[bytes]]:
        opened = self._sealer(owner).text_opener("labels")
        rows: list[tuple[int, Facts]] = []
        prints: list[bytes] = []
        for seq, facts in self._inner.facts(owner):
            sealed = sealed_part(facts["metadata"])
            printed, known = print_of(sealed), before.get(seq)
            try:
                same = known is not None and known.print == printed
                said = known.facts if same and known else json.loads(opened(seq, sealed))
            except Unreadable:
                continue
            rows.append((seq, {**facts, **{name: said[name] for name in _FILTERED}}))
            prints.append(printed)
        return rows, prints

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

    def buried_id(self, owner: OwnerState, memory_id: str) -> frozenset[str]:
        """Look up ids that were made here; any other is a source's name and marks no tombstone."""
        return self._inner.buried_id(owner, memory_id) if is_id(memory_id) else frozenset()

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
        rows, entries, flaws = self._inner.inspect(head, noted, self._names.revealed)
        keys = self._vault.data_keys(Place(head.tenant_id, head.owner_no))
        sealer = Sealer(keys, head.incarnation)
        unreadable = [
            Flaw("unreadable", head.tenant_id, head.owner_no, row.table, str(row.seq))
            for row in all_sealed(self._inner, head)
            if not can_open(row, sealer)
        ]
        return Inspection(rows, entries, (*flaws, *unreadable))
