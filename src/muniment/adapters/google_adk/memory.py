"""ADK's memory service: events become candidates, records are what is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256

from muniment.adapters.bridge import AnyMemory, in_scope, missing, show
from muniment.clock import iso
from muniment.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    TombstonedError,
)
from muniment.records import PacketItem, Statement
from muniment.results import Candidate
from muniment.rules.packet import encode
from muniment.rules.text import tokenise
from muniment.scope import Scope
from muniment.scoped import DEFAULT_MINIMUM_SCORE, ScopedMemory

try:
    from google.adk.events.event import Event
    from google.adk.memory.base_memory_service import BaseMemoryService, SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions.session import Session
    from google.genai.types import Content, Part
except ImportError as error:
    raise missing("google-adk", "adk") from error

PROPOSER = "adk"
MOST_FOUND = 10
MOST_EVENTS = 1_000
PACKET_BUDGET = 2_000
UNAPPROVED = "[unapproved] "


class MunimentMemoryService(BaseMemoryService):
    """Long-term memory for ADK's runner, its `load_memory` and its `preload_memory`.

    Args:
        memory: The memory, sync or async. It is not closed by the service.
        tenant_id: The customer or organisation of everybody who uses the runner.
        kind: The kind of what `add_memory` stores.
        proposed_kind: The kind of the candidates that events become.
        with_events: Whether a search finds events that nobody approved too, labelled as such.
        most: Most memories that a search returns.
        minimum_score: Least score of a record that is found, in [0, 1].
    """

    def __init__(
        self,
        memory: AnyMemory,
        *,
        tenant_id: str,
        kind: str = "fact",
        proposed_kind: str = "context",
        with_events: bool = False,
        most: int = MOST_FOUND,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
    ) -> None:
        self._memory = memory
        self._tenant_id = tenant_id
        self._kind = kind
        self._proposed_kind = proposed_kind
        self._with_events = with_events
        self._most = most
        self._minimum_score = minimum_score

    async def add_session_to_memory(self, session: Session) -> None:
        """Propose every event of a session that says something; what is known already stays.

        Args:
            session: The session.

        Raises:
            StoreError: The database failed; what was proposed before is kept.
        """
        await self.add_events_to_memory(
            app_name=session.app_name,
            user_id=session.user_id,
            events=session.events,
            session_id=session.id,
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Propose events that say something. An event is proposed once, and never after deletion.

        What screening refuses is left out; the audit trail says so.

        Args:
            app_name: The app.
            user_id: The person.
            events: The events.
            session_id: The session, kept as a label.
            custom_metadata: Not used.

        Raises:
            StoreError: The database failed; what was proposed before is kept.
        """
        said = [(event.id, event.author, _text_of(event.content)) for event in events]

        def work(scoped: ScopedMemory) -> None:
            for event_id, author, text in said:
                if text and event_id:
                    self._propose(scoped, event_id, text, {"author": author, "session": session_id})

        await in_scope(self._memory, self._scope(app_name, user_id), work)

    def _propose(
        self, scoped: ScopedMemory, event_id: str, text: str, labels: Mapping[str, str | None]
    ) -> None:
        try:
            scoped.propose(
                text,
                kind=self._proposed_kind,
                source_id=f"adk:{event_id}",
                evidence=[event_id],
                proposer=PROPOSER,
                metadata={name: label for name, label in labels.items() if label},
            )
        except InvalidInputError as wrong:
            scoped.delegate().refuse(wrong.code)
        except (ConflictError, RefusedError, TombstonedError):
            return

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories that the application approves, all or none.

        Args:
            app_name: The app.
            user_id: The person.
            memories: What to store. An `id` makes a repeated call harmless.
            custom_metadata: Not used.

        Raises:
            BatchError: One of them is malformed, refused or was forgotten; nothing was written.
            StoreError: The database failed; nothing was written.
        """
        statements = [self._statement(entry) for entry in memories]
        await in_scope(
            self._memory,
            self._scope(app_name, user_id),
            lambda scoped: scoped.remember_many(statements, approved=True),
        )

    def _statement(self, entry: MemoryEntry) -> Statement:
        text = _text_of(entry.content)
        digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        return Statement(kind=self._kind, text=text, source_id=f"adk-memory:{entry.id or digest}")

    async def search_memory(
        self, *, app_name: str, user_id: str, query: str
    ) -> SearchMemoryResponse:
        """Return the records that bear on a question, best first.

        With `with_events`, candidates that share words with the question follow, labelled
        `[unapproved]`, as far as there is room.

        Args:
            app_name: The app.
            user_id: The person.
            query: The question.

        Raises:
            StoreError: The database cannot be read.
        """

        def work(scoped: ScopedMemory) -> list[MemoryEntry]:
            packet = show(
                scoped,
                query,
                limit=self._most,
                minimum_score=self._minimum_score,
                budget=PACKET_BUDGET,
            )
            found = [_entry_of(item) for item in packet or ()]
            if self._with_events:
                found += _unapproved(scoped, query, self._most - len(found))
            return found

        scope = self._scope(app_name, user_id)
        return SearchMemoryResponse(memories=await in_scope(self._memory, scope, work))

    async def delete_memory(
        self, *, app_name: str, user_id: str, memory_id: str | None = None
    ) -> None:
        """Delete what a search returned under an id; no later session brings it back.

        Args:
            app_name: The app.
            user_id: The person.
            memory_id: The `id` of the entry. One that this person does not have is left alone.

        Raises:
            StoreError: The database failed; it is still there.
        """
        if memory_id:
            await in_scope(
                self._memory,
                self._scope(app_name, user_id),
                lambda scoped: _delete(scoped, memory_id),
            )

    def _scope(self, app_name: str, user_id: str) -> Scope:
        return Scope(self._tenant_id, user_id, app_name)


def _delete(scoped: ScopedMemory, memory_id: str) -> None:
    with suppress(NotFoundError):
        if memory_id.startswith("cnd_"):
            candidate = scoped.candidate(memory_id)
            scoped.forget_where(source_id=candidate.statement.source_id)
        else:
            scoped.forget(memory_id)


def _text_of(content: Content | None) -> str:
    parts = (content.parts or ()) if content is not None else ()
    return " ".join(part.text for part in parts if part.text and not part.thought).strip()


def _fenced(text: str) -> str:
    """Return a text on one line that cannot close the frame that ADK puts around it."""
    return encode(text)[1:-1].replace('\\"', '"')


def _entry_of(item: PacketItem) -> MemoryEntry:
    record = item.record
    return MemoryEntry(
        id=record.memory_id,
        content=Content(role="user", parts=[Part(text=_fenced(record.text))]),
        author="memory",
        timestamp=iso(record.valid_from or record.created_at),
        custom_metadata={"kind": record.kind, "approved": True, "contested": item.contested},
    )


def _unapproved(scoped: ScopedMemory, query: str, room: int) -> Iterator[MemoryEntry]:
    """Yield the candidates made of events that share most words with a question."""
    wanted = set(tokenise(query))
    waiting = [one for one in scoped.candidates(limit=MOST_EVENTS) if one.actor == PROPOSER]
    shared = [(len(wanted & set(tokenise(one.statement.text))), one) for one in waiting]
    best = sorted((pair for pair in shared if pair[0]), key=lambda pair: -pair[0])
    for _, candidate in best[: max(room, 0)]:
        yield _entry_of_candidate(candidate)


def _entry_of_candidate(candidate: Candidate) -> MemoryEntry:
    said = candidate.statement
    return MemoryEntry(
        id=candidate.candidate_id,
        content=Content(role="user", parts=[Part(text=UNAPPROVED + _fenced(said.text))]),
        author=str(said.metadata.get("author", "unknown")),
        timestamp=iso(candidate.created_at),
        custom_metadata={"kind": said.kind, "approved": False},
    )
