"""A thread is an ordered, append-only log of one scope."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    VersionConflictError,
)
from muniment.records import JSONValue
from muniment.storage import Postgres
from muniment.testing import FrozenClock
from muniment.threads import NewEvent


def numbers(me: ScopedMemory, thread_id: str = "t") -> list[int]:
    return [event.number for event in me.thread(thread_id).latest(None)]


@pytest.mark.promise("THR-2")
@pytest.mark.parametrize(
    "content",
    ["سلام", "", None, 3, 2.5, True, [], {"role": "user", "z": 1, "a": [None, {"k": "\ud800"}]}],
)
def test_an_event_comes_back_as_it_was_appended(me: ScopedMemory, content: JSONValue) -> None:
    thread = me.thread("t")
    kept = thread.append(content, event_id="e")
    assert thread.event("e") == kept
    assert (kept.content, kept.number) == (content, 1)
    assert thread.events() == thread.latest() == (kept,)


@pytest.mark.promise("THR-2", "SCO-1")
def test_the_same_thread_id_under_another_user_is_another_thread(
    me: ScopedMemory, other: ScopedMemory
) -> None:
    me.thread("session_1").append("I have 12 apples.", event_id="e")
    assert other.thread("session_1").info() is None
    assert other.thread("session_1").latest() == ()
    assert other.threads() == ()
    with pytest.raises(NotFoundError):
        other.thread("session_1").event("e")
    with pytest.raises(NotFoundError):
        other.forget_thread("session_1")
    other.thread("session_1").append("I have none.", event_id="e")
    assert [event.content for event in me.thread("session_1").latest()] == ["I have 12 apples."]


@pytest.mark.promise("THR-2")
def test_one_id_names_one_thread_of_each_type(me: ScopedMemory) -> None:
    me.thread("t").append(1)
    me.thread("t", type="workflow").append(2)
    assert [event.content for event in me.thread("t").latest()] == [1]
    assert {one.type for one in me.threads()} == {"conversation", "workflow"}
    assert [one.type for one in me.threads(type="workflow")] == ["workflow"]


@pytest.mark.promise("THR-2", "WRI-3")
def test_an_event_is_appended_once_however_often_it_comes(me: ScopedMemory) -> None:
    thread = me.thread("t")
    first = thread.append({"a": 1, "b": 2}, event_id="e")
    assert thread.append({"b": 2, "a": 1}, event_id="e") == first
    with pytest.raises(ConflictError):
        thread.append({"a": 1, "b": 3}, event_id="e")
    info = thread.info()
    assert info is not None
    assert (info.version, info.last_number) == (1, 1)


@pytest.mark.promise("THR-2")
def test_many_events_are_appended_all_or_none(me: ScopedMemory) -> None:
    thread = me.thread("t")
    thread.append("one", event_id="e1")
    with pytest.raises(ConflictError):
        thread.append_many([NewEvent("two"), NewEvent("other", "e1")])
    assert numbers(me) == [1]
    thread.append_many([NewEvent("one", "e1"), NewEvent("two"), NewEvent("three")])
    assert numbers(me) == [1, 2, 3]


@pytest.mark.promise("THR-2")
def test_a_writer_that_asks_is_told_that_the_thread_moved(me: ScopedMemory) -> None:
    thread = me.thread("t")
    thread.append("a", expected_version=0)
    thread.append("b", expected_version=1)
    with pytest.raises(VersionConflictError) as caught:
        thread.append("c", expected_version=1)
    assert caught.value.details == {"version": 2}
    with pytest.raises(VersionConflictError):
        thread.set_state({}, expected_version=0)
    assert numbers(me) == [1, 2]


@pytest.mark.promise("THR-2")
def test_pages_go_forwards_and_backwards(me: ScopedMemory) -> None:
    thread = me.thread("t")
    thread.append_many([NewEvent(n) for n in range(1, 8)])

    def seen(events: tuple[muniment.threads.Event, ...]) -> list[int]:
        return [event.number for event in events]

    assert seen(thread.events(limit=3)) == [1, 2, 3]
    assert seen(thread.events(after=3, limit=3)) == [4, 5, 6]
    assert seen(thread.latest(2)) == [6, 7]
    assert seen(thread.latest(3, before=6)) == [3, 4, 5]
    assert seen(thread.latest(None)) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.promise("THR-2", "AUD-1")
def test_a_withdrawn_event_leaves_a_gap_and_an_audit_entry(me: ScopedMemory) -> None:
    thread = me.thread("t")
    thread.append_many([NewEvent("a"), NewEvent("withdrawn words")])
    popped = thread.pop()
    assert popped is not None
    assert (popped.content, popped.number) == ("withdrawn words", 2)
    assert thread.append("c").number == 3
    assert numbers(me) == [1, 3]
    assert [entry.action for entry in me.audit()] == ["append", "withdraw", "append"]
    assert "withdrawn" not in repr(me.audit())
    assert (thread.pop(), thread.pop(), thread.pop(), me.thread("none").pop())[2:] == (None, None)


def test_state_and_order_of_threads(me: ScopedMemory, clock: FrozenClock) -> None:
    for name in ("a", "b", "c"):
        me.thread(name).create(state={"name": name})
        clock.advance(seconds=1)
    me.thread("a").set_state({"name": "A"})
    assert [one.thread_id for one in me.threads()] == ["a", "c", "b"]
    assert [one.thread_id for one in me.threads(oldest_first=True, limit=1)] == ["b"]
    assert me.threads()[0].state == {"name": "A"}
    assert me.thread("a").create(state={"name": "ignored"}).state == {"name": "A"}


@pytest.mark.promise("THR-2")
def test_a_thread_past_its_time_is_unseen_and_swept(
    memory: Memory, me: ScopedMemory, clock: FrozenClock
) -> None:
    thread = me.thread("t")
    thread.append("old", event_id="e")
    thread.keep_until("2030-01-01T00:00:10Z")
    me.thread("kept").append("kept")
    clock.advance(seconds=10)
    assert thread.info() is None
    assert thread.latest() == ()
    assert [one.thread_id for one in me.threads()] == ["kept"]
    assert memory.maintain().ended == 1
    counts = me.counts()
    assert (counts.threads, counts.entries, counts.tombstones) == (1, 1, 0)
    assert thread.append("new", event_id="e").number == 1


def test_what_comes_after_the_end_of_a_thread_begins_it_anew(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    thread = me.thread("t")
    thread.create(state={"old": True}, expires_at="2030-01-01T00:00:10Z")
    thread.append("old")
    clock.advance(seconds=10)
    thread.append("new")
    assert [event.content for event in thread.latest()] == ["new"]
    info = thread.info()
    assert info is not None
    assert (info.state, info.expires_at) == ({}, None)


@pytest.mark.parametrize("content", [{1, 2}, float("nan"), object(), b"bytes"])
def test_what_is_not_json_is_refused(me: ScopedMemory, content: JSONValue) -> None:
    with pytest.raises(InvalidInputError):
        me.thread("t").append(content)


@pytest.mark.parametrize("name", ["", " ", "a\0b", 3, None])
def test_a_thread_needs_a_name(me: ScopedMemory, name: str) -> None:
    with pytest.raises(InvalidInputError):
        me.thread(name)
    with pytest.raises(InvalidInputError):
        me.thread("t").append(1, event_id=name or "")


@pytest.mark.promise("THR-1")
def test_what_was_said_is_not_what_is_remembered(me: ScopedMemory) -> None:
    me.thread("t").append("The most apples I can have is 100.")
    assert me.recall("How many apples?", minimum_score=-1).packet.items == ()
    assert me.list().records == ()
    assert me.candidates() == ()


@pytest.mark.promise("THR-2")
def test_writers_of_two_connections_lose_and_double_nothing(location: Path | Postgres) -> None:
    memories = [muniment.open(location, embedder="none") for _ in range(2)]
    threads = [one.scoped(tenant_id="a", user_id="u", agent_id="g").thread("t") for one in memories]

    def write(at: int) -> None:
        for number in range(30):
            threads[at % 2].append(number, event_id=f"shared-{number}")

    workers = [threading.Thread(target=write, args=(at,)) for at in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    found = threads[0].latest(None)
    assert [event.number for event in found] == list(range(1, 31))
    assert sorted(str(event.content) for event in found) == sorted(map(str, range(30)))
    for memory in memories:
        memory.close()
