# Generated from scoped/items.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.items`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.records import JSONValue
from muniment.threads import Item, NewItem

if TYPE_CHECKING:
    from muniment.scoped.items import Items


class AsyncItems:
    """JSON values that the application keeps in a scope. Use `ScopedMemory.items` to reach them.

    They are written by the application alone, screened as every write is, and never recalled.
    """

    def __init__(self, sync: Items, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Items], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    @property
    def store(self) -> str:
        """Which of the application's stores it is."""
        return self._sync.store

    async def put(
        self,
        namespace: Sequence[str],
        key: str,
        value: Mapping[str, JSONValue],
        *,
        idle: timedelta | None = None,
        expires_at: datetime | str | timedelta | None = None,
        vectors: Mapping[str, Sequence[float]] | None = None,
        model: str = "",
    ) -> None:
        """Keep a value under a namespace and a key, in the place of one that was there."""
        await self._workers.store(
            self._sync.put,
            namespace,
            key,
            value,
            idle=idle,
            expires_at=expires_at,
            vectors=vectors,
            model=model,
        )

    async def put_many(self, changes: Sequence[NewItem | tuple[Sequence[str], str]]) -> None:
        """Put and delete in order, in one transaction."""
        await self._workers.store(self._sync.put_many, changes)

    async def get(self, namespace: Sequence[str], key: str, *, refresh: bool = True) -> Item | None:
        """Return an item, or None when there is none or its time is over."""
        return await self._workers.store(self._sync.get, namespace, key, refresh=refresh)

    async def get_many(
        self, addresses: Sequence[tuple[Sequence[str], str]], *, refresh: bool = True
    ) -> tuple[Item | None, ...]:
        """Return several items by namespace and key, in order; None where there is none."""
        return await self._workers.store(self._sync.get_many, addresses, refresh=refresh)

    async def delete(self, namespace: Sequence[str], key: str) -> bool:
        """Delete an item; return whether there was one. A tombstone of its id is left."""
        return await self._workers.store(self._sync.delete, namespace, key)

    async def search(
        self,
        prefix: Sequence[str] = (),
        *,
        where: Callable[[Item], bool] | None = None,
        vector: Sequence[float] | None = None,
        model: str = "",
        limit: int | None = 10,
        offset: int = 0,
        refresh: bool = True,
    ) -> tuple[Item, ...]:
        """Return items under a namespace: those put last first, or those nearest to a vector."""
        return await self._workers.store(
            self._sync.search,
            prefix,
            where=where,
            vector=vector,
            model=model,
            limit=limit,
            offset=offset,
            refresh=refresh,
        )

    async def namespaces(self) -> tuple[tuple[str, ...], ...]:
        """Return every namespace that holds an item, in order."""
        return await self._workers.store(self._sync.namespaces)

    async def sweep(self) -> int:
        """Delete the items whose time is over; return how many. Maintenance does it too."""
        return await self._workers.store(self._sync.sweep)
