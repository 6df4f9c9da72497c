"""Candidates over one connection, and the whole of both ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from muniment.ports import NewCandidate, OwnerState
from muniment.records import Authority, Statement, canonical_json
from muniment.results import Candidate, CandidateStatus, Finding
from muniment.storage.base import statement_json, to_candidate
from muniment.storage.blocks_view import BlockSnapshot, BlockTransaction
from muniment.storage.copy_view import CopySource, CopyTarget
from muniment.storage.deletions_view import DeletionSnapshot, DeletionTransaction
from muniment.storage.inspect_view import RowInspection
from muniment.storage.rows_view import key_of


def _findings_json(findings: Sequence[Finding]) -> str:
    return canonical_json([finding.to_dict() for finding in findings])


class RowSnapshot(DeletionSnapshot, BlockSnapshot, RowInspection, CopySource):
    """The `Snapshot` port: a consistent view of records and candidates."""

    def _candidates(
        self, name: str, values: Mapping[str, Any], owner: OwnerState
    ) -> list[Candidate]:
        rows = self._checked("candidates", name, values)
        return [to_candidate(row, owner.owner) for row in rows]

    def candidate(self, owner: OwnerState, candidate_id: str) -> Candidate | None:
        """Return one candidate of the owner, or None."""
        values = {**key_of(owner), "candidate_id": candidate_id}
        return next(iter(self._candidates("candidate_by_id", values, owner)), None)

    def candidates(
        self, owner: OwnerState, status: CandidateStatus, before: int, limit: int
    ) -> list[Candidate]:
        """Return candidates with a seq below `before`, newest first."""
        values = {**key_of(owner), "status": status.value, "before": before, "limit": limit}
        return self._candidates("candidate_page", values, owner)

    def conflicts(self, owner: OwnerState) -> list[Candidate]:
        """Return the pending candidates that contradict an active record, oldest first."""
        return self._candidates("conflicts", key_of(owner), owner)

    def contested(self, owner: OwnerState) -> frozenset[str]:
        """Return the records that a pending candidate contradicts."""
        return frozenset(row[0] for row in self._all("contested", key_of(owner)))


class RowTransaction(RowSnapshot, DeletionTransaction, BlockTransaction, CopyTarget):
    """The `Transaction` port: a view that can also write."""

    def insert_candidate(self, owner: OwnerState, candidate: NewCandidate) -> None:
        """Store a pending candidate."""
        key = key_of(owner)
        values = {
            **key,
            "seq": self._take_seq(key),
            "candidate_id": candidate.candidate_id,
            "version": candidate.version,
            "statement": statement_json(candidate.statement),
            "content_hash": candidate.content_hash,
            "source_id": candidate.statement.source_id,
            "payload_digest": candidate.payload_digest,
            "path": candidate.path.value,
            "authority": int(candidate.authority),
            "actor": candidate.actor,
            "evidence": canonical_json(list(candidate.evidence)),
            "findings": _findings_json(candidate.findings),
            "contested": candidate.contested,
            "created_at": candidate.created_at,
        }
        self._all("insert_candidate", values)

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
        values = {
            **key_of(owner),
            "candidate_id": candidate_id,
            "statement": statement_json(statement),
            "content_hash": content_hash,
            "findings": _findings_json(findings),
            "contested": contested,
            "actor": actor,
            "authority": int(authority),
        }
        self._checked("candidates", "whole_candidate_by_id", values)
        self._all("revise_candidate", values)

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
        values = {
            **key_of(owner),
            "candidate_id": candidate_id,
            "status": status.value,
            "decided_at": at,
            "decided_by": by,
            "reason": reason,
            "memory_id": memory_id,
        }
        self._checked("candidates", "whole_candidate_by_id", values)
        self._all("decide_candidate", values)

    def lapse(self, owner: OwnerState, before: int, now: int) -> list[str]:
        """End the review of candidates made before an instant; return their ids."""
        values = {**key_of(owner), "before": before, "now": now}
        self._checked("candidates", "pending_before", values)
        rows = self._all("lapse_candidates", values)
        return [self._named("candidates", row)["candidate_id"] for row in rows]
