"""The memory service and the session service for Google ADK."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.adapters.sdk import needed

needed("google.adk", "adk")

from google.adk.errors import StaleSessionError
from google.adk.errors.already_exists_error import AlreadyExistsError
from google.adk.errors.session_not_found_error import SessionNotFoundError
from google.adk.events import Event, EventActions
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions import Session
from google.adk.sessions.base_session_service import GetSessionConfig
from google.genai.types import Content, Part

from muniment import BatchError, InvalidInputError
from muniment.adapters.google_adk import MunimentMemoryService, MunimentSessionService
from muniment.results import CandidateStatus
from tests.adapters.conftest import APP, Store


def event(event_id: str, text: str, author: str = "user", **actions: Any) -> Event:
    return Event(
        id=event_id,
        author=author,
        invocation_id="i",
        content=Content(role="user", parts=[Part(text=text)]),
        actions=EventActions(**actions),
    )


async def added(memory: MunimentMemoryService, *events: Event, user_id: str = "1001") -> None:
    session = Session(id="session-1", app_name=APP, user_id=user_id, events=list(events))
    await memory.add_session_to_memory(session)


async def found(memory: MunimentMemoryService, query: str, user_id: str = "1001") -> list[str]:
    response = await memory.search_memory(app_name=APP, user_id=user_id, query=query)
    return [str((one.content.parts or [Part()])[0].text) for one in response.memories]


@pytest.mark.promise("TOO-5")
def test_events_become_candidates_once_and_records_when_approved(store: Store) -> None:
    memory = MunimentMemoryService(store.memory, tenant_id="acme")
    first, second = event("e1", "I like red apples."), event("e2", "Noted.", "calculator")

    async def work() -> list[str]:
        await added(memory, first, second)
        await added(memory, first, second)
        await memory.add_events_to_memory(app_name=APP, user_id="1001", events=[first])
        return await found(memory, "apples")

    assert asyncio.run(work()) == []
    waiting = store.look(lambda me: me.candidates())
    assert [one.statement.text for one in waiting] == ["Noted.", "I like red apples."]
    assert [one.evidence for one in waiting] == [("e2",), ("e1",)]
    one = waiting[-1]
    store.look(
        lambda me: me.approve(one.candidate_id, version=one.version, content_hash=one.content_hash)
    )
    assert asyncio.run(found(memory, "apples")) == ["I like red apples."]
    assert asyncio.run(found(memory, "apples", "102")) == []


@pytest.mark.promise("TOO-5")
def test_a_search_over_events_labels_what_nobody_approved_and_is_capped(plain: Store) -> None:
    memory = MunimentMemoryService(plain.memory, tenant_id="acme", with_events=True, most=3)
    entry = MemoryEntry(content=Content(parts=[Part(text="Apples are kept in the cellar.")]))

    async def work() -> list[str]:
        await added(memory, *(event(f"e{n}", f"Apples of sort {n}") for n in range(5)))
        await memory.add_memory(app_name=APP, user_id="1001", memories=[entry])
        return await found(memory, "apples")

    shown = asyncio.run(work())

    assert len(shown) == 3
    assert shown[0] == "Apples are kept in the cellar."
    assert all(text.startswith("[unapproved] Apples of sort") for text in shown[1:])


@pytest.mark.promise("TOO-5")
def test_what_was_deleted_does_not_come_back_with_a_later_session(store: Store) -> None:
    memory = MunimentMemoryService(store.memory, tenant_id="acme", with_events=True)
    said = event("e1", "I like red apples.")

    async def deleted(user_id: str) -> list[str]:
        response = await memory.search_memory(app_name=APP, user_id="1001", query="apples")
        for one in response.memories:
            await memory.delete_memory(app_name=APP, user_id=user_id, memory_id=one.id)
        await added(memory, said)
        return await found(memory, "apples")

    asyncio.run(added(memory, said))
    assert asyncio.run(deleted("102")) == ["[unapproved] I like red apples."]
    assert asyncio.run(deleted("1001")) == []
    pending = store.look(lambda me: me.candidates(status=CandidateStatus.PENDING))
    assert pending == ()

    asyncio.run(added(memory, event("e2", "I keep pears too.")))
    (one,) = store.look(lambda me: me.candidates())
    store.look(
        lambda me: me.approve(one.candidate_id, version=one.version, content_hash=one.content_hash)
    )
    asyncio.run(deleted_record(memory))
    asyncio.run(added(memory, event("e2", "I keep pears too.")))
    assert asyncio.run(found(memory, "pears")) == []


async def deleted_record(memory: MunimentMemoryService) -> None:
    response = await memory.search_memory(app_name=APP, user_id="1001", query="pears")
    (one,) = response.memories
    assert (one.custom_metadata["approved"], one.author) == (True, "memory")
    await memory.delete_memory(app_name=APP, user_id="1001", memory_id=one.id)
    await memory.delete_memory(app_name=APP, user_id="1001", memory_id=None)


def test_added_memories_are_records_all_or_none(plain: Store) -> None:
    memory = MunimentMemoryService(plain.memory, tenant_id="acme")

    async def add(*texts: str) -> None:
        entries = [MemoryEntry(content=Content(parts=[Part(text=text)])) for text in texts]
        await memory.add_memory(app_name=APP, user_id="1001", memories=entries)

    with pytest.raises(BatchError):
        asyncio.run(add("Apples are cheap.", "Pay with 4111 1111 1111 1111."))
    assert plain.records() == []
    asyncio.run(add("Apples are cheap."))
    asyncio.run(add("Apples are cheap."))
    assert [record.text for record in plain.records()] == ["Apples are cheap."]


def test_what_screening_refuses_is_left_out_and_the_rest_is_proposed(plain: Store) -> None:
    memory = MunimentMemoryService(plain.memory, tenant_id="acme")

    asyncio.run(
        added(memory, event("e1", "Pay with 4111 1111 1111 1111."), event("e2", "x" * 200_000))
    )
    asyncio.run(added(memory, event("e3", "Likes red apples.")))

    assert [one.statement.text for one in plain.look(lambda me: me.candidates())] == [
        "Likes red apples."
    ]
    assert [one.action for one in plain.look(lambda me: me.audit())][:2] == ["refused", "refused"]


@pytest.mark.promise("TOO-5")
def test_slashes_in_app_and_user_make_no_two_of_them_one(plain: Store) -> None:
    memory = MunimentMemoryService(plain.memory, tenant_id="acme")
    sessions = MunimentSessionService(plain.memory, tenant_id="acme")
    entry = MemoryEntry(content=Content(parts=[Part(text="Apples are cheap.")]))

    async def work() -> list[object]:
        await memory.add_memory(app_name="a/b", user_id="c", memories=[entry])
        await sessions.create_session(app_name="a/b", user_id="c", session_id="s")
        other = await memory.search_memory(app_name="a", user_id="b/c", query="apples")
        return [
            other.memories,
            await sessions.get_session(app_name="a", user_id="b/c", session_id="s"),
        ]

    assert asyncio.run(work()) == [[], None]


@pytest.mark.promise("TOO-5")
def test_state_is_shared_by_its_prefix_and_temporary_state_is_never_kept(store: Store) -> None:
    sessions = MunimentSessionService(store.memory, tenant_id="acme")
    first = {"a": 1, "user:u": 2, "app:p": 3, "temp:t": 4}

    async def work() -> list[Any]:
        made = await sessions.create_session(
            app_name=APP, user_id="1001", session_id="s1", state=first
        )
        await sessions.append_event(
            made,
            event("e1", "x", state_delta={"a": 10, "user:u": 20, "temp:t": 40, "b": [1]}),
        )
        other = await sessions.create_session(app_name=APP, user_id="1001", session_id="s2")
        stranger = await sessions.create_session(app_name=APP, user_id="102", session_id="s1")
        again = await sessions.get_session(app_name=APP, user_id="1001", session_id="s1")
        assert again is not None
        kept = again.events[0].actions.state_delta
        user = await sessions.get_user_state(app_name=APP, user_id="1001")
        return [made.state, again.state, kept, other.state, stranger.state, user]

    made, again, kept, other, stranger, user = asyncio.run(work())

    assert made == {"a": 10, "b": [1], "user:u": 20, "app:p": 3, "temp:t": 40}
    assert again == {"a": 10, "b": [1], "user:u": 20, "app:p": 3}
    assert kept == {"a": 10, "user:u": 20, "b": [1]}
    assert other == {"user:u": 20, "app:p": 3}
    assert stranger == {"app:p": 3}
    assert user == {"u": 20}


@pytest.mark.promise("TOO-5")
def test_a_stale_session_is_refused_and_a_repeated_event_is_not(plain: Store) -> None:
    sessions = MunimentSessionService(plain.memory, tenant_id="acme")
    named: dict[str, Any] = {"app_name": APP, "user_id": "1001", "session_id": "s1"}

    async def work() -> list[str]:
        mine = await sessions.create_session(**named)
        theirs = await sessions.get_session(**named)
        assert theirs is not None
        await sessions.append_event(mine, event("e1", "first"))
        await sessions.append_event(mine, event("e2", "second"))
        await sessions.append_event(mine, mine.events[-1])
        with pytest.raises(StaleSessionError):
            await sessions.append_event(theirs, event("e3", "late"))
        partial = event("e4", "half")
        partial.partial = True
        await sessions.append_event(mine, partial)
        again = await sessions.get_session(**named)
        assert again is not None
        assert [one.id for one in mine.events] == ["e1", "e2"]
        await sessions.append_event(again, event("e5", "third"))
        last = await sessions.get_session(**named, config=GetSessionConfig(num_recent_events=2))
        none = await sessions.get_session(**named, config=GetSessionConfig(num_recent_events=0))
        assert last is not None
        assert none is not None
        assert none.events == []
        return [one.id for one in last.events]

    assert asyncio.run(work()) == ["e2", "e5"]


@pytest.mark.promise("TOO-5")
def test_sessions_are_listed_oldest_first_and_deleted_with_a_receipt(plain: Store) -> None:
    sessions = MunimentSessionService(plain.memory, tenant_id="acme")

    async def work() -> list[list[str]]:
        made = [
            await sessions.create_session(app_name=APP, user_id="1001", session_id=name)
            for name in ("s1", "s2", "s3")
        ]
        await sessions.append_event(made[0], event("e1", "x"))
        listed = [await sessions.list_sessions(app_name=APP, user_id="1001")]
        await sessions.delete_session(app_name=APP, user_id="102", session_id="s2")
        await sessions.delete_session(app_name=APP, user_id="1001", session_id="s2")
        listed.append(await sessions.list_sessions(app_name=APP, user_id="1001"))
        with pytest.raises(SessionNotFoundError):
            await sessions.append_event(made[1], event("e2", "late"))
        with pytest.raises(AlreadyExistsError):
            await sessions.create_session(app_name=APP, user_id="1001", session_id="s1")
        fresh = await sessions.create_session(app_name=APP, user_id="1001", session_id="s2")
        assert fresh.events == []
        with pytest.raises(InvalidInputError, match="user_id"):
            await sessions.list_sessions(app_name=APP)
        return [[one.id for one in response.sessions] for response in listed]

    assert asyncio.run(work()) == [["s2", "s3", "s1"], ["s3", "s1"]]
    assert [one.target for one in plain.look(lambda me: me.receipts())] == ["thread"]


def test_the_apps_own_state_is_no_users(plain: Store) -> None:
    sessions = MunimentSessionService(plain.memory, tenant_id="acme")

    with pytest.raises(InvalidInputError, match="app"):
        asyncio.run(sessions.create_session(app_name=APP, user_id="app:"))
