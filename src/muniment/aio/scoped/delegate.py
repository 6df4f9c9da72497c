# Generated from scoped/delegate.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.delegate`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from muniment.aio.workers import T, Workers
from muniment.records import JSONValue, Packet, PacketItem, Page
from muniment.results import Candidate, Receipt, Written
from muniment.scope import Scope
from muniment.scoped.delegate import Writes

if TYPE_CHECKING:
    from muniment.scoped.delegate import Delegate


class AsyncDelegate:
    """The hand of an agent in one scope, as far as the application lets it reach.

    With `writes="propose"` what the agent says waits for review. With `writes="explicit"` it is a
    record at once, written by the agent for the person: a statement that the person made outranks
    it, and it cannot bring back what was forgotten.
    """

    def __init__(self, sync: Delegate, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    async def run(self, work: Callable[[Delegate], T]) -> T:
        """Run several calls of the sync twin, one after another, on one worker thread."""
        return await self._workers.store(work, self._sync)

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._sync.scope

    @property
    def writes(self) -> Writes:
        """What becomes of the agent's statements."""
        return self._sync.writes

    async def remember(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        field: str | None = None,
        value: JSONValue = None,
    ) -> Written | Candidate:
        """Store or propose one statement, as the application granted."""
        return await self._workers.store(
            self._sync.remember, text, kind=kind, source_id=source_id, field=field, value=value
        )

    async def forget(self, memory_id: str) -> Receipt:
        """Delete a record with everything derived from it, in the name of the person."""
        return await self._workers.store(self._sync.forget, memory_id)

    async def list(self, *, limit: int = 50, cursor: str | None = None) -> Page:
        """Return one page of the records that the policy shows an agent, newest first."""
        return await self._workers.store(self._sync.list, limit=limit, cursor=cursor)

    async def note_used(self, packet: Packet) -> None:
        """Write down in the audit trail that a model was shown a packet's records, if any."""
        await self._workers.store(self._sync.note_used, packet)

    async def named(self, field: str) -> tuple[PacketItem, ...]:
        """Return the records that hold a field now, as far as the policy shows them to an agent."""
        return await self._workers.store(self._sync.named, field)

    async def refuse(self, reason: str) -> None:
        """Write down in the audit trail that a request of the agent was refused."""
        await self._workers.store(self._sync.refuse, reason)
