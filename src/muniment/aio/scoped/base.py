# Generated from scoped/base.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.base`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.scope import Scope, Space

if TYPE_CHECKING:
    from muniment.scoped.memory import ScopedMemory


class AsyncScopedBase:
    """Holds the scope that nothing a caller passes can change."""

    def __init__(self, sync: ScopedMemory, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[ScopedMemory], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._sync.scope

    @property
    def spaces(self) -> tuple[Space, ...]:
        """The shared spaces that it may read."""
        return self._sync.spaces
