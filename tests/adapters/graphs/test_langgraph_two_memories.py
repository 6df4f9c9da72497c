"""A conversation and a fact beside each other, through a real agent with a scripted model."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from muniment import Scope
from muniment.adapters.langgraph import MemoryMiddleware, for_scope, memory_tools
from muniment.memory import Memory
from muniment.tools import memory_rules
from tests.adapters.graphs.conftest import ALICE, BOB, Of
from tests.adapters.graphs.scripted_chat import ScriptedChat, calls

QUESTION = "How many apples do I have, and what is my maximum?"
Say = Callable[[str, str, Scope], str]


def answer(shown: list[BaseMessage]) -> AIMessage:
    """Be a model that reads: what it does follows from nothing but what it is shown."""
    last = shown[-1]
    if isinstance(last, HumanMessage):
        asked = last.text
        if asked.startswith("I have"):
            return AIMessage(f"You have {sum(map(int, re.findall(r'[0-9]+', asked)))} apples.")
        if asked.startswith("Remember"):
            number = re.findall(r"[0-9]+", asked)[0]
            return calls("remember_fact", {"key": "max apples", "value": number}, "save")
        return calls("recall_fact", {"key": "max apples"}, f"read {len(shown)}")
    assert isinstance(last, ToolMessage)
    if last.name == "remember_fact":
        return AIMessage("Saved.")
    said = [one.text for one in shown if isinstance(one, AIMessage)]
    counted = [n for one in said for n in re.findall(r"You have ([0-9]+) apples", one)]
    known = re.findall(r'"value": ?"([0-9]+)"', last.text)
    return AIMessage(f"{counted or 'no'} apples, {known or 'no'} maximum")


@pytest.fixture(params=["sync", "async"])
def say(request: pytest.FixtureRequest, memory: Memory, of: Of) -> Say:
    agent = create_agent(
        ScriptedChat(steps=[answer] * 100),
        memory_tools(memory, writes="explicit"),
        system_prompt=memory_rules(writes="explicit"),
        middleware=[MemoryMiddleware(memory)],
        context_schema=Scope,
    )

    def run(text: str, thread_id: str, scope: Scope) -> str:
        mine = for_scope(agent, of(scope))
        asked: Any = {"messages": [HumanMessage(text)]}
        config: Any = {"configurable": {"thread_id": thread_id}}
        if request.param == "async":
            said = asyncio.run(mine.ainvoke(asked, config, context=scope))
        else:
            said = mine.invoke(asked, config, context=scope)
        return str(said["messages"][-1].text)

    return run


@pytest.fixture
def alice_said(say: Say) -> list[str]:
    turns = ("I have 10 apples. I bought 2 more.", "Remember: the most apples I can have is 100.")
    return [say(turn, "session_1", ALICE) for turn in turns]


@pytest.mark.promise("TOO-3")
def test_twelve_comes_from_the_thread_and_a_hundred_from_memory(
    say: Say, alice_said: list[str], of: Of
) -> None:
    assert alice_said == ["You have 12 apples.", "Saved."]

    assert say(QUESTION, "session_1", ALICE) == "['12'] apples, ['100'] maximum"

    [record] = of(ALICE).list()
    assert not of(BOB).list().records
    assert (record.scope, record.field, record.value) == (ALICE, "max apples", "100")


@pytest.mark.promise("TOO-6")
def test_a_new_session_of_the_same_user_starts_empty_and_keeps_the_facts(
    say: Say, alice_said: list[str]
) -> None:
    assert say(QUESTION, "session_2", ALICE) == "no apples, ['100'] maximum"


@pytest.mark.promise("TOO-6")
def test_a_new_user_with_the_same_session_id_has_neither(say: Say, alice_said: list[str]) -> None:
    assert say(QUESTION, "session_1", BOB) == "no apples, no maximum"

    assert say(QUESTION, "session_1", ALICE) == "['12'] apples, ['100'] maximum"
