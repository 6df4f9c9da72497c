"""The verbs of one scope that propose, and those by which the person concerned decides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from muniment.errors import ForbiddenError
from muniment.records import Authority, JSONValue, Statement, WritePath
from muniment.results import Candidate, Written
from muniment.rules.arguments import checks_arguments
from muniment.scope import Space
from muniment.scoped.base import ScopedBase


@checks_arguments
class ScopedProposing(ScopedBase):
    """Propose candidates; look at one's own and decide about them."""

    def propose(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        evidence: Sequence[str] = (),
        proposer: str = "agent",
        space: Space | None = None,
        field: str | None = None,
        value: JSONValue = None,
        expires_at: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
    ) -> Candidate:
        """Propose an inferred statement. It is never recalled until somebody approves it.

        Args:
            text: The statement.
            kind: A kind of the policy that may be proposed.
            source_id: The application's stable id of the source: the idempotency key.
            evidence: Ids of the events it rests on.
            proposer: Who proposes: an agent or a job of the application.
            space: A readable shared space that it is proposed for; None for this scope.
            field: Name of the structured part.
            value: The structured part; any JSON value.
            expires_at: When to stop keeping the record.
            valid_from: From when it is true.
            valid_until: Until when it is true (exclusive).
            metadata: The application's own labels; JSON values.

        Raises:
            InvalidInputError: Something is missing, malformed or too long.
            RefusedError: Screening or the kind's policy refused it.
            ForbiddenError: The space is not one of this scope's readable spaces.
            ConflictError: The source_id already identifies a different statement.
            TombstonedError: The statement was forgotten, or its value rejected or corrected.
            StoreError: The database failed; nothing was written.
        """
        if space is not None and space not in self._spaces:
            raise ForbiddenError("The space is not one that this scope may read.")
        statement = Statement(
            kind=kind,
            text=text,
            source_id=source_id,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata={} if metadata is None else metadata,
        )
        return self._services.reviewing.propose(space or self._scope, statement, proposer, evidence)

    def candidates(
        self, *, status: str = "pending", limit: int = 50, before: int | None = None
    ) -> tuple[Candidate, ...]:
        """Return this scope's own candidates, newest first.

        Args:
            status: pending, approved, rejected or lapsed.
            limit: Most candidates to return, 1 to 1,000.
            before: The `seq` of the last candidate of the page before; None for the first page.

        Raises:
            InvalidInputError: An argument is out of range.
        """
        from muniment.rules.kinds import Reader

        return self._services.reviewing.list(self._scope, status, limit, before, Reader.SUBJECT)

    def candidate(self, candidate_id: str) -> Candidate:
        """Return one of this scope's own candidates.

        Raises:
            NotFoundError: This scope has no such candidate.
        """
        from muniment.rules.kinds import Reader

        return self._services.reviewing.show(self._scope, candidate_id, Reader.SUBJECT)

    def conflicts(self) -> tuple[Candidate, ...]:
        """Return the pending candidates of this scope that contradict an active record."""
        from muniment.rules.kinds import Reader

        return self._services.reviewing.conflicts(self._scope, Reader.SUBJECT)

    def approve(
        self,
        candidate_id: str,
        *,
        version: int,
        content_hash: str,
        override_tombstone: str | None = None,
    ) -> Written:
        """Approve a candidate in the name of the person concerned, exactly as it was shown.

        Args:
            candidate_id: The candidate.
            version: Its version, as shown.
            content_hash: Its content hash, as shown.
            override_tombstone: Why a value that was rejected or corrected may come back; audited.

        Raises:
            NotFoundError: This scope has no such candidate.
            StaleApprovalError: It, or the record it would replace, changed since it was shown.
            ConflictError: Its review has ended.
            TombstonedError: Its value was forgotten, rejected or corrected since.
        """
        from muniment.services.past import Author

        author = Author(
            "subject", WritePath.PROPOSE, Authority.EXPLICIT, override=override_tombstone
        )
        return self._services.reviewing.approve(
            self._scope, candidate_id, version=version, shown=content_hash, author=author
        )

    def reject(self, candidate_id: str, *, reason: str) -> Candidate:
        """Reject a candidate in the name of the person concerned; its value stays out.

        Raises:
            NotFoundError: This scope has no such candidate.
            ConflictError: Its review has ended.
        """
        return self._services.reviewing.reject(
            self._scope, candidate_id, reason=reason, actor="subject"
        )
