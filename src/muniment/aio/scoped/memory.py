# Generated from scoped/memory.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.memory`."""

from __future__ import annotations

from muniment.aio.scoped.delegate import AsyncDelegate
from muniment.aio.scoped.exchanging import AsyncScopedExchanging
from muniment.aio.scoped.forgetting import AsyncScopedForgetting
from muniment.aio.scoped.judging import AsyncScopedJudging
from muniment.aio.scoped.merging import AsyncScopedMerging
from muniment.aio.scoped.proposing import AsyncScopedProposing
from muniment.aio.scoped.reading import AsyncScopedReading
from muniment.aio.scoped.threads import AsyncScopedThreads
from muniment.aio.scoped.writing import AsyncScopedWriting
from muniment.scope import Space
from muniment.scoped.delegate import Writes


class AsyncScopedMemory(
    AsyncScopedWriting,
    AsyncScopedForgetting,
    AsyncScopedReading,
    AsyncScopedProposing,
    AsyncScopedExchanging,
    AsyncScopedThreads,
    AsyncScopedMerging,
    AsyncScopedJudging,
):
    """The memory of one scope. Nothing it does can reach another scope."""

    def with_spaces(self, *spaces: Space) -> AsyncScopedMemory:
        """Return the memory of the same scope that may also read shared spaces."""
        return AsyncScopedMemory(self._sync.with_spaces(*spaces), self._workers)

    def delegate(self, *, writes: Writes = "propose") -> AsyncDelegate:
        """Return what an agent may do in the name of the person; the tools are built on it."""
        return AsyncDelegate(self._sync.delegate(writes=writes), self._workers)
