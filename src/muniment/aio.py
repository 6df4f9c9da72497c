# Generated from memory.py and scoped.py by `python scripts/generate_aio`; do not edit.
"""The async facade: the same verbs, run on worker threads, so that the event loop never waits.

::

    async with await open_async("agent-memory.db") as memory:
        me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
        found = await me.recall("Which region?")

Storage and model calls have separate threads, so that a slow model holds up no recall. A call that
is cancelled while it runs may still commit: repeat it with the same `source_id` and it is written
once. A `progress` callback runs on the worker's thread. The arguments and errors are those of the
sync method of the same name, whose docstring describes them.
"""

from __future__ import annotations

from asyncio import get_running_loop, to_thread
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import datetime
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from muniment.clock import Clock
from muniment.errors import StoreClosedError
from muniment.memory import DEFAULT_CACHE_BYTES, Memory
from muniment.memory import open as open_memory
from muniment.records import AuditEntry, JSONValue, Page, Record, Statement
from muniment.results import Answer, Batch, Counts, Health, Preview, Receipt, Written
from muniment.scope import Scope
from muniment.scoped import (
    DEFAULT_BUDGET,
    DEFAULT_LIMIT,
    DEFAULT_MINIMUM_SCORE,
    OnError,
    Progress,
    ScopedMemory,
)
from muniment.trace import Recall

if TYPE_CHECKING:
    from pathlib import Path

    from muniment.ports import Screener
    from muniment.rules.kinds import Policy

P = ParamSpec("P")
T = TypeVar("T")

STORAGE_THREADS = 8
MODEL_THREADS = 8


class _Workers:
    """The threads under one async memory: a pool for storage and a pool for models."""

    def __init__(self) -> None:
        self._storage = ThreadPoolExecutor(STORAGE_THREADS, "muniment-storage")
        self._models = ThreadPoolExecutor(MODEL_THREADS, "muniment-models")
        self._closed = False

    async def store(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that waits for the store."""
        return await self._run(self._storage, partial(call, *args, **kwargs))

    async def model(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a call that waits for a model."""
        return await self._run(self._models, partial(call, *args, **kwargs))

    async def _run(self, pool: ThreadPoolExecutor, call: Callable[[], T]) -> T:
        if self._closed:
            raise StoreClosedError("The memory is closed; open it again.")
        return await get_running_loop().run_in_executor(pool, copy_context().run, call)

    async def close(self, last: Callable[[], None]) -> None:
        """Let the calls that run finish, make the last one, and end the threads."""
        self._closed = True
        await to_thread(self._end, last)

    def _end(self, last: Callable[[], None]) -> None:
        self._models.shutdown()
        self._storage.shutdown()
        last()


async def open_async(
    location: str | Path,
    *,
    embedder: object = "auto",
    model: object = None,
    policy: str | Path | None = None,
    clock: Clock | None = None,
    screener: Screener | None = None,
    count_tokens: Callable[[str], int] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    busy_timeout: float = 30.0,
    create: bool = True,
) -> AsyncMemory:
    """Open a memory."""
    workers = _Workers()
    try:
        memory = await workers.store(
            open_memory,
            location,
            embedder=embedder,
            model=model,
            policy=policy,
            clock=clock,
            screener=screener,
            count_tokens=count_tokens,
            cache_bytes=cache_bytes,
            busy_timeout=busy_timeout,
            create=create,
        )
    except BaseException:
        await workers.close(lambda: None)
        raise
    return AsyncMemory(memory, workers)


class AsyncMemory:
    """A memory whose calls are awaited. Use `open_async` to make one and `scoped` to work with it.

    It is an async context manager that closes itself.
    """

    def __init__(self, memory: Memory, workers: _Workers) -> None:
        self._sync = memory
        self._workers = workers

    @property
    def policy(self) -> Policy:
        """The kinds in force."""
        return self._sync.policy

    def scoped(self, *, tenant_id: str, user_id: str, agent_id: str) -> AsyncScopedMemory:
        """Return the memory of one complete scope."""
        return AsyncScopedMemory(
            self._sync.scoped(tenant_id=tenant_id, user_id=user_id, agent_id=agent_id),
            self._workers,
        )

    async def health(self) -> Health:
        """Return facts about the store, its counts and the embedder; never any text."""
        return await self._workers.store(self._sync.health)

    async def embed(self, *, progress: Progress | None = None) -> tuple[int, int]:
        """Embed every active record that has no vector of the present model."""
        return await self._workers.model(self._sync.embed, progress=progress)

    async def compact(self) -> None:
        """Rewrite the database so that no deleted byte is left in it."""
        await self._workers.store(self._sync.compact)

    async def close(self) -> None:
        """Let the calls that run finish, then release everything. Closing twice is allowed."""
        await self._workers.close(self._sync.close)

    async def aclose(self) -> None:
        """Do what `close` does, under the name that `contextlib.aclosing` calls."""
        await self.close()

    async def __aenter__(self) -> Self:
        """Return the memory itself."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the memory."""
        await self.close()


class AsyncScopedMemory:
    """The memory of one scope, awaited. Nothing it does can reach another scope."""

    def __init__(self, memory: ScopedMemory, workers: _Workers) -> None:
        self._sync = memory
        self._workers = workers

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._sync.scope

    async def remember(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        approved: bool,
        field: str | None = None,
        value: JSONValue = None,
        expires_at: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
    ) -> Written:
        """Store one statement that the application has approved."""
        return await self._workers.store(
            self._sync.remember,
            text,
            kind=kind,
            source_id=source_id,
            approved=approved,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=metadata,
        )

    async def remember_many(
        self,
        statements: Sequence[Statement],
        *,
        approved: bool,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store several approved statements in one transaction."""
        return await self._workers.store(
            self._sync.remember_many,
            statements,
            approved=approved,
            on_error=on_error,
            progress=progress,
        )

    async def import_many(
        self,
        statements: Sequence[Statement],
        *,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store statements that an operator brings in from elsewhere, in one transaction."""
        return await self._workers.store(
            self._sync.import_many, statements, on_error=on_error, progress=progress
        )

    async def preview(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        field: str | None = None,
        value: JSONValue = None,
        expires_at: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
    ) -> Preview:
        """Return what `remember` would do with a statement, without writing anything."""
        return await self._workers.store(
            self._sync.preview,
            text,
            kind=kind,
            source_id=source_id,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=metadata,
        )

    async def recall(
        self,
        query: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        strict: bool = False,
    ) -> Recall:
        """Return the records of this scope that bear on a question."""
        return await self._workers.store(
            self._sync.recall,
            query,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kinds,
            filters=filters,
            budget=budget,
            strict=strict,
        )

    async def get(self, memory_id: str) -> Record:
        """Return one record, active or superseded."""
        return await self._workers.store(self._sync.get, memory_id)

    async def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        superseded: bool = False,
    ) -> Page:
        """Return one page of records, newest first."""
        return await self._workers.store(
            self._sync.list,
            limit=limit,
            cursor=cursor,
            kinds=kinds,
            filters=filters,
            superseded=superseded,
        )

    async def history(self, memory_id: str) -> tuple[Record, ...]:
        """Return a record with all that it replaced and all that replaced it, oldest first."""
        return await self._workers.store(self._sync.history, memory_id)

    async def forget(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record with everything derived from it, and return the evidence."""
        return await self._workers.store(self._sync.forget, memory_id, wait=wait)

    async def answer(
        self,
        question: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
    ) -> Answer:
        """Recall, and let the configured language model answer from the packet."""
        return await self._workers.model(
            self._sync.answer,
            question,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kinds,
            filters=filters,
            budget=budget,
        )

    async def audit(self) -> tuple[AuditEntry, ...]:
        """Return who did what to which record of this scope, oldest first. Holds no text."""
        return await self._workers.store(self._sync.audit)

    async def counts(self) -> Counts:
        """Return how many records this scope has of each sort."""
        return await self._workers.store(self._sync.counts)
