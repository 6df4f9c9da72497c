# Generated from scoped/proposing.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.proposing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.records import JSONValue
from muniment.results import Candidate, Written
from muniment.scope import Space


class AsyncScopedProposing(AsyncScopedBase):
    """Propose candidates; look at one's own and decide about them."""

    async def propose(
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
        """Propose an inferred statement. It is never recalled until somebody approves it."""
        return await self._workers.store(
            self._sync.propose,
            text,
            kind=kind,
            source_id=source_id,
            evidence=evidence,
            proposer=proposer,
            space=space,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=metadata,
        )

    async def candidates(
        self, *, status: str = "pending", limit: int = 50, before: int | None = None
    ) -> tuple[Candidate, ...]:
        """Return this scope's own candidates, newest first."""
        return await self._workers.store(
            self._sync.candidates, status=status, limit=limit, before=before
        )

    async def candidate(self, candidate_id: str) -> Candidate:
        """Return one of this scope's own candidates."""
        return await self._workers.store(self._sync.candidate, candidate_id)

    async def conflicts(self) -> tuple[Candidate, ...]:
        """Return the pending candidates of this scope that contradict an active record."""
        return await self._workers.store(self._sync.conflicts)

    async def approve(
        self,
        candidate_id: str,
        *,
        version: int,
        content_hash: str,
        override_tombstone: str | None = None,
    ) -> Written:
        """Approve a candidate in the name of the person concerned, exactly as it was shown."""
        return await self._workers.store(
            self._sync.approve,
            candidate_id,
            version=version,
            content_hash=content_hash,
            override_tombstone=override_tombstone,
        )

    async def reject(self, candidate_id: str, *, reason: str) -> Candidate:
        """Reject a candidate in the name of the person concerned; its value stays out."""
        return await self._workers.store(self._sync.reject, candidate_id, reason=reason)
