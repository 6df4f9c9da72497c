# Generated from scoped/forgetting.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.forgetting`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.aio.workers import T, Workers
from muniment.results import Receipt
from muniment.scope import Space

if TYPE_CHECKING:
    from muniment.memory import Memory
    from muniment.upkeep import OpenDeletion, Upkeep


class AsyncStoreForgetting:
    """What an operator forgets, each part of the scope named: a user, an agent, a tenant."""

    def __init__(self, sync: Memory, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Memory], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    async def forget_user(
        self, *, tenant_id: str, user_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything of one user: every agent's scope and the user's own space."""
        return await self._workers.store(
            self._sync.forget_user, tenant_id=tenant_id, user_id=user_id, dry_run=dry_run, wait=wait
        )

    async def forget_agent(
        self, *, tenant_id: str, agent_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything that one agent remembers, of every user."""
        return await self._workers.store(
            self._sync.forget_agent,
            tenant_id=tenant_id,
            agent_id=agent_id,
            dry_run=dry_run,
            wait=wait,
        )

    async def forget_tenant(
        self, *, tenant_id: str, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything of one tenant: every scope and every space."""
        return await self._workers.store(
            self._sync.forget_tenant, tenant_id=tenant_id, dry_run=dry_run, wait=wait
        )

    async def forget_space(
        self, space: Space, *, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete everything of one shared space."""
        return await self._workers.store(self._sync.forget_space, space, dry_run=dry_run, wait=wait)

    async def receipts(self, *, tenant_id: str, limit: int = 100) -> tuple[Receipt, ...]:
        """Return every receipt of a tenant as it stands now, newest first."""
        return await self._workers.store(self._sync.receipts, tenant_id=tenant_id, limit=limit)

    async def verify_receipt(self, receipt: Receipt, *, tenant_id: str) -> bool:
        """Return whether a receipt is exactly what this store issued, in its place in the chain."""
        return await self._workers.store(self._sync.verify_receipt, receipt, tenant_id=tenant_id)

    async def deletions(self) -> tuple[OpenDeletion, ...]:
        """Return the deletions that are not finished, oldest first, and what they wait for."""
        return await self._workers.store(self._sync.deletions)

    async def maintain(self) -> Upkeep:
        """Do what is due: carry on deletions, end lifetimes, compact once for all, and verify."""
        return await self._workers.store(self._sync.maintain)

    async def compact(self) -> None:
        """Do what the sync `compact` does."""
        await self._workers.store(self._sync.compact)


class AsyncScopedForgetting(AsyncScopedBase):
    """Forget within one scope, and read the receipts."""

    async def forget(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record with everything derived from it, and return the evidence."""
        return await self._workers.store(self._sync.forget, memory_id, wait=wait)

    async def retract(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record that was never true; its value stays out from now on."""
        return await self._workers.store(self._sync.retract, memory_id, wait=wait)

    async def forget_where(
        self,
        *,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        source_id: str | None = None,
        source_prefix: str | None = None,
        event_id: str | None = None,
        dry_run: bool = False,
        wait: bool = False,
    ) -> Receipt:
        """Delete every record and candidate of this scope that meets all conditions."""
        return await self._workers.store(
            self._sync.forget_where,
            kinds=kinds,
            filters=filters,
            source_id=source_id,
            source_prefix=source_prefix,
            event_id=event_id,
            dry_run=dry_run,
            wait=wait,
        )

    async def forget_all(self, *, dry_run: bool = False, wait: bool = False) -> Receipt:
        """Delete everything of this scope; its tombstones, audit trail and receipts stay."""
        return await self._workers.store(self._sync.forget_all, dry_run=dry_run, wait=wait)

    async def receipt(self, receipt_id: str) -> Receipt:
        """Return a receipt as it stands now: a deletion goes on after `forget` returned."""
        return await self._workers.store(self._sync.receipt, receipt_id)

    async def receipts(self, *, limit: int = 100) -> tuple[Receipt, ...]:
        """Return the receipts of what was deleted of this scope alone, newest first."""
        return await self._workers.store(self._sync.receipts, limit=limit)

    async def verify_receipt(self, receipt: Receipt) -> bool:
        """Return whether a receipt is exactly what this store issued, in its place in the chain."""
        return await self._workers.store(self._sync.verify_receipt, receipt)
