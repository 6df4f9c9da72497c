"""Where a reviewer decides about candidates within its reach."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from muniment.errors import ForbiddenError, InvalidInputError, NotFoundError
from muniment.records import Authority, Record, WritePath
from muniment.results import Candidate, Receipt, Written
from muniment.rules.arguments import checks_arguments
from muniment.rules.limits import check_limit
from muniment.scope import Owner, Principal, Role, Scope, Space

if TYPE_CHECKING:
    from muniment.scoped.base import Services


LONGEST_LIST = 1000


@checks_arguments
class ReviewDesk:
    """The candidates of every scope and space that one reviewer reaches."""

    def __init__(self, services: Services, principal: Principal) -> None:
        if Role.REVIEWER not in principal.roles:
            raise ForbiddenError("Only a principal with the role reviewer may review.")
        self._services = services
        self._principal = principal

    def candidates(
        self, *, status: str = "pending", limit: int = 50, owner: Owner | None = None
    ) -> tuple[Candidate, ...]:
        """Return candidates within reach, newest first within each scope.

        Args:
            status: pending, approved, rejected or lapsed.
            limit: Most candidates to return, 1 to 1,000.
            owner: Only those of one scope or space; None for all within reach.

        Raises:
            ForbiddenError: The owner is out of reach.
            InvalidInputError: An argument is out of range.
        """
        from muniment.rules.kinds import Reader

        check_limit(limit, LONGEST_LIST)
        owners = self._reached() if owner is None else (self._within(owner),)
        found: list[Candidate] = []
        for one in owners:
            room = limit - len(found)
            if room <= 0:
                break
            found += self._services.reviewing.list(one, status, room, None, Reader.REVIEWER)
        return tuple(found)

    def candidate(self, owner: Owner, candidate_id: str) -> Candidate:
        """Return one candidate.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such candidate.
        """
        from muniment.rules.kinds import Reader

        return self._services.reviewing.show(self._within(owner), candidate_id, Reader.REVIEWER)

    def find(self, candidate_id: str) -> Candidate:
        """Return a candidate within reach by its id alone; it says whose it is.

        Raises:
            NotFoundError: No scope or space within reach has such a candidate.
        """
        from muniment.rules.kinds import Reader

        for owner in self._reached():
            with suppress(NotFoundError):
                return self._services.reviewing.show(owner, candidate_id, Reader.REVIEWER)
        raise NotFoundError("No candidate with this id within the reviewer's reach.")

    def record(self, owner: Owner, memory_id: str) -> Record:
        """Return a record, such as the one that a candidate would replace.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such record, or it has expired.
        """
        from muniment.rules.kinds import Reader

        return self._services.reads.get(self._within(owner), memory_id, Reader.REVIEWER)

    def conflicts(self) -> tuple[Candidate, ...]:
        """Return the pending candidates within reach that contradict an active record."""
        from muniment.rules.kinds import Reader

        return tuple(
            candidate
            for owner in self._reached()
            for candidate in self._services.reviewing.conflicts(owner, Reader.REVIEWER)
        )

    def revise(self, owner: Owner, candidate_id: str, *, text: str) -> Candidate:
        """Change the text of a pending candidate; what was shown before can not be approved now.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such candidate.
            RefusedError: Screening refused the new text.
        """
        return self._services.reviewing.revise(
            self._within(owner), candidate_id, text, self._principal.principal_id
        )

    def approve(
        self,
        owner: Owner,
        candidate_id: str,
        *,
        version: int,
        content_hash: str,
        override_tombstone: str | None = None,
    ) -> Written:
        """Approve a candidate exactly as it was shown.

        Where it contradicts an active record, approving it is the decision to replace that one.

        Args:
            owner: Whose it is.
            candidate_id: The candidate.
            version: Its version, as shown.
            content_hash: Its content hash, as shown.
            override_tombstone: Why a value that was rejected or corrected may come back; audited.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such candidate.
            StaleApprovalError: It, or the record it would replace, changed since it was shown.
            ConflictError: Its review has ended.
            TombstonedError: Its value was forgotten, rejected or corrected since.
        """
        from muniment.services.past import Author

        author = Author(
            self._principal.principal_id,
            WritePath.PROPOSE,
            Authority.APPROVED_SHARED,
            override=override_tombstone,
        )
        return self._services.reviewing.approve(
            self._within(owner), candidate_id, version=version, shown=content_hash, author=author
        )

    def reject(self, owner: Owner, candidate_id: str, *, reason: str) -> Candidate:
        """Reject a candidate; its value stays out from now on.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such candidate.
            ConflictError: Its review has ended.
        """
        return self._services.reviewing.reject(
            self._within(owner), candidate_id, reason=reason, actor=self._principal.principal_id
        )

    def correct(self, owner: Owner, memory_id: str, **changes: object) -> Written:
        """Replace an active record by a corrected one; the old value stays out from now on.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such active record.
            InvalidInputError: A change is malformed, or nothing changes.
            RefusedError: Screening refused the text.
            TombstonedError: The new value was rejected or corrected before.
        """
        from muniment.services.past import Author

        author = Author(self._principal.principal_id, WritePath.CORRECT, Authority.APPROVED_SHARED)
        return self._services.writes.correct(self._within(owner), memory_id, changes, author)

    def forget(self, owner: Owner, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record of a scope or space within reach, and return the evidence.

        Args:
            owner: Whose it is.
            memory_id: The record, whatever its status.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.

        Raises:
            ForbiddenError: The owner is out of reach.
            NotFoundError: It has no such record.
            StoreError: The database failed; the record is still there.
        """
        return self._services.forgetting.forget(
            self._within(owner), memory_id, actor=self._principal.principal_id, compact=wait
        )

    def _within(self, owner: Owner) -> Owner:
        if not isinstance(owner, Scope | Space):
            raise InvalidInputError("owner must be a Scope or a Space.")
        if not self._principal.reaches(owner):
            raise ForbiddenError("This scope or space is out of the reviewer's reach.")
        return owner

    def _reached(self) -> tuple[Owner, ...]:
        owners = self._services.reviewing.owners(self._principal.tenant_id)
        return tuple(owner for owner in owners if self._principal.reaches(owner))
