"""LangGraph's checkpoints over the threads of one scope."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import (
    WRITES_IDX_MAP,
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    get_checkpoint_id,
    get_checkpoint_metadata,
)

from muniment.adapters.langgraph.deltas import delta_history
from muniment.adapters.langgraph.filters import matcher
from muniment.adapters.langgraph.pruning import superfluous
from muniment.adapters.langgraph.store import opened
from muniment.adapters.langgraph.tuples import config_of, place_of, to_tuple
from muniment.errors import InvalidInputError
from muniment.threads import NewWrite, SavedCheckpoint

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import DeltaChannelHistory
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from muniment.scope import Scope
    from muniment.scoped.memory import ScopedMemory
    from muniment.storage import Postgres


class MunimentSaver(BaseCheckpointSaver[str]):
    """A checkpointer for `create_agent(checkpointer=…)` and `compile(checkpointer=…)`.

    Bound to one scope: the same thread_id under another user is another thread, and nothing that
    a config says reaches it. Its coroutines run on worker threads.
    """

    def __init__(self, memory: ScopedMemory, *, serde: SerializerProtocol | None = None) -> None:
        """Bind the checkpointer to the scope of a memory.

        Args:
            memory: The memory of one scope. Whoever opened it closes it.
            serde: How values become bytes; None for LangGraph's own way.
        """
        super().__init__(serde=serde)
        self._rows = memory.checkpoints()

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        location: str | Path | Postgres,
        *,
        scope: Scope,
        serde: SerializerProtocol | None = None,
    ) -> Iterator[MunimentSaver]:
        """Open a memory, give a checkpointer over it, and close the memory.

        Args:
            location: Where the memory is; see `muniment.open`.
            scope: Whose threads they are.
            serde: How values become bytes; None for LangGraph's own way.
        """
        with opened(location, scope) as memory:
            yield cls(memory, serde=serde)

    @classmethod
    @asynccontextmanager
    async def from_conn_string_async(
        cls,
        location: str | Path | Postgres,
        *,
        scope: Scope,
        serde: SerializerProtocol | None = None,
    ) -> AsyncIterator[MunimentSaver]:
        """Do as `from_conn_string`, without holding up the event loop."""
        opening = opened(location, scope)
        memory = await to_thread(opening.__enter__)
        try:
            yield cls(memory, serde=serde)
        finally:
            await to_thread(opening.__exit__, None, None, None)

    def get_next_version(self, current: str | None, channel: None) -> str:
        """Return a version above the current one, in the form of LangGraph's own checkpointers.

        So a thread that was copied from one of them goes on. The random part tells the versions
        of two forks apart.
        """
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{token_hex(8)}"

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that a config names, or the latest of its thread; None if none."""
        row = self._row(config)
        named = get_checkpoint_id(config)
        return None if row is None else to_tuple(row, self.serde, config if named else None)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Give the checkpoints of a thread, or of every thread of the scope, the latest first.

        Args:
            config: The thread, and its graph and checkpoint if named. None for every thread.
            filter: What the metadata must say, as in a search of the store.
            before: Only those before this one.
            limit: Most checkpoints to give.

        Raises:
            FilterError: The filter is malformed.
        """
        for row in self._listed(config, filter, before, limit):
            yield to_tuple(row, self.serde)

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint as the child of the one that the config names; return its config."""
        thread_id, namespace = place_of(config)
        said: dict[str, Any] = dict(get_checkpoint_metadata(config, metadata))
        type_, value = self.serde.dumps_typed(checkpoint)
        self._rows.put(
            thread_id,
            checkpoint["id"],
            value,
            namespace=namespace,
            type=type_,
            metadata=said,
            parent_id=get_checkpoint_id(config),
            run_id=said.get("run_id"),
        )
        return config_of(thread_id, namespace, checkpoint["id"])

    def put_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Store what a task wrote after a checkpoint; what it wrote before stays as it was."""
        thread_id, namespace = place_of(config)
        named = get_checkpoint_id(config)
        if named is None:
            raise InvalidInputError("The config of a write must name its checkpoint.")
        self._rows.put_writes(
            thread_id,
            named,
            [
                NewWrite(
                    task_id,
                    WRITES_IDX_MAP.get(channel, place),
                    channel,
                    *self.serde.dumps_typed(value),
                    task_path,
                )
                for place, (channel, value) in enumerate(writes)
            ],
            namespace=namespace,
            replace=all(channel in WRITES_IDX_MAP for channel, _ in writes),
        )

    def delete_thread(self, thread_id: str) -> None:
        """Delete every checkpoint and write of a thread."""
        self._rows.delete_thread(str(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete every checkpoint, with its writes, that one of these runs made."""
        self._rows.delete_runs(list(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy every checkpoint and write of a thread to another thread of the same scope."""
        self._rows.copy_thread(str(source_thread_id), str(target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the checkpoints of threads that nothing needs any more.

        Args:
            thread_ids: The threads.
            strategy: `"keep_latest"` keeps the latest checkpoint of each graph, and those before
                it from which its delta channels are rebuilt; `"delete"` keeps none.

        Raises:
            InvalidInputError: The strategy is another one.
        """
        if strategy not in {"keep_latest", "delete"}:
            raise InvalidInputError("strategy must be 'keep_latest' or 'delete'.")
        for thread_id in map(str, thread_ids):
            if strategy == "delete":
                self._rows.delete_thread(thread_id)
                continue
            rows = self._rows.list(thread_id)
            for namespace, checkpoint_ids in superfluous(rows, self.serde).items():
                self._rows.delete(thread_id, checkpoint_ids, namespace=namespace)

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Return what delta channels are rebuilt from at a checkpoint; see `delta_history`."""
        thread_id, namespace = place_of(config)
        get = partial(self._rows.get, thread_id, namespace=namespace)
        return delta_history(
            lambda one: get(checkpoint_id=one), self._row(config), channels, self.serde
        )

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Do as `get_tuple`, on a worker thread."""
        return await to_thread(self.get_tuple, config)

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Do as `list`, on a worker thread."""
        for row in await to_thread(self._listed, config, filter, before, limit):
            yield to_tuple(row, self.serde)

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Do as `put`, on a worker thread."""
        return await to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str = "",
    ) -> None:
        """Do as `put_writes`, on a worker thread."""
        await to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """Do as `delete_thread`, on a worker thread."""
        await to_thread(self.delete_thread, thread_id)

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Do as `delete_for_runs`, on a worker thread."""
        await to_thread(self.delete_for_runs, run_ids)

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Do as `copy_thread`, on a worker thread."""
        await to_thread(self.copy_thread, source_thread_id, target_thread_id)

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Do as `prune`, on a worker thread."""
        await to_thread(self.prune, thread_ids, strategy=strategy)

    async def aget_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        """Do as `get_delta_channel_history`, on a worker thread."""
        return await to_thread(self.get_delta_channel_history, config=config, channels=channels)

    def _row(self, config: RunnableConfig) -> SavedCheckpoint | None:
        thread_id, namespace = place_of(config)
        named = get_checkpoint_id(config) or None
        return self._rows.get(thread_id, namespace=namespace, checkpoint_id=named)

    def _listed(
        self,
        config: RunnableConfig | None,
        filter: dict[str, Any] | None,
        before: RunnableConfig | None,
        limit: int | None,
    ) -> Sequence[SavedCheckpoint]:
        named: Mapping[str, Any] = config["configurable"] if config else {}
        passes = matcher(filter)
        rows = self._rows.list(
            str(named["thread_id"]) if config else None,
            namespace=named.get("checkpoint_ns"),
            checkpoint_id=named.get("checkpoint_id") or None,
            before=get_checkpoint_id(before) if before else None,
            limit=None if filter else limit,
        )
        return [row for row in rows if passes(row.metadata)][:limit]
