# Generated from memory.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.memory`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from muniment.aio.scoped.desk import AsyncReviewDesk
from muniment.aio.scoped.forgetting import AsyncStoreForgetting
from muniment.aio.scoped.guarding import AsyncStoreGuarding
from muniment.aio.scoped.memory import AsyncScopedMemory
from muniment.aio.scoped.merging import AsyncStoreMerging
from muniment.aio.workers import Workers
from muniment.clock import Clock
from muniment.memory import DEFAULT_CACHE_BYTES
from muniment.memory import open as open_memory
from muniment.ports.models import Screener
from muniment.records import JSONValue
from muniment.results import Health
from muniment.scope import Principal
from muniment.scoped import Progress

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy
    from muniment.storage import Postgres, Shards
    from muniment.transfers import ExportReport, ImportReport


async def open_async(
    location: str | Path | Postgres | Shards,
    *,
    embedder: object = "auto",
    reranker: object = None,
    resolver: Callable[[str], JSONValue] | None = None,
    model: object = None,
    policy: str | Path | None = None,
    clock: Clock | None = None,
    screener: Screener | None = None,
    count_tokens: Callable[[str], int] | None = None,
    cache_bytes: int = DEFAULT_CACHE_BYTES,
    busy_timeout: float = 30.0,
    create: bool = True,
    sealed: bool | None = None,
    key: object = None,
    file_key: str | None = None,
) -> AsyncMemory:
    """Open a memory."""
    workers = Workers()
    try:
        memory = await workers.store(
            open_memory,
            location,
            embedder=embedder,
            reranker=reranker,
            resolver=resolver,
            model=model,
            policy=policy,
            clock=clock,
            screener=screener,
            count_tokens=count_tokens,
            cache_bytes=cache_bytes,
            busy_timeout=busy_timeout,
            create=create,
            sealed=sealed,
            key=key,
            file_key=file_key,
        )
    except BaseException:
        await workers.close(lambda: None)
        raise
    return AsyncMemory(memory, workers)


class AsyncMemory(AsyncStoreForgetting, AsyncStoreGuarding, AsyncStoreMerging):
    """A memory whose calls are awaited. Use `open_async` to make one and `scoped` to work with it.

    It is an async context manager that closes itself.
    """

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

    def reviewing(self, principal: Principal) -> AsyncReviewDesk:
        """Return the desk at which a reviewer decides about candidates within its reach."""
        return AsyncReviewDesk(self._sync.reviewing(principal), self._workers)

    async def export_user(
        self,
        target: Path | TextIO,
        *,
        tenant_id: str,
        user_id: str,
        progress: Progress | None = None,
    ) -> ExportReport:
        """Write everything about one user, over all agents, as JSON Lines."""
        return await self._workers.store(
            self._sync.export_user, target, tenant_id=tenant_id, user_id=user_id, progress=progress
        )

    async def import_user(
        self,
        source: Path | TextIO,
        *,
        tenant_id: str,
        user_id: str,
        mode: str = "all_or_nothing",
        trust: str = "reviewed",
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in an export of one user, each scope to where it came from, in one transaction."""
        return await self._workers.store(
            self._sync.import_user,
            source,
            tenant_id=tenant_id,
            user_id=user_id,
            mode=mode,
            trust=trust,
            progress=progress,
        )

    async def import_from(
        self,
        origin: str,
        source: Path | TextIO,
        *,
        tenant_id: str,
        agent_id: str | None = None,
        mode: str = "all_or_nothing",
        approved_by_operator: bool = False,
        kind: str | None = None,
        assume_utc: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in what another system keeps of every user of a tenant, in one transaction."""
        return await self._workers.store(
            self._sync.import_from,
            origin,
            source,
            tenant_id=tenant_id,
            agent_id=agent_id,
            mode=mode,
            approved_by_operator=approved_by_operator,
            kind=kind,
            assume_utc=assume_utc,
            progress=progress,
        )

    async def health(self) -> Health:
        """Return facts about the store, its counts and the embedder; never any text."""
        return await self._workers.store(self._sync.health)

    async def embed(self, *, progress: Progress | None = None) -> tuple[int, int]:
        """Embed every active record that has no vector of the present model."""
        return await self._workers.model(self._sync.embed, progress=progress)

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
