"""LangGraph's long-term store over the items of one scope."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import BaseStore, IndexConfig, Op, Result, SearchItem, TTLConfig
from langgraph.store.base.batch import AsyncBatchedBaseStore

from muniment.adapters.langgraph.filters import matcher
from muniment.adapters.langgraph.indexing import Index
from muniment.adapters.langgraph.operations import Operations
from muniment.adapters.langgraph.sweeping import Sweeper

if TYPE_CHECKING:
    from muniment.scope import Scope
    from muniment.scoped.memory import ScopedMemory
    from muniment.storage import Postgres


class _Parts:
    """What both stores hold; see `MunimentStore`."""

    supports_ttl = True
    index_config: IndexConfig | None
    embeddings: Embeddings | None
    ttl_config: TTLConfig | None

    def _hold(
        self,
        memory: ScopedMemory,
        index: IndexConfig | None,
        ttl: TTLConfig | None,
        longest: timedelta | None,
    ) -> None:
        made = None if index is None else Index(index)
        self.index_config = index
        self.embeddings = None if made is None else made.embeddings
        self.ttl_config = ttl
        self._operations = Operations(memory, made, longest)
        interval = (ttl or {}).get("sweep_interval_minutes")
        self._sweeper = Sweeper(self._operations.sweep, interval)

    async def _abatch(self, ops: Iterable[Op]) -> list[Result]:
        prepared = self._operations.prepare(ops)
        vectors = await self._operations.aembed(prepared)
        return await to_thread(self._operations.run, prepared, vectors)


class MunimentStore(_Parts, BaseStore):
    """A store for `create_agent(store=…)` and `compile(store=…)`, bound to one scope.

    What is put here are items: values that the application keeps, under namespaces inside the
    scope. They are not records, so nothing recalls them. Another scope's items cannot be reached
    by any namespace. Its coroutines run on worker threads; `AsyncMunimentStore` also gathers the
    calls of one moment into a batch.

    Time to live is as LangGraph has it: minutes since the last use, prolonged by reads. An item
    whose time is over is never returned, whether or not it was swept.
    """

    def __init__(
        self,
        memory: ScopedMemory,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        longest: timedelta | None = None,
    ) -> None:
        """Bind the store to the scope of a memory.

        Args:
            memory: The memory of one scope. Whoever opened it closes it.
            index: The embedding and the fields that it reads; None for search without meaning.
            ttl: The default time to live, whether reads prolong it, and how often to sweep.
            longest: How long an item is kept whatever its use; None for no limit.
        """
        self._hold(memory, index, ttl, longest)

    @classmethod
    @contextmanager
    def from_conn_string(
        cls, location: str | Path | Postgres, *, scope: Scope, **options: Any
    ) -> Iterator[MunimentStore]:
        """Open a memory, give a store over it, and close both.

        Args:
            location: Where the memory is; see `muniment.open`.
            scope: Whose items they are.
            **options: What the store takes besides the memory.
        """
        with opened(location, scope) as memory:
            store = cls(memory, **options)
            try:
                yield store
            finally:
                store.stop_ttl_sweeper()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations and return their results in order.

        Reads see the items as they were before the writes, and of several writes of one item the
        last one counts.

        Raises:
            ValueError: A namespace, filter or value is malformed; nothing was written.
            StoreError: The database failed; nothing was written.
        """
        prepared = self._operations.prepare(ops)
        return self._operations.run(prepared, self._operations.embed(prepared))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations on a worker thread; see `batch`."""
        return await self._abatch(ops)

    def sweep_ttl(self) -> int:
        """Delete what has not been used for its time to live; return how many items it were."""
        return self._operations.sweep()

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep now and then from a thread, until `stop_ttl_sweeper`.

        Args:
            sweep_interval_minutes: How often; None for what `ttl` says, or every five minutes.
        """
        self._sweeper.start(sweep_interval_minutes)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """End the sweeper and return whether it has ended.

        Args:
            timeout: Most seconds to wait. None to wait until it has ended.
        """
        return self._sweeper.stop(timeout)


class AsyncMunimentStore(_Parts, AsyncBatchedBaseStore):
    """The same store for an event loop: calls of one moment become one batch.

    Make it inside the loop. Its blocking methods are for other threads; in the loop itself they
    raise, because they would wait for it.
    """

    def __init__(
        self,
        memory: ScopedMemory,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        longest: timedelta | None = None,
    ) -> None:
        """Bind the store to the scope of a memory; arguments as in `MunimentStore`."""
        super().__init__()
        self._hold(memory, index, ttl, longest)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls, location: str | Path | Postgres, *, scope: Scope, **options: Any
    ) -> AsyncIterator[AsyncMunimentStore]:
        """Open a memory, give a store over it, and close both; see `MunimentStore`."""
        opening = opened(location, scope)
        memory = await to_thread(opening.__enter__)
        store = cls(memory, **options)
        try:
            yield store
        finally:
            await store.stop_ttl_sweeper()
            await to_thread(opening.__exit__, None, None, None)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Run operations on a worker thread; see `MunimentStore.batch`."""
        return await self._abatch(ops)

    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        """Search; a malformed filter fails this call and not the others of its batch."""
        matcher(filter)
        return await super().asearch(
            namespace_prefix,
            query=query,
            filter=filter,
            limit=limit,
            offset=offset,
            refresh_ttl=refresh_ttl,
        )

    async def sweep_ttl(self) -> int:
        """Delete what has not been used for its time to live; return how many items it were."""
        return await to_thread(self._operations.sweep)

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep now and then from a thread; see `MunimentStore`."""
        self._sweeper.start(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - as LangGraph's own
        """End the sweeper and return whether it has ended; see `MunimentStore`."""
        return await to_thread(self._sweeper.stop, timeout)


@contextmanager
def opened(location: str | Path | Postgres, scope: Scope) -> Iterator[ScopedMemory]:
    """Open a memory, give that of one scope, and close it."""
    from muniment.memory import open as open_memory

    with open_memory(location, embedder="none") as memory:
        yield memory.scoped(**scope.to_dict())
