# Generated from scoped/desk.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.desk`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.records import Record
from muniment.results import Candidate, Receipt, Written
from muniment.scope import Owner

if TYPE_CHECKING:
    from muniment.scoped.desk import ReviewDesk


class AsyncReviewDesk:
    """The candidates of every scope and space that one reviewer reaches."""

    def __init__(self, sync: ReviewDesk, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[ReviewDesk], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    async def candidates(
        self, *, status: str = "pending", limit: int = 50, owner: Owner | None = None
    ) -> tuple[Candidate, ...]:
        """Return candidates within reach, newest first within each scope."""
        return await self._workers.store(
            self._sync.candidates, status=status, limit=limit, owner=owner
        )

    async def candidate(self, owner: Owner, candidate_id: str) -> Candidate:
        """Return one candidate."""
        return await self._workers.store(self._sync.candidate, owner, candidate_id)

    async def find(self, candidate_id: str) -> Candidate:
        """Return a candidate within reach by its id alone; it says whose it is."""
        return await self._workers.store(self._sync.find, candidate_id)

    async def record(self, owner: Owner, memory_id: str) -> Record:
        """Return a record, such as the one that a candidate would replace."""
        return await self._workers.store(self._sync.record, owner, memory_id)

    async def conflicts(self) -> tuple[Candidate, ...]:
        """Return the pending candidates within reach that contradict an active record."""
        return await self._workers.store(self._sync.conflicts)

    async def revise(self, owner: Owner, candidate_id: str, *, text: str) -> Candidate:
        """Change the text of a pending candidate; what was shown before can not be approved now."""
        return await self._workers.store(self._sync.revise, owner, candidate_id, text=text)

    async def approve(
        self,
        owner: Owner,
        candidate_id: str,
        *,
        version: int,
        content_hash: str,
        override_tombstone: str | None = None,
    ) -> Written:
        """Approve a candidate exactly as it was shown."""
        return await self._workers.store(
            self._sync.approve,
            owner,
            candidate_id,
            version=version,
            content_hash=content_hash,
            override_tombstone=override_tombstone,
        )

    async def reject(self, owner: Owner, candidate_id: str, *, reason: str) -> Candidate:
        """Reject a candidate; its value stays out from now on."""
        return await self._workers.store(self._sync.reject, owner, candidate_id, reason=reason)

    async def correct(self, owner: Owner, memory_id: str, **changes: object) -> Written:
        """Replace an active record by a corrected one; the old value stays out from now on."""
        return await self._workers.store(self._sync.correct, owner, memory_id, **changes)

    async def forget(self, owner: Owner, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record of a scope or space within reach, and return the evidence."""
        return await self._workers.store(self._sync.forget, owner, memory_id, wait=wait)
