# Generated from scoped/guarding.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.guarding`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.results import Verification

if TYPE_CHECKING:
    from muniment.memory import Memory


class AsyncStoreGuarding:
    """What an operator does to know that nothing was changed behind muniment's back."""

    def __init__(self, sync: Memory, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Memory], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    async def verify(self, *, anchor: str | Path | None = None) -> Verification:
        """Check every row and audit entry against the store's key, and all against the anchor."""
        return await self._workers.store(self._sync.verify, anchor=anchor)

    async def anchor(self) -> None:
        """Believe the present state from now on: write a new anchor."""
        await self._workers.store(self._sync.anchor)

    async def rotate_keys(self, new_key: object = None, *, reseal: bool = False) -> int:
        """Guard a sealed store by another master key; the old one opens it no more."""
        return await self._workers.store(self._sync.rotate_keys, new_key, reseal=reseal)
