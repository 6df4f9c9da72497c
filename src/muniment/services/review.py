"""Candidates and their review: propose, look, approve exactly what was shown, or reject."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.errors import (
    ConflictError,
    InvalidInputError,
    StaleApprovalError,
)
from muniment.ports import OwnerState, Snapshot, Transaction
from muniment.records import Authority, Statement, WritePath
from muniment.results import Candidate, CandidateStatus, Finding, Written
from muniment.rules.statement import Checked, content_hash, field_key
from muniment.rules.tombstones import Burial
from muniment.scope import Scope
from muniment.services.candidates import Candidates, found
from muniment.services.gate import Gate
from muniment.services.likeness import Likeness
from muniment.services.merging import Merging, is_merge
from muniment.services.past import SAME_AS_ACTIVE, Admitted, Author, Standing, about

if TYPE_CHECKING:
    from muniment.scope import Owner

_OTHER, _STALE = "contradicts_active", "stale"
_COMPARED = (SAME_AS_ACTIVE, _OTHER, _STALE)


class Reviewing(Candidates):
    """Proposals of one owner, from their making to their end."""

    def __init__(self, gate: Gate, likeness: Likeness, merging: Merging) -> None:
        super().__init__(gate)
        self._likeness = likeness
        self._merging = merging

    def propose(
        self, owner: Owner, statement: Statement, proposer: str, evidence: Sequence[str]
    ) -> Candidate:
        """Store an inferred statement as a candidate; the same source_id gives the same one.

        Raises:
            InvalidInputError: The statement is malformed.
            RefusedError: Screening refused it, or the kind's policy lets no model propose it.
            ConflictError: Its source_id belongs to another statement.
            TombstonedError: It was forgotten, rejected or corrected.
        """
        gate = self._gate
        author = gate.proposer(owner, proposer, evidence)
        admitted = gate.admit(owner, statement, author)
        gate.check_access(owner, admitted, author, "propose")
        near = self._near(owner, admitted)
        candidate_id = gate.write(
            owner, author, lambda tx: self.file_proposal(tx, owner, admitted, author, near)
        )
        candidate = self.show(owner, candidate_id)
        if proposer in admitted.checked.rule.auto_approve and _is_clear(candidate):
            self.approve(
                owner,
                candidate_id,
                version=candidate.version,
                shown=candidate.content_hash,
                author=Author("policy", WritePath.PROPOSE, Authority.VERIFIED_OUTCOME),
            )
            return self.show(owner, candidate_id)
        said = (candidate.actor, candidate.evidence) == (author.actor, author.evidence)
        return candidate if said or isinstance(owner, Scope) else candidate.bare()

    def file_proposal(
        self,
        tx: Transaction,
        owner: Owner,
        admitted: Admitted,
        author: Author,
        near: tuple[Finding, ...] = (),
    ) -> str:
        """Store a candidate inside a write transaction; return its id, also when it is known.

        Raises:
            ConflictError: Its source_id belongs to another statement.
            TombstonedError: It was forgotten, rejected or corrected.
        """
        gate = self._gate
        state = tx.ensure_owner(owner, gate.clock.now())
        proposed = tx.proposed(state, admitted.checked.source_id)
        if proposed is not None and gate.is_payload(state, admitted, proposed.payload_digest):
            return proposed.candidate_id
        gate.check_new(tx, state, admitted)
        gate.check_tombstones(tx, state, admitted.checked, author)
        seen = (*admitted.findings, *near)
        contested, findings = self._compare(tx, state, admitted.checked, seen)
        written = gate.contest(tx, state, admitted, author, contested, findings)
        assert written.candidate_id is not None
        return written.candidate_id

    def _compare(
        self, view: Snapshot, state: OwnerState, checked: Checked, seen: tuple[Finding, ...]
    ) -> tuple[str | None, tuple[Finding, ...]]:
        """Return the record a statement contradicts, and everything a reviewer should see."""
        gate = self._gate
        now, findings = gate.clock.now(), list(seen)
        standing = gate.standing(view, state, checked)
        contested = None
        if standing is not None and standing.in_force:
            if standing.says(checked):
                findings.append(about(SAME_AS_ACTIVE, standing.memory_id))
            else:
                contested = standing.memory_id
                findings.append(about(_OTHER, contested))
        ends = [end for end in (checked.valid_until, checked.expires_at) if end is not None]
        if any(end <= now for end in ends):
            findings.append(about(_STALE, None))
        return contested, tuple(findings)

    def _near(self, owner: Owner, admitted: Admitted) -> tuple[Finding, ...]:
        (vector,) = self._gate.embed(owner, [admitted])
        now = self._gate.clock.now()
        alike = self._likeness.near(owner, admitted.checked.text, vector, now)
        return tuple(about("near_duplicate", memory_id) for memory_id in alike)

    def revise(self, owner: Owner, candidate_id: str, text: str, actor: str) -> Candidate:
        """Change the text of a pending candidate. What was shown before can no longer be approved.

        It is the reviewer's word then, and ranks no higher than that.

        Raises:
            NotFoundError: The owner has no such pending candidate.
            RefusedError: Screening refused the new text.
        """
        gate = self._gate
        old = _pending(self.show(owner, candidate_id))
        if is_merge(old):
            raise InvalidInputError("A proposal to merge two records has no text to change.")
        author = Author(actor, WritePath.PROPOSE, Authority.INFERRED, evidence=old.evidence)
        admitted = gate.admit(owner, replace(old.statement, text=text), author)
        near = self._near(owner, admitted)

        def work(tx: Transaction) -> None:
            state = tx.owner(owner)
            _pending(found(tx, state, candidate_id))
            assert state is not None
            gate.check_tombstones(tx, state, admitted.checked, author)
            seen = (*admitted.findings, *near)
            contested, findings = self._compare(tx, state, admitted.checked, seen)
            tx.revise(
                state,
                candidate_id,
                statement=admitted.statement,
                content_hash=content_hash(admitted.statement),
                findings=findings,
                contested=contested,
                actor=actor,
                authority=min(old.authority, Authority.APPROVED_SHARED),
            )
            tx.append_audit(
                state,
                at=gate.clock.now(),
                actor=actor,
                action="revise",
                memory_ids=[candidate_id],
            )

        gate.write(owner, author, work)
        return self.show(owner, candidate_id)

    def approve(
        self, owner: Owner, candidate_id: str, *, version: int, shown: str, author: Author
    ) -> Written:
        """Turn a pending candidate into a record, if it still is exactly what was shown.

        Where it contradicts an active record, approving it is the decision to replace that one.

        Args:
            owner: Whose it is.
            candidate_id: The candidate.
            version: Its version, as shown.
            shown: Its content hash, as shown.
            author: Who approves, and the rank that gives it.

        Raises:
            NotFoundError: The owner has no such pending candidate.
            StaleApprovalError: It, or the record it would replace, changed since it was shown.
            TombstonedError: Its value was rejected, corrected or forgotten since.
        """
        gate = self._gate
        seen = _pending(self.show(owner, candidate_id))
        admitted = gate.admit(owner, seen.statement, author)
        (vector,) = gate.embed(owner, [admitted])

        def work(tx: Transaction) -> Written | None:
            state = tx.owner(owner)
            candidate = _pending(found(tx, state, candidate_id))
            assert state is not None
            now_shown = (candidate.version, candidate.content_hash)
            if now_shown != (version, shown) or seen.content_hash != shown:
                raise StaleApprovalError(
                    "The candidate changed since it was shown; review it again."
                )
            return self._file_approved(tx, state, candidate, admitted, author, vector)

        written = gate.write(owner, author, work)
        if written is None:
            raise StaleApprovalError(
                "The record it would replace changed since it was shown; the candidate was "
                "compared anew, review it again."
            )
        return written

    def _file_approved(
        self,
        tx: Transaction,
        state: OwnerState,
        candidate: Candidate,
        admitted: Admitted,
        author: Author,
        vector: bytes | None,
    ) -> Written | None:
        """Store what was approved, or None when it meets another record than was shown."""
        gate = self._gate
        if is_merge(candidate):
            merged = self._merging.approve(tx, state, candidate, author.actor)
            self._decide_approved(tx, state, candidate, author, merged)
            return merged
        standing = gate.standing(tx, state, admitted.checked)
        if _met(candidate) != (standing.memory_id if standing and standing.in_force else None):
            self._compare_anew(tx, state, candidate, admitted.checked)
            return None
        by = replace(
            author,
            actor=candidate.actor,
            approved_by=author.actor,
            evidence=candidate.evidence,
            path=candidate.path,
            authority=max(author.authority, candidate.authority),
        )
        replacing = None if standing is None else standing.memory_id
        written = gate.file_approved(tx, state, admitted, by, vector, replacing=replacing)
        self._decide_approved(tx, state, candidate, author, written)
        return written

    def _decide_approved(
        self,
        tx: Transaction,
        state: OwnerState,
        candidate: Candidate,
        author: Author,
        written: Written,
    ) -> None:
        gate = self._gate
        tx.decide(
            state,
            candidate.candidate_id,
            status=CandidateStatus.APPROVED,
            at=gate.clock.now(),
            by=author.actor,
            reason=author.override,
            memory_id=written.memory_id,
        )
        tx.append_audit(
            state,
            at=gate.clock.now(),
            actor=author.actor,
            action="approve",
            memory_ids=[candidate.candidate_id, written.memory_id],
            reason=author.override,
        )

    def _compare_anew(
        self, tx: Transaction, state: OwnerState, candidate: Candidate, checked: Checked
    ) -> None:
        seen = tuple(one for one in candidate.findings if one.name not in _COMPARED)
        contested, findings = self._compare(tx, state, checked, seen)
        tx.revise(
            state,
            candidate.candidate_id,
            statement=candidate.statement,
            content_hash=content_hash(candidate.statement),
            findings=findings,
            contested=contested,
            actor=candidate.actor,
            authority=candidate.authority,
        )

    def reject(self, owner: Owner, candidate_id: str, *, reason: str, actor: str) -> Candidate:
        """End a candidate's review and keep its value out from now on.

        Raises:
            NotFoundError: The owner has no such pending candidate.
            InvalidInputError: The reason is blank or too long.
            RefusedError: Screening refused the reason.
        """
        gate = self._gate
        gate.check_reason(owner, reason, Author(actor, WritePath.PROPOSE, Authority.INFERRED))

        def work(tx: Transaction) -> None:
            state = tx.owner(owner)
            candidate = _pending(found(tx, state, candidate_id))
            assert state is not None
            now = gate.clock.now()
            tx.decide(
                state,
                candidate_id,
                status=CandidateStatus.REJECTED,
                at=now,
                by=actor,
                reason=reason,
                memory_id=None,
            )
            self._bury(tx, state, candidate)
            tx.append_audit(state, at=now, actor=actor, action="reject", memory_ids=[candidate_id])

        gate.store.write(work)
        return self.show(owner, candidate_id)

    def _bury(self, tx: Transaction, state: OwnerState, candidate: Candidate) -> None:
        """Keep out what a rejected candidate says; one that proposes a merge says nothing new."""
        if is_merge(candidate):
            return
        said = candidate.statement
        standing = self._holder(tx, state, said)
        spared = standing.statement if standing and standing.in_force else None
        self._gate.bury(tx, state, said, candidate.candidate_id, Burial.REJECTED, sparing=spared)

    def _holder(self, view: Snapshot, state: OwnerState, said: Statement) -> Standing | None:
        """Return the record of a statement's field, also of a kind that the policy dropped."""
        policy = self._gate.policy
        rule = policy.kinds.get(policy.aliases.get(said.kind, said.kind))
        if rule is None or not rule.one_per_field or said.field is None:
            return None
        return self._gate.holder(view, state, rule.name, field_key(said.field))


def _met(candidate: Candidate) -> str | None:
    """Return the active record that a reviewer was shown beside a candidate."""
    same = (one.memory_id for one in candidate.findings if one.name == SAME_AS_ACTIVE)
    return candidate.contested or next(same, None)


def _is_clear(candidate: Candidate) -> bool:
    return not candidate.findings and candidate.status is CandidateStatus.PENDING


def _pending(candidate: Candidate) -> Candidate:
    if candidate.status is not CandidateStatus.PENDING:
        raise ConflictError(
            f"The candidate's review has ended: it is {candidate.status.value}.",
            candidate_id=candidate.candidate_id,
        )
    return candidate
