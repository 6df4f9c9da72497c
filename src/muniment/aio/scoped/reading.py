# Generated from scoped/reading.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.reading`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.records import AuditEntry, Page, Record
from muniment.results import Answer, Counts
from muniment.scoped.base import (
    DEFAULT_BUDGET,
    DEFAULT_LIMIT,
    DEFAULT_MINIMUM_SCORE,
)
from muniment.trace import Recall


class AsyncScopedReading(AsyncScopedBase):
    """Recall, read and answer within one scope."""

    async def get(self, memory_id: str) -> Record:
        """Return one record, active or superseded."""
        return await self._workers.store(self._sync.get, memory_id)

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        superseded: bool = False,
    ) -> Page:
        """Return one page of records, newest first."""
        return await self._workers.store(
            self._sync.list,
            limit=limit,
            cursor=cursor,
            kinds=kinds,
            filters=filters,
            superseded=superseded,
        )

    async def history(self, memory_id: str) -> tuple[Record, ...]:
        """Return a record with all that it replaced and all that replaced it, oldest first."""
        return await self._workers.store(self._sync.history, memory_id)

    async def audit(self) -> tuple[AuditEntry, ...]:
        """Return who did what to which record of this scope, oldest first. Holds no text."""
        return await self._workers.store(self._sync.audit)

    async def counts(self) -> Counts:
        """Return how many records this scope has of each sort."""
        return await self._workers.store(self._sync.counts)

    async def recall(
        self,
        query: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        strict: bool = False,
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> Recall:
        """Return the records of this scope and its readable spaces that bear on a question."""
        return await self._workers.store(
            self._sync.recall,
            query,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kinds,
            filters=filters,
            budget=budget,
            strict=strict,
            as_of=as_of,
            explain=explain,
        )

    async def answer(
        self,
        question: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        cite: bool = False,
    ) -> Answer:
        """Recall, and let the configured language model answer from the packet."""
        return await self._workers.model(
            self._sync.answer,
            question,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kinds,
            filters=filters,
            budget=budget,
            cite=cite,
        )
