"""LangGraph's checkpoints over the threads of one scope: what its own suites cannot know."""

from __future__ import annotations

import asyncio
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.channels.delta import DeltaChannel
from langgraph.graph import StateGraph
from langgraph.types import Command, interrupt

import muniment
from muniment import InvalidInputError, TombstonedError
from muniment.adapters.langgraph import MunimentSaver, for_scope
from muniment.errors import StoreClosedError
from muniment.testing import FrozenClock
from tests.adapters.graphs.conftest import ALICE, BOB, Of

THREAD: Any = {"configurable": {"thread_id": "1"}}


class State(TypedDict):
    said: Annotated[list[str], operator.add]


def graph(saver: MunimentSaver | None, state: type = State) -> Any:
    builder: Any = StateGraph(state)
    builder.add_node("answer", lambda _: {"said": ["answer"]})
    builder.set_entry_point("answer")
    builder.set_finish_point("answer")
    return builder.compile(checkpointer=saver)


def say(saver: MunimentSaver, text: str) -> list[str]:
    said: list[str] = graph(saver).invoke({"said": [text]}, THREAD)["said"]
    return said


@pytest.mark.promise("TOO-6", "THR-2")
def test_the_same_thread_id_of_another_user_is_another_thread(of: Of) -> None:
    alice, bob = MunimentSaver(of(ALICE)), MunimentSaver(of(BOB))
    say(alice, "my secret plan")

    assert bob.get_tuple(THREAD) is None
    assert not list(bob.list(None))
    assert not list(bob.list(THREAD))
    bob.copy_thread("1", "2")
    assert bob.get_tuple({"configurable": {"thread_id": "2"}}) is None
    assert say(bob, "hello") == ["hello", "answer"]
    bob.delete_for_runs([str(one.metadata.get("run_id")) for one in alice.list(THREAD)])
    bob.prune(["1"], strategy="delete")
    bob.delete_thread("1")

    assert say(alice, "go on") == ["my secret plan", "answer", "go on", "answer"]


def test_one_graph_serves_every_user(of: Of) -> None:
    compiled = graph(None)

    said = [
        for_scope(compiled, of(scope)).invoke({"said": [scope.user_id]}, THREAD)["said"]
        for scope in (ALICE, BOB, ALICE)
    ]

    assert said[1] == ["bob", "answer"]
    assert said[2] == ["alice", "answer", "alice", "answer"]
    assert compiled.checkpointer is None


def test_a_thread_that_waits_for_a_person_goes_on_after_the_file_was_closed(tmp_path: Path) -> None:
    def asked(_: State) -> dict[str, list[str]]:
        return {"said": [interrupt("May I?")]}

    builder: Any = StateGraph(State)
    builder.add_node("ask", asked)
    builder.set_entry_point("ask")
    with MunimentSaver.from_conn_string(tmp_path / "a.db", scope=ALICE) as saver:
        builder.compile(checkpointer=saver).invoke({"said": ["book it"]}, THREAD)
    with pytest.raises(StoreClosedError):
        saver.get_tuple(THREAD)

    async def resumed() -> list[str]:
        opening = MunimentSaver.from_conn_string_async(tmp_path / "a.db", scope=ALICE)
        async with opening as again:
            ends = await builder.compile(checkpointer=again).ainvoke(Command(resume="yes"), THREAD)
        said: list[str] = ends["said"]
        return said

    assert asyncio.run(resumed()) == ["book it", "yes"]


def test_a_sealed_file_shows_nothing_of_a_thread(tmp_path: Path) -> None:
    with muniment.open(tmp_path / "a.db", embedder="none", sealed=True) as memory:
        say(MunimentSaver(memory.scoped(**ALICE.to_dict())), "the velvet rhinoceros")

    for file in tmp_path.glob("a.db*"):
        assert b"velvet" not in file.read_bytes()


def test_a_forgotten_thread_does_not_come_back(of: Of) -> None:
    saver = MunimentSaver(of(ALICE))
    say(saver, "my secret plan")
    of(ALICE).forget_thread("1", type="graph")

    assert saver.get_tuple(THREAD) is None
    with pytest.raises(TombstonedError):
        say(saver, "go on")


def test_a_deleted_thread_begins_anew(of: Of) -> None:
    saver = MunimentSaver(of(ALICE))
    say(saver, "my secret plan")
    saver.delete_thread("1")

    assert say(saver, "hello") == ["hello", "answer"]


def appended(state: list[str] | None, writes: Sequence[list[str]]) -> list[str]:
    return [*(state or []), *(one for write in writes for one in write)]


class Deltas(TypedDict):
    said: Annotated[list[str], DeltaChannel(appended, snapshot_frequency=3)]
    other: Annotated[list[str], operator.add]


def test_pruning_keeps_what_a_delta_channel_is_rebuilt_from(of: Of) -> None:
    saver = MunimentSaver(of(ALICE))
    for text in "abcdefg":
        graph(saver, Deltas).invoke({"said": [text]}, THREAD)
    before = graph(saver, Deltas).get_state(THREAD).values
    count = len(list(saver.list(THREAD)))

    saver.prune(["1"])

    assert graph(saver, Deltas).get_state(THREAD).values == before
    assert len(before["said"]) == 14
    assert 1 < len(list(saver.list(THREAD))) < count / 2


def test_pruning_keeps_one_checkpoint_where_nothing_needs_more(of: Of) -> None:
    saver = MunimentSaver(of(ALICE))
    say(saver, "a")
    said = say(saver, "b")

    saver.prune(["1"])

    assert len(list(saver.list(THREAD))) == 1
    assert say(saver, "c") == [*said, "c", "answer"]
    with pytest.raises(InvalidInputError, match="strategy"):
        saver.prune(["1"], strategy="all")


def test_what_a_task_wrote_stays_but_its_interrupt_is_replaced(of: Of) -> None:
    saver = MunimentSaver(of(ALICE))
    say(saver, "a")
    place: Any = next(iter(saver.list(THREAD))).config

    for value in (1, 2):
        saver.put_writes(place, [("said", value)], "task")
        saver.put_writes(place, [("__interrupt__", value)], "task")

    [found] = list(saver.list(place))
    assert found.pending_writes == [("task", "__interrupt__", 2), ("task", "said", 1)]


def test_a_thread_ends_when_it_was_to_be_kept_no_longer(of: Of, clock: FrozenClock) -> None:
    saver = MunimentSaver(of(ALICE))
    say(saver, "a")
    of(ALICE).thread("1", type="graph").keep_until("2030-01-01T01:00:00Z")
    clock.advance(seconds=3600)

    assert saver.get_tuple(THREAD) is None
    assert not list(saver.list(None))
