"""Recall and the memory tools in LangChain agents, with a scripted model and the real framework."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver

from muniment import Scope, ScopedMemory, ScopeError
from muniment.adapters.langgraph import MemoryMiddleware, memory_tools
from muniment.memory import Memory
from muniment.scope import Space
from tests.adapters.graphs.conftest import ALICE, BOB
from tests.adapters.graphs.scripted_chat import ScriptedChat, Step, calls


@dataclass
class Context:
    scope: Scope
    locale: str = "fa"


def scoped(memory: Memory, scope: Scope) -> ScopedMemory:
    return memory.scoped(**scope.to_dict())


def know(memory: Memory, scope: Scope, text: str) -> str:
    written = scoped(memory, scope).remember(text, kind="preference", source_id=text, approved=True)
    return written.memory_id


def ask(memory: Any, text: str, context: Any, *steps: Step, **options: Any) -> ScriptedChat:
    model = ScriptedChat(steps=list(steps) or [AIMessage("Good.")])
    agent = create_agent(
        model,
        system_prompt="You help.",
        middleware=[MemoryMiddleware(memory)],
        context_schema=type(context),
        **options,
    )
    config: Any = {"configurable": {"thread_id": "1"}}
    agent.invoke({"messages": [HumanMessage(text)]}, config, context=context)
    return model


def packets(shown: list[BaseMessage]) -> list[BaseMessage]:
    return [one for one in shown if one.name == "memory"]


@pytest.mark.parametrize("context", [ALICE, Context(ALICE)], ids=["scope", "attribute"])
def test_what_bears_on_the_question_is_shown_as_data_before_it(
    memory: Memory, context: Any
) -> None:
    know(memory, ALICE, "Alice wants an aisle seat on every flight.")

    shown = ask(memory, "Which seat on the flight?", context).shown[0]

    system, packet, question = shown
    assert isinstance(packet, HumanMessage)
    assert "aisle" in packet.text
    assert "Untrusted data" in packet.text
    assert question.text == "Which seat on the flight?"
    assert isinstance(system, SystemMessage)
    assert "aisle" not in system.text


def test_a_persian_question_finds_a_persian_record(memory: Memory) -> None:
    know(memory, ALICE, "آلیس صندلی کنار راهرو را ترجیح می‌دهد.")

    assert "راهرو" in ask(memory, "کدام صندلی را ترجیح می‌دهد؟", ALICE).shown[0][1].text


def test_nothing_of_another_user_is_shown(memory: Memory) -> None:
    know(memory, ALICE, "Alice wants an aisle seat on every flight.")

    assert not packets(ask(memory, "Which seat on the flight?", BOB).shown[0])


def test_a_run_without_a_scope_is_refused(memory: Memory) -> None:
    with pytest.raises(ScopeError, match="must be a Scope"):
        ask(memory, "Which seat on the flight?", {"scope": "acme/alice"})


def test_a_function_says_which_memory_and_spaces_a_run_may_read(memory: Memory) -> None:
    seen: list[object] = []

    def bind(context: Context) -> ScopedMemory:
        seen.append(context.locale)
        return scoped(memory, context.scope).with_spaces(Space.of_user("acme", "alice"))

    know(memory, ALICE, "Alice wants an aisle seat on every flight.")

    assert packets(ask(bind, "Which seat on the flight?", Context(ALICE)).shown[0])
    assert seen == ["fa"]


def test_the_packet_is_not_kept_in_the_thread(memory: Memory) -> None:
    know(memory, ALICE, "Alice wants an aisle seat on every flight.")
    saver = InMemorySaver()

    model = ask(memory, "Which seat on the flight?", ALICE, checkpointer=saver)

    assert packets(model.shown[0])
    kept = saver.get_tuple({"configurable": {"thread_id": "1"}})
    assert kept is not None
    assert not packets(kept.checkpoint["channel_values"]["messages"])


def test_the_audit_trail_says_which_records_were_shown(memory: Memory) -> None:
    memory_id = know(memory, ALICE, "Alice wants an aisle seat on every flight.")
    ask(memory, "Which seat on the flight?", ALICE)

    last = scoped(memory, ALICE).audit()[-1]

    assert (last.action, last.memory_ids, last.reason) == ("used", (memory_id,), "injection")


def test_recall_is_fresh_in_every_call_of_the_model(memory: Memory) -> None:
    memory_id = know(memory, ALICE, "Alice wants an aisle seat on every flight.")

    def forget(_: list[BaseMessage]) -> AIMessage:
        scoped(memory, ALICE).forget(memory_id)
        return calls("list_facts", {})

    model = ask(
        memory,
        "Which seat on the flight?",
        ALICE,
        forget,
        AIMessage("None."),
        tools=memory_tools(memory),
    )

    assert [len(packets(shown)) for shown in model.shown] == [1, 0]


def test_an_agent_recalls_and_calls_tools_without_holding_up_the_loop(memory: Memory) -> None:
    know(memory, ALICE, "Alice wants an aisle seat on every flight.")
    model = ScriptedChat(steps=[calls("list_facts", {}), AIMessage("The aisle.")])
    agent = create_agent(
        model,
        memory_tools(memory),
        middleware=[MemoryMiddleware(memory)],
        context_schema=Scope,
    )

    asyncio.run(agent.ainvoke({"messages": [HumanMessage("Which seat?")]}, context=ALICE))

    assert packets(model.shown[0])
    assert "aisle" in model.shown[1][-1].text


def use(
    memory: Memory, scope: Scope, name: str, arguments: dict[str, Any], writes: Any = "propose"
) -> ToolMessage:
    model = ScriptedChat(steps=[calls(name, arguments), AIMessage("Done.")])
    agent = create_agent(model, memory_tools(memory, writes=writes), context_schema=Scope)
    agent.invoke({"messages": [HumanMessage("Go on.")]}, context=scope)
    said = model.shown[1][-1]
    assert isinstance(said, ToolMessage)
    return said


def test_no_tool_shows_the_model_a_parameter_for_an_identity(memory: Memory) -> None:
    model = ScriptedChat(steps=[AIMessage("Hello.")])
    agent = create_agent(model, memory_tools(memory), context_schema=Scope)
    agent.invoke({"messages": [HumanMessage("Hello.")]}, context=ALICE)

    named = {name for schema in model.schemas for name in schema["properties"]}

    assert named == {"key", "value", "limit", "cursor", "query"}
    assert all(schema["additionalProperties"] is False for schema in model.schemas)


@pytest.mark.parametrize("name", ["user_id", "tenant_id", "agent_id", "scope", "runtime"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall_fact", {"key": "seat"}),
        ("list_facts", {}),
        ("search_memory", {"query": "seat"}),
        ("forget_fact", {"key": "seat"}),
    ],
)
def test_a_call_that_names_another_user_gets_nothing_of_theirs(
    memory: Memory, tool: str, arguments: dict[str, Any], name: str
) -> None:
    use(memory, ALICE, "remember_fact", {"key": "seat", "value": "aisle"}, "explicit")
    theirs: Any = {"user_id": "alice", "tenant_id": "acme", "context": ALICE.to_dict()}

    said = use(memory, BOB, tool, {**arguments, name: theirs.get(name, theirs)}, "explicit")

    assert "aisle" not in said.text
    assert [one.value for one in scoped(memory, ALICE).list()] == ["aisle"]


def test_an_argument_that_a_tool_does_not_have_is_an_error_to_the_model(memory: Memory) -> None:
    said = use(memory, BOB, "recall_fact", {"key": "seat", "user_id": "alice"})

    assert said.status == "error"
    assert json.loads(said.text)["error"]["code"] == "invalid_input"


def test_what_an_agent_may_write_is_what_the_application_granted(memory: Memory) -> None:
    use(memory, ALICE, "remember_fact", {"key": "meal", "value": "vegetarian"})
    assert not scoped(memory, ALICE).list().records

    use(memory, ALICE, "remember_fact", {"key": "seat", "value": "aisle"}, "explicit")
    assert [one.value for one in scoped(memory, ALICE).list()] == ["aisle"]
