"""The facade of the checkpoints that a framework keeps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from muniment.records import JSONValue
from muniment.results import Receipt
from muniment.rules.arguments import checks_arguments
from muniment.threads import NewWrite, SavedCheckpoint

if TYPE_CHECKING:
    from muniment.scope import Scope
    from muniment.scoped.base import Services


@checks_arguments
class Checkpoints:
    """A framework's opaque states by thread. Use `ScopedMemory.checkpoints` to reach them."""

    def __init__(self, services: Services, scope: Scope) -> None:
        self._scope = scope
        self._shelf = services.threads.checkpoints

    def put(
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
        """Keep a checkpoint, in the place of one with the same id.

        Args:
            thread_id: The framework's id of the thread.
            checkpoint_id: Its id; the greatest is the latest.
            value: The state, opaque; at most 16 MiB.
            namespace: Which of the thread's graphs.
            type: How the value is to be read.
            metadata: What the framework says about it; JSON values.
            parent_id: The one before it.
            run_id: The run that makes it.

        Raises:
            InvalidInputError: Something is malformed or too large.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.threads.checkpoints import NewCheckpoint

        new = NewCheckpoint(
            checkpoint_id, namespace, value, type, metadata or {}, parent_id, run_id
        )
        self._shelf.put(self._scope, thread_id, new)

    def put_writes(
        self,
        thread_id: str,
        checkpoint_id: str,
        writes: Sequence[NewWrite],
        *,
        namespace: str = "",
        replace: bool = False,
    ) -> None:
        """Keep what tasks wrote for the checkpoint after one.

        Args:
            thread_id: The thread.
            checkpoint_id: The checkpoint that they followed.
            writes: What they wrote.
            namespace: Which of the thread's graphs.
            replace: Whether a write of the same task and index is replaced; else it stays.

        Raises:
            InvalidInputError: Something is malformed or too large.
            StoreError: The database failed; nothing was written.
        """
        at = (namespace, checkpoint_id)
        self._shelf.put_writes(self._scope, thread_id, at, writes, replaces=replace)

    def get(
        self, thread_id: str, *, namespace: str = "", checkpoint_id: str | None = None
    ) -> SavedCheckpoint | None:
        """Return a checkpoint with its writes; the one with the greatest id when none is named."""
        return self._shelf.get(self._scope, thread_id, namespace, checkpoint_id)

    def list(
        self,
        thread_id: str | None = None,
        *,
        namespace: str | None = None,
        checkpoint_id: str | None = None,
        before: str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        limit: int | None = None,
    ) -> tuple[SavedCheckpoint, ...]:
        """Return checkpoints with their writes, those with the greatest ids first.

        Args:
            thread_id: The thread. None for all threads of the scope.
            namespace: Which of its graphs. None for all.
            checkpoint_id: Only the one with this id.
            before: Only those with a smaller id.
            metadata: Only those whose metadata say this, name by name.
            limit: Most of them. None for all.
        """
        from muniment.services.threads.checkpoints import Asked

        asked = Asked(namespace, checkpoint_id, before, metadata, limit)
        return self._shelf.list(self._scope, thread_id, asked)

    def delete_thread(self, thread_id: str) -> Receipt:
        """Delete all checkpoints of a thread with their writes; its id may be used again.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._shelf.delete_thread(self._scope, thread_id)

    def delete(
        self, thread_id: str, checkpoint_ids: Collection[str], *, namespace: str = ""
    ) -> int:
        """Delete some checkpoints of a thread with their writes; return how many there were.

        Args:
            thread_id: The thread.
            checkpoint_ids: The checkpoints.
            namespace: Which of the thread's graphs.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._shelf.delete(self._scope, thread_id, namespace, checkpoint_ids)

    def delete_runs(self, run_ids: Collection[str]) -> int:
        """Delete the checkpoints that some runs made, with their writes; return how many.

        Raises:
            StoreError: The database failed; nothing was deleted.
        """
        return self._shelf.delete_runs(self._scope, run_ids)

    def copy_thread(self, source_id: str, target_id: str) -> int:
        """Copy a thread's checkpoints with their writes into another; return how many.

        Raises:
            TombstonedError: The other thread was forgotten.
            StoreError: The database failed; nothing was written.
        """
        return self._shelf.copy_thread(self._scope, source_id, target_id)

    def prune(self, thread_ids: Collection[str], *, keep: str = "latest") -> int:
        """Delete all but the latest checkpoint of each graph of threads; return how many.

        Args:
            thread_ids: The threads.
            keep: `"latest"`, or `"none"` to keep not even that.

        Raises:
            InvalidInputError: `keep` is something else.
            StoreError: The database failed; what was deleted stays deleted.
        """
        return self._shelf.prune(self._scope, thread_ids, keep)
