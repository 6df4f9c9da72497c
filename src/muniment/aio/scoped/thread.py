# Generated from scoped/thread.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.thread`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.records import JSONValue
from muniment.results import Receipt
from muniment.threads import Event, NewEvent, NewSummary, Summary, ThreadInfo

if TYPE_CHECKING:
    from muniment.scoped.thread import Thread


class AsyncThread:
    """An ordered, append-only log of one scope. Use `ScopedMemory.thread` to reach one."""

    def __init__(self, sync: Thread, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Thread], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    @property
    def thread_id(self) -> str:
        """The application's id of it."""
        return self._sync.thread_id

    @property
    def type(self) -> str:
        """What sort of thread it is."""
        return self._sync.type

    async def create(
        self,
        *,
        state: Mapping[str, JSONValue] | None = None,
        expires_at: datetime | str | None = None,
        anew: bool = False,
    ) -> ThreadInfo:
        """Begin the thread unless it was begun before, and return it as it stands."""
        return await self._workers.store(
            self._sync.create, state=state, expires_at=expires_at, anew=anew
        )

    async def info(self) -> ThreadInfo | None:
        """Return the thread as it stands; None when it was never begun or its time is over."""
        return await self._workers.store(self._sync.info)

    async def append(
        self,
        content: JSONValue,
        *,
        event_id: str | None = None,
        expected_version: int | None = None,
    ) -> Event:
        """Append one event, and begin the thread with it if need be."""
        return await self._workers.store(
            self._sync.append, content, event_id=event_id, expected_version=expected_version
        )

    async def append_many(
        self, events: Sequence[NewEvent], *, expected_version: int | None = None
    ) -> tuple[Event, ...]:
        """Append several events in order, all or none; arguments and errors as in `append`."""
        return await self._workers.store(
            self._sync.append_many, events, expected_version=expected_version
        )

    async def events(self, *, after: int = 0, limit: int = 100) -> tuple[Event, ...]:
        """Return events in order."""
        return await self._workers.store(self._sync.events, after=after, limit=limit)

    async def latest(
        self, limit: int | None = 100, *, before: int | None = None
    ) -> tuple[Event, ...]:
        """Return the last events, in order."""
        return await self._workers.store(self._sync.latest, limit, before=before)

    async def event(self, event_id: str) -> Event:
        """Return one event by its id."""
        return await self._workers.store(self._sync.event, event_id)

    async def pop(self) -> Event | None:
        """Withdraw the last event for good and return it; None when there is none."""
        return await self._workers.store(self._sync.pop)

    async def set_state(
        self, state: Mapping[str, JSONValue], *, expected_version: int | None = None
    ) -> ThreadInfo:
        """Give the thread another state."""
        return await self._workers.store(
            self._sync.set_state, state, expected_version=expected_version
        )

    async def keep_until(self, expires_at: datetime | str | None) -> ThreadInfo | None:
        """Set when to stop keeping the thread with everything in it; None for never."""
        return await self._workers.store(self._sync.keep_until, expires_at)

    async def save_summary(self, summary: NewSummary) -> Summary:
        """Keep a summary of a range of the thread's events. It is a lossy index, and no record."""
        return await self._workers.store(self._sync.save_summary, summary)

    async def summaries(self) -> tuple[Summary, ...]:
        """Return the thread's summaries as they were made, stale ones included."""
        return await self._workers.store(self._sync.summaries)

    async def clear(self, *, wait: bool = False) -> Receipt:
        """Delete everything in the thread; its id may go on to be used."""
        return await self._workers.store(self._sync.clear, wait=wait)

    async def forget(
        self, *, cascade: bool = False, dry_run: bool = False, wait: bool = False
    ) -> Receipt:
        """Delete the thread with everything in it; see `ScopedMemory.forget_thread`."""
        return await self._workers.store(
            self._sync.forget, cascade=cascade, dry_run=dry_run, wait=wait
        )
