"""The database as the core sees it: consistent views, and transactions that keep all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, TypeVar

from muniment.keys import Keys
from muniment.ports.archive import ArchiveView, ArchiveWriter
from muniment.ports.blocks import BlockView, BlockWriter
from muniment.ports.deletions import DeletionView, DeletionWriter
from muniment.ports.integrity import Anchored, InspectionView, SealedRow
from muniment.ports.keys import MasterKey
from muniment.ports.models import EmbeddingModel
from muniment.ports.past import PastView
from muniment.ports.rows import (
    NewCandidate,
    NewRecord,
    NewTombstone,
    OwnerState,
    PendingText,
    Traces,
    Usage,
)
from muniment.ports.threads import ThreadView, ThreadWriter
from muniment.records import AuditEntry, Authority, Record, Statement
from muniment.results import Candidate, CandidateStatus, Counts, Finding, StoreInfo
from muniment.rules.filters import Facts
from muniment.scope import Owner
from muniment.segment.rows import IndexChanges, IndexRow

T = TypeVar("T")


class Snapshot(
    ArchiveView, BlockView, DeletionView, InspectionView, PastView, ThreadView, Protocol
):
    """A consistent, read-only view of the store at one moment."""

    def owner(self, owner: Owner) -> OwnerState | None:
        """Return the owner's state, or None when nothing was ever written to it."""
        ...

    def index_changes(self, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
        """Return what changed after version `since`; everything active when it is 0.

        Args:
            owner: The scope.
            since: A version returned earlier for the same incarnation, or 0.
            slot: The model whose vectors are wanted, or None for none.
        """
        ...

    def rows_as_of(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        """Return what a segment needs of the records that were active at a past instant."""
        ...

    def superseded_rows(self, owner: OwnerState, at: int, slot: int | None) -> list[IndexRow]:
        """Return what a segment needs of the records that were superseded by an instant."""
        ...

    def records(self, owner: OwnerState, seqs: Sequence[int], now: int) -> list[Record]:
        """Return the records with these seq, in the order given; missing ones are left out."""
        ...

    def record(self, owner: OwnerState, memory_id: str, now: int) -> Record | None:
        """Return one record of the scope, whatever its status, or None."""
        ...

    def active_field(self, owner: OwnerState, kind: str, field_key: str, now: int) -> Record | None:
        """Return the active record of a single-valued field, or None."""
        ...

    def page(self, owner: OwnerState, before: int, limit: int, now: int) -> list[Record]:
        """Return up to `limit` records with a seq below `before`, newest first, any status."""
        ...

    def candidate(self, owner: OwnerState, candidate_id: str) -> Candidate | None:
        """Return one candidate of the owner, whatever its status, or None."""
        ...

    def candidates(
        self, owner: OwnerState, status: CandidateStatus, before: int, limit: int
    ) -> list[Candidate]:
        """Return up to `limit` candidates with a seq below `before`, newest first."""
        ...

    def conflicts(self, owner: OwnerState) -> list[Candidate]:
        """Return the pending candidates that contradict an active record, oldest first."""
        ...

    def contested(self, owner: OwnerState) -> frozenset[str]:
        """Return the records that a pending candidate contradicts."""
        ...

    def usage(self, owner: OwnerState) -> dict[int, Usage]:
        """Return by seq how each record was used; those that never were are left out."""
        ...

    def traces(self, owner: OwnerState, seq: int) -> Traces:
        """Return how many rows belong to the record with this seq."""
        ...

    def facts(self, owner: OwnerState) -> list[tuple[int, Facts]]:
        """Return seq and filterable facts of every active record, ordered by seq."""
        ...

    def counts(self, owner: OwnerState, now: int) -> Counts:
        """Return how many rows the scope has."""
        ...

    def pending(self, owner: OwnerState, slot: int, after: int, limit: int) -> list[PendingText]:
        """Return active records without a vector of the slot and a seq above `after`, in order."""
        ...

    def count_pending(self, owner: OwnerState, slot: int) -> int:
        """Return how many active records have no vector of the slot."""
        ...

    def audit(self, owner: OwnerState, after: int, limit: int) -> list[AuditEntry]:
        """Return up to `limit` audit entries numbered above `after`, oldest first."""
        ...

    def owners(self) -> list[OwnerState]:
        """Return every owner in the store. For maintenance and `doctor`; never for a caller."""
        ...

    def slot(self, model: EmbeddingModel) -> int | None:
        """Return the number of a model, or None when no vector of it was ever stored."""
        ...

    def next_is_last(self) -> None:
        """Say that one more read follows and none after it: a far view ends in its round trip."""
        ...

    def next_seq(self, owner: OwnerState) -> int:
        """Return the seq that the owner's next record or candidate will get."""
        ...


class Transaction(Snapshot, ArchiveWriter, BlockWriter, DeletionWriter, ThreadWriter, Protocol):
    """A view that can also write. Everything in it commits together or not at all."""

    def ensure_owner(self, owner: Owner, now: int) -> OwnerState:
        """Return the owner's state, creating it when it is new."""
        ...

    def label(self, owner: OwnerState, sealed: bytes) -> None:
        """Keep the sealed parts of an owner whose columns hold only digests of them."""
        ...

    def put_sealed(self, tenant_id: str, owner_no: int, row: SealedRow) -> None:
        """Put other ciphertexts of the same content in the place of a row's."""
        ...

    def ensure_slot(self, model: EmbeddingModel) -> int:
        """Return the number of a model, creating it when it is new."""
        ...

    def bump(self, owner: OwnerState) -> OwnerState:
        """Add one to the scope's version and return the new state."""
        ...

    def insert(self, owner: OwnerState, record: NewRecord) -> int:
        """Store a record, its words and its vector under the owner's version; return its seq."""
        ...

    def supersede(self, owner: OwnerState, old_id: str, new_id: str, now: int) -> None:
        """Mark a record as replaced by one that is inserted next, in the same transaction.

        Pending candidates that contradicted the old record contradict the new one from now on.
        """
        ...

    def merge(self, owner: OwnerState, old_id: str, root_id: str, kept_id: str, now: int) -> None:
        """Mark an active record as replaced by another one that says the same.

        It and its older versions come before the oldest version of the other in its history.
        Pending candidates that contradicted it contradict the other from now on.

        Args:
            owner: Whose they are.
            old_id: The record.
            root_id: The oldest version of the other one.
            kept_id: The other one.
            now: The present instant, microseconds since 1970, UTC.
        """
        ...

    def unmerge(self, owner: OwnerState, old_id: str, root_id: str) -> None:
        """Undo a merge: the record is active again, and out of the other's history."""
        ...

    def add_usage(self, owner: OwnerState, seq: int, used: Usage) -> None:
        """Count how a record was used, unless it is gone. Does not change the version."""
        ...

    def insert_candidate(self, owner: OwnerState, candidate: NewCandidate) -> None:
        """Store a pending candidate."""
        ...

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
        """Give a pending candidate new content and so a new version."""
        ...

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
        """End a candidate's review."""
        ...

    def lapse(self, owner: OwnerState, before: int, now: int) -> list[str]:
        """End the review of candidates made before an instant; return their ids."""
        ...

    def set_vector(self, owner: OwnerState, seq: int, slot: int, vector: bytes) -> None:
        """Store a vector for an existing record, unless the record is gone."""
        ...

    def drop_replaced_vectors(self, owner: OwnerState, slot: int) -> None:
        """Delete other models' vectors of every record that has one of the slot."""
        ...

    def remove(self, owner: OwnerState, record: Record) -> Traces:
        """Delete a record, its words and its vectors, and log its seq.

        Records that followed it lose the vectors that saw its text and wait to be embedded anew.
        """
        ...

    def bury(self, owner: OwnerState, tombstone: NewTombstone) -> None:
        """Store a tombstone."""
        ...

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
        """Add an entry to the scope's audit chain.

        Args:
            owner: Whose chain.
            at: The instant.
            actor: Who did it.
            action: What was done.
            memory_ids: The records concerned.
            reason: A code for why, or None.
            sealed: What to keep in the place of actor and reason; the chain covers those
                themselves.
        """
        ...


class Store(Protocol):
    """Durable rows. Safe to use from many threads; several processes may share one database."""

    @property
    def keys(self) -> Keys:
        """The keys derived from the store's own random bytes."""
        ...

    def snapshot(
        self, owners: Sequence[Owner] = (), *, brief: bool = False
    ) -> AbstractContextManager[Snapshot]:
        """Open a consistent view. Never waits for a writer.

        Args:
            owners: Whom it is about; a far database then reads their states in the round trip that
                opens the view, what contradicts their records in another one, and may read what
                is large of theirs from a replica that shows the same.
            brief: Whether it is for one small read before a write, which decides nothing: a near
                database then reads where it writes, and may give owners' states as it saw them
                last.

        Raises:
            StoreError: The database cannot be read.
        """
        ...

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a write transaction and return its result once it is durable.

        Several callers may share one commit. If `work` raises, all it did is undone, its
        neighbours are not, and the error is raised here. `work` may run on another caller's
        thread, and again after a race was lost.

        Raises:
            StoreBusyError: The write lock could not be had in time.
            StoreError: The transaction failed; nothing of it was kept.
        """
        ...

    def compact(self) -> None:
        """Rewrite the database so that no deleted byte is left in it.

        Raises:
            StoreBusyError: A reader or writer is in the way.
        """
        ...

    def shred(self, owner: OwnerState) -> bool:
        """Destroy the data keys of an erased owner, so that old copies are unreadable too.

        Args:
            owner: The owner with the incarnation that was erased; what was written under a later
                one stays readable.

        Returns:
            Whether it is done; False when the store is not sealed.
        """
        ...

    def reseal(self, owner: OwnerState) -> bool:
        """Give an owner a new data key, seal all its rows again and destroy the old key.

        What was removed before is then unreadable in old copies too. May be interrupted and
        repeated; reading and writing work meanwhile.

        Returns:
            Whether it is done; False when the store is not sealed.
        """
        ...

    def rotate_master(self, master: MasterKey | None) -> int:
        """Guard the data keys by another master key, all or nothing.

        Args:
            master: The other one; None for a new key in the store's own key file.

        Returns:
            How many data keys there are.

        Raises:
            InvalidInputError: The store is not sealed, or its key is elsewhere and none is given.
        """
        ...

    def anchor(self, *, renew: bool = False) -> None:
        """Note the present state of every owner outside the database.

        Happens by itself when the store is closed and every so many commits.

        Args:
            renew: Whether to make a new anchor, so that the present state is believed.
        """
        ...

    def anchored(self, path: Path | None = None) -> Anchored | None:
        """Return what the anchor says; None for a store that never had one.

        Args:
            path: A copy of the anchor that was kept elsewhere; None for the store's own.
        """
        ...

    def info(self) -> StoreInfo:
        """Return facts about the store."""
        ...

    def close(self) -> None:
        """Release every file and connection. Closing twice is allowed."""
        ...
