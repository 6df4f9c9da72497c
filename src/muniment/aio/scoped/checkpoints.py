# Generated from scoped/checkpoints.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.checkpoints`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.records import JSONValue
from muniment.results import Receipt
from muniment.threads import NewWrite, SavedCheckpoint

if TYPE_CHECKING:
    from muniment.scoped.checkpoints import Checkpoints


class AsyncCheckpoints:
    """A framework's opaque states by thread. Use `ScopedMemory.checkpoints` to reach them."""

    def __init__(self, sync: Checkpoints, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Checkpoints], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    async def put(
        self,
        thread_id: str,
        checkpoint_id: str,
        value: bytes,
        *,
        namespace: str = "",
        type: str = "",
        metadata: Mapping[str, JSONValue] | None = None,
        parent_id: str | None = None,
        run_id: str | None = None,
    ) -> None:
        """Keep a checkpoint, in the place of one with the same id."""
        await self._workers.store(
            self._sync.put,
            thread_id,
            checkpoint_id,
            value,
            namespace=namespace,
            type=type,
            metadata=metadata,
            parent_id=parent_id,
            run_id=run_id,
        )

    async def put_writes(
        self,
        thread_id: str,
        checkpoint_id: str,
        writes: Sequence[NewWrite],
        *,
        namespace: str = "",
        replace: bool = False,
    ) -> None:
        """Keep what tasks wrote for the checkpoint after one."""
        await self._workers.store(
            self._sync.put_writes,
            thread_id,
            checkpoint_id,
            writes,
            namespace=namespace,
            replace=replace,
        )

    async def get(
        self, thread_id: str, *, namespace: str = "", checkpoint_id: str | None = None
    ) -> SavedCheckpoint | None:
        """Return a checkpoint with its writes; the one with the greatest id when none is named."""
        return await self._workers.store(
            self._sync.get, thread_id, namespace=namespace, checkpoint_id=checkpoint_id
        )

    async def list(
        self,
        thread_id: str | None = None,
        *,
        namespace: str | None = None,
        checkpoint_id: str | None = None,
        before: str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        limit: int | None = None,
    ) -> tuple[SavedCheckpoint, ...]:
        """Return checkpoints with their writes, those with the greatest ids first."""
        return await self._workers.store(
            self._sync.list,
            thread_id,
            namespace=namespace,
            checkpoint_id=checkpoint_id,
            before=before,
            metadata=metadata,
            limit=limit,
        )

    async def delete_thread(self, thread_id: str) -> Receipt:
        """Delete all checkpoints of a thread with their writes; its id may be used again."""
        return await self._workers.store(self._sync.delete_thread, thread_id)

    async def delete(
        self, thread_id: str, checkpoint_ids: Collection[str], *, namespace: str = ""
    ) -> int:
        """Delete some checkpoints of a thread with their writes; return how many there were."""
        return await self._workers.store(
            self._sync.delete, thread_id, checkpoint_ids, namespace=namespace
        )

    async def delete_runs(self, run_ids: Collection[str]) -> int:
        """Delete the checkpoints that some runs made, with their writes; return how many."""
        return await self._workers.store(self._sync.delete_runs, run_ids)

    async def copy_thread(self, source_id: str, target_id: str) -> int:
        """Copy a thread's checkpoints with their writes into another; return how many."""
        return await self._workers.store(self._sync.copy_thread, source_id, target_id)

    async def prune(self, thread_ids: Collection[str], *, keep: str = "latest") -> int:
        """Delete all but the latest checkpoint of each graph of threads; return how many."""
        return await self._workers.store(self._sync.prune, thread_ids, keep=keep)
