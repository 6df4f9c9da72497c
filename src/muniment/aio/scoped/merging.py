# Generated from scoped/merging.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.merging`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.aio.workers import T, Workers
from muniment.records import Record

if TYPE_CHECKING:
    from muniment.memory import Memory
    from muniment.upkeep import CleanUp, Deduplication


class AsyncStoreMerging:
    """What an operator does about records that only repeat another one."""

    def __init__(self, sync: Memory, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Memory], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    async def deduplicate(self, *, supersede: bool = False, dry_run: bool = False) -> Deduplication:
        """Find active records that only repeat another one of their scope."""
        return await self._workers.store(
            self._sync.deduplicate, supersede=supersede, dry_run=dry_run
        )

    async def clean_up(self, *, dry_run: bool = False) -> CleanUp:
        """Delete old, unused records of kinds whose policy has a `clean_up`, as `maintain` does."""
        return await self._workers.store(self._sync.clean_up, dry_run=dry_run)


class AsyncScopedMerging(AsyncScopedBase):
    """Take apart what deduplication merged."""

    async def unmerge(self, memory_id: str) -> Record:
        """Make a record active again that deduplication put behind another one."""
        return await self._workers.store(self._sync.unmerge, memory_id)
