# Generated from scoped/threads.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.threads`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.aio.scoped.checkpoints import AsyncCheckpoints
from muniment.aio.scoped.items import AsyncItems
from muniment.aio.scoped.thread import AsyncThread
from muniment.aio.scoped.workflow import AsyncWorkflow
from muniment.results import Receipt
from muniment.scoped.items import ITEMS
from muniment.scoped.thread import CONVERSATION
from muniment.threads import Event, NewSummary, Summary, ThreadInfo


class AsyncScopedThreads(AsyncScopedBase):
    """Threads of one scope. The same thread_id in another scope is another thread."""

    def thread(self, thread_id: str, *, type: str = CONVERSATION) -> AsyncThread:
        """Return a thread of this scope, whether or not it has been begun."""
        return AsyncThread(self._sync.thread(thread_id, type=type), self._workers)

    def items(self, store: str = ITEMS) -> AsyncItems:
        """Return the items of this scope: JSON values by namespace and key, apart from records."""
        return AsyncItems(self._sync.items(store), self._workers)

    def workflow(self, workflow_id: str) -> AsyncWorkflow:
        """Return a workflow of this scope, begun or not; only the same scope can resume it."""
        return AsyncWorkflow(self._sync.workflow(workflow_id), self._workers)

    def checkpoints(self) -> AsyncCheckpoints:
        """Return the checkpoints that a framework keeps of its threads in this scope."""
        return AsyncCheckpoints(self._sync.checkpoints(), self._workers)

    async def threads(
        self, *, type: str | None = None, limit: int = 100, oldest_first: bool = False
    ) -> tuple[ThreadInfo, ...]:
        """Return the threads of this scope by their last change, the newest first."""
        return await self._workers.store(
            self._sync.threads, type=type, limit=limit, oldest_first=oldest_first
        )

    async def stale_summaries(self) -> tuple[Summary, ...]:
        """Return the summaries that wait to be made anew because a source of them changed."""
        return await self._workers.store(self._sync.stale_summaries)

    async def remake_summaries(
        self, summarise: Callable[[Summary, Sequence[Event]], NewSummary] | None = None
    ) -> tuple[int, int]:
        """Make the stale summaries anew from the events that are left; drop those with none."""
        return await self._workers.model(self._sync.remake_summaries, summarise)

    async def forget_thread(
        self,
        thread_id: str,
        *,
        type: str = CONVERSATION,
        cascade: bool = False,
        dry_run: bool = False,
        wait: bool = False,
    ) -> Receipt:
        """Delete a thread with everything in it, and return the evidence."""
        return await self._workers.store(
            self._sync.forget_thread,
            thread_id,
            type=type,
            cascade=cascade,
            dry_run=dry_run,
            wait=wait,
        )
