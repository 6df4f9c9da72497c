"""Writing through a seal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from muniment.ports import (
    Block,
    Deletion,
    Head,
    ImportedEntry,
    NewCandidate,
    NewRecord,
    OwnerState,
    Transaction,
)
from muniment.ports.blocks import Thinner
from muniment.records import Authority, Record, Statement
from muniment.results import CandidateStatus, Finding
from muniment.scope import Owner
from muniment.segment.matrix import without
from muniment.storage.sealed_names import (
    SEALED,
    candidate_text,
    owner_label,
    sealed_candidate,
    sealed_decision,
    sealed_record,
    sealed_statement,
)
from muniment.storage.sealed_pieces import block_column
from muniment.storage.sealed_threads import SealedThreadWriter
from muniment.storage.sealed_view import through
from muniment.storage.sealing import Sealer, Unreadable
from muniment.storage.vault import DataKey, Place


class SealedTransaction(SealedThreadWriter):
    """The `Transaction` port over another one: seals what it writes."""

    _inner: Transaction

    add_usage = through("add_usage")
    append_receipt = through("append_receipt")
    archive = through("archive")
    bump = through("bump")
    bury = through("bury")
    drop_block = through("drop_block")
    drop_items = through("drop_items")
    drop_replaced_vectors = through("drop_replaced_vectors")
    drop_words = through("drop_words")
    ensure_slot = through("ensure_slot")
    erase = through("erase")
    hide = through("hide")
    keep_receipt = through("keep_receipt")
    label = through("label")
    lapse = through("lapse")
    note_candidates = through("note_candidates")
    put_sealed = through("put_sealed")
    remove = through("remove")
    retire_tombstones = through("retire_tombstones")
    merge = through("merge")
    supersede = through("supersede")
    unmerge = through("unmerge")

    def _renewed(self, owner: OwnerState) -> Mapping[int, DataKey]:
        return self._key_of(Place(owner.owner.tenant_id, owner.owner_no), owner.incarnation)

    def _key_of(self, place: Place, incarnation: bytes) -> Mapping[int, DataKey]:
        """Give an owner's incarnation a key; durable before anything sealed with it commits."""
        self._vault.add(place, incarnation)
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

    def put_block(self, owner: OwnerState, block: Block) -> None:
        sealed = self._sealer(owner).seal(block_column(block), block.seq, block.content)
        self._inner.put_block(owner, block._replace(content=sealed))

    def hold(self, owner: OwnerState, slot: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        sealer, column = self._sealer(owner), f"vector:{slot}"
        sealed = [(seq, one and sealer.seal(column, seq, one)) for seq, one in vectors]
        self._inner.hold(owner, slot, sealed)

    def tidy(self, thinner: Thinner | None = None) -> None:
        """Take vectors that were removed out of their blocks, opened and sealed again."""
        self._inner.tidy(thinner or self._thinned)

    def _thinned(self, head: Head, block: Block, seqs: AbstractSet[int], /) -> bytes | None:
        place = Place(head.tenant_id, head.owner_no)
        keys = self._vault.data_keys(place)
        sealer = Sealer(keys, head.incarnation, lambda: self._key_of(place, head.incarnation))
        column = block_column(block)
        try:
            held = sealer.open(column, block.seq, block.content)
        except Unreadable:
            return None
        kept = without(held, seqs)
        if kept is held:
            return block.content
        return kept and sealer.seal(column, block.seq, kept)

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
        authority: Authority,
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
            authority=authority,
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
