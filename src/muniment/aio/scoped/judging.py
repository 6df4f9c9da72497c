# Generated from scoped/judging.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.judging`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.usefulness import UsefulnessPage


class AsyncScopedJudging(AsyncScopedBase):
    """Say which records helped, and see how each was used."""

    async def cite(self, *memory_ids: str) -> None:
        """Say that one answer rested on these records."""
        await self._workers.store(self._sync.cite, *memory_ids)

    async def rate(self, memory_id: str, *, helpful: bool) -> None:
        """Say that a record was helpful or not, in the name of the person concerned."""
        await self._workers.store(self._sync.rate, memory_id, helpful=helpful)

    async def usefulness(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        superseded: bool = True,
    ) -> UsefulnessPage:
        """Return one page of how records were used, newest first, without their text."""
        return await self._workers.store(
            self._sync.usefulness,
            limit=limit,
            cursor=cursor,
            kinds=kinds,
            filters=filters,
            superseded=superseded,
        )
