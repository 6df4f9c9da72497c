"""Deduplication: finds records that only repeat another one, proposes or merges, and undoes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from muniment.errors import ConflictError, MunimentError, NotFoundError, ProviderError
from muniment.ports import OwnerState, Snapshot, Transaction
from muniment.records import Authority, Record, Statement, Status, WritePath
from muniment.results import Candidate, Outcome, Written
from muniment.rules.duplicates import Pair, duplicates
from muniment.rules.statement import check, statement_of
from muniment.scope import Scope
from muniment.services.filling import changes_since
from muniment.services.forgetting.choosing import every_record
from muniment.services.past import Admitted, Author, about
from muniment.services.reads import stored
from muniment.upkeep import Deduplication, Duplicate

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.gate import Gate
    from muniment.services.usage import UsageNotes

KEPT, DROPPED = "duplicate_kept", "duplicate_dropped"
MERGE, UNMERGE = "merge", "unmerge"
_JOB = Author("maintenance", WritePath.PROPOSE, Authority.INFERRED)
_PAGE = 1_000


@dataclass(slots=True)
class _Done:
    proposed: int = 0
    merged: int = 0
    left: int = 0


class Merging:
    """Compares the active records of each owner; what it replaces stays in the history."""

    def __init__(self, gate: Gate, usage: UsageNotes) -> None:
        self._gate = gate
        self._usage = usage

    def deduplicate(self, *, supersede: bool, rehearse: bool) -> Deduplication:
        """Find duplicates in every scope and space, and propose or merge them.

        Args:
            supersede: Whether to merge them at once; in a space they are proposed all the same.
            rehearse: Whether only to report.

        Raises:
            StoreError: The database failed; what was done stays done.
        """
        self._usage.flush()
        gate = self._gate
        with gate.store.snapshot() as view:
            owners = view.owners()
        done, found, examined = _Done(), list[Duplicate](), 0
        for state in owners:
            records, pairs = self._pairs(state)
            examined += records
            found += [
                Duplicate(state.owner, one.kept.memory_id, one.dropped.memory_id, one.likeness)
                for one in pairs
            ]
            for pair in () if rehearse else pairs:
                merges = supersede and isinstance(state.owner, Scope)
                self._settle(state.owner, pair, done, merges=merges)
        return Deduplication(
            examined=examined,
            groups=len({one.kept for one in found}),
            duplicates=tuple(found),
            proposed=done.proposed,
            merged=done.merged,
            left=done.left,
        )

    def _pairs(self, state: OwnerState) -> tuple[int, list[Pair]]:
        now = self._gate.clock.now()
        with self._gate.store.snapshot() as view:
            records = [one for one in every_record(view, state, now) if one.status is Status.ACTIVE]
            shown = {seq: usage.shown for seq, usage in view.usage(state).items()}
            likeness = _Likeness(view, state, self._slot(view))
            return len(records), duplicates(records, shown, likeness.cosine)

    def _slot(self, view: Snapshot) -> int | None:
        if self._gate.embedder is None:
            return None
        try:
            return view.slot(self._gate.embedder.model)
        except ProviderError:
            return None

    def _settle(self, owner: Owner, pair: Pair, done: _Done, *, merges: bool) -> None:
        def merge(tx: Transaction) -> bool:
            state = tx.owner(owner)
            if state is None or not _both_active(tx, state, pair, self._gate.clock.now()):
                return False
            self.merge(tx, state, pair.kept.memory_id, pair.dropped.memory_id, _JOB.actor)
            return True

        if merges:
            merged = self._gate.store.write(merge)
            done.merged += merged
            done.left += not merged
            return
        proposed = self._propose(owner, pair)
        done.proposed += proposed
        done.left += not proposed

    def _propose(self, owner: Owner, pair: Pair) -> bool:
        gate, now = self._gate, self._gate.clock.now()
        kept, dropped = pair.kept.memory_id, pair.dropped.memory_id
        said = replace(statement_of(pair.kept), source_id=f"{MERGE} {dropped} into {kept}")
        try:
            admitted = Admitted(said, check(said, gate.policy, now), ())
        except MunimentError:
            return False

        def work(tx: Transaction) -> bool:
            state = tx.owner(owner)
            if state is None or not _both_active(tx, state, pair, now):
                return False
            if tx.proposed(state, said.source_id) is not None:
                return False
            findings = (about(KEPT, kept), about(DROPPED, dropped))
            gate.contest(tx, state, admitted, _JOB, None, findings)
            return True

        return gate.store.write(work)

    def merge(
        self, tx: Transaction, state: OwnerState, kept: str, dropped: str, actor: str
    ) -> None:
        """Put a record behind the one that says the same. Runs inside the write transaction."""
        now = self._gate.clock.now()
        state = tx.bump(state)
        tx.merge(state, dropped, _oldest(tx, state, kept, now), kept, now)
        tx.append_audit(state, at=now, actor=actor, action=MERGE, memory_ids=[dropped, kept])

    def approve(
        self, tx: Transaction, state: OwnerState, candidate: Candidate, actor: str
    ) -> Written:
        """Do what a candidate proposes. Runs inside the write transaction.

        Raises:
            ConflictError: One of the two records is not active any more.
        """
        kept_id, dropped_id = merged_by(candidate)
        now = self._gate.clock.now()
        kept = tx.record(state, kept_id, now)
        dropped = tx.record(state, dropped_id, now)
        if kept is None or not (_is_active(kept) and _is_active(dropped)):
            raise ConflictError(
                "One of the two records is not active any more; reject the proposal.",
                candidate_id=candidate.candidate_id,
            )
        self.merge(tx, state, kept_id, dropped_id, actor)
        return Written(kept_id, Outcome.REPEATED, Status.ACTIVE, dropped_id, kept.embedding)

    def unmerge(self, owner: Owner, memory_id: str, author: Author) -> Record:
        """Make a record active again that a merge put behind another one.

        Raises:
            NotFoundError: The owner has no record that was merged.
            ConflictError: Another record about its field is active.
            TombstonedError: What it says was rejected, corrected or retracted since.
        """
        gate = self._gate
        with gate.store.snapshot() as view:
            record = stored(view, view.owner(owner), memory_id, gate.clock.now())
            said = None if record is None else statement_of(record)
        checked = None if said is None else check(_lasting(said), gate.policy, gate.clock.now())

        def work(tx: Transaction) -> Record:
            state, now = tx.owner(owner), gate.clock.now()
            record = stored(tx, state, memory_id, now)
            if state is None or record is None or checked is None:
                raise NotFoundError(_NOT_MERGED)
            root = record.superseded_by
            if root is None or not _was_merged(tx, state, memory_id):
                raise NotFoundError(_NOT_MERGED)
            gate.check_values(tx, state, checked, author)
            if gate.standing(tx, state, checked) is not None:
                raise ConflictError("Another record about the same field is active.")
            state = tx.bump(state)
            tx.unmerge(state, memory_id, root)
            tx.append_audit(
                state, at=now, actor=author.actor, action=UNMERGE, memory_ids=[memory_id, root]
            )
            found = tx.record(state, memory_id, now)
            assert found is not None
            return found

        return gate.write(owner, author, work)


_NOT_MERGED = "No merged record with this memory_id in this scope."


class _Likeness:
    """Cosines between the records of one owner; the vectors are read when the first is asked."""

    def __init__(self, view: Snapshot, state: OwnerState, slot: int | None) -> None:
        self._view = view
        self._state = state
        self._slot = slot
        self._vectors: Mapping[int, bytes | None] | None = None

    def cosine(self, one: int, other: int) -> float:
        if self._slot is None:
            return 0.0
        if self._vectors is None:
            rows = changes_since(self._view, self._state, 0, self._slot).rows
            self._vectors = {row.seq: row.vector for row in rows}
        pair = (self._vectors.get(one), self._vectors.get(other))
        if None in pair:
            return 0.0
        left, right = (np.frombuffer(vector or b"", dtype="<f4") for vector in pair)
        return float(left @ right)


def merged_by(candidate: Candidate) -> tuple[str, str]:
    """Return the records that a candidate proposes to merge, the one that stays first."""
    named = {one.name: one.memory_id or "" for one in candidate.findings}
    return named[KEPT], named[DROPPED]


def is_merge(candidate: Candidate) -> bool:
    """Return whether a candidate proposes to merge two records, and no statement."""
    by_the_job = candidate.actor == _JOB.actor
    return by_the_job and {KEPT, DROPPED} <= {one.name for one in candidate.findings}


def _lasting(said: Statement) -> Statement:
    """Return a statement without its times, which were checked when it was made."""
    return replace(said, source_id=UNMERGE, valid_from=None, valid_until=None)


def _both_active(view: Snapshot, state: OwnerState, pair: Pair, now: int) -> bool:
    ids = (pair.kept.memory_id, pair.dropped.memory_id)
    return all(_is_active(view.record(state, one, now)) for one in ids)


def _is_active(record: Record | None) -> bool:
    return record is not None and record.status is Status.ACTIVE


def _oldest(view: Snapshot, state: OwnerState, memory_id: str, now: int) -> str:
    seen = memory_id
    while (record := view.record(state, seen, now)) is not None and record.supersedes is not None:
        if view.record(state, record.supersedes, now) is None:
            break
        seen = record.supersedes
    return seen


def _was_merged(view: Snapshot, state: OwnerState, memory_id: str) -> bool:
    """Return whether the last thing that happened to a record was a merge."""
    last, after = "", 0
    while page := view.audit(state, after, _PAGE):
        for entry in page:
            if entry.action in (MERGE, UNMERGE) and entry.memory_ids[0] == memory_id:
                last = entry.action
        after = page[-1].number
    return last == MERGE
