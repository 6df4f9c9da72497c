"""The OpenAI Agents SDK itself, with a scripted model, on our tools, session and packet."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import pytest

from muniment import Scope, ScopeError
from tests.adapters.sdk import needed

needed("agents", "openai-agents")

from agents import Agent, RunConfig, Runner, RunResult, set_tracing_disabled
from agents.exceptions import UserError
from agents.memory import Session
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from muniment.adapters.openai_agents import MunimentSession, memory_tools, packet_filter
from muniment.tools import memory_rules
from tests.adapters.conftest import ALICE, BOB, STRANGER, Store

set_tracing_disabled(disabled=True)


@dataclass(frozen=True)
class UserContext:
    """An application's own context object."""

    scope: Scope
    locale: str = "en"


def text_of(item: Any) -> str:
    content = item.get("content", "")
    return content if isinstance(content, str) else " ".join(part["text"] for part in content)


def outputs(call: ModelCall) -> list[dict[str, Any]]:
    """Return what the tools returned in this run so far."""
    return [
        json.loads(item["output"])
        for item in call.input
        if isinstance(item, dict) and item.get("type") == "function_call_output"
    ]


def calls(tool: str, **arguments: object) -> list[Any]:
    return [function_call(tool, arguments, call_id=f"call-{tool}-{len(arguments)}")]


def ask(
    store: Store,
    question: str,
    *steps: Any,
    scope: Scope = ALICE,
    session: MunimentSession | None = None,
    **settings: Any,
) -> tuple[RunResult, ScriptedModel]:
    model = ScriptedModel(list(steps))
    agent = Agent[UserContext](
        name="calculator",
        instructions=memory_rules(writes="explicit"),
        tools=list(memory_tools(store.memory, writes="explicit")),
        model=model,
    )
    result = asyncio.run(
        Runner.run(agent, question, context=UserContext(scope), session=session, **settings)
    )
    model.assert_complete()
    return result, model


def both(call: ModelCall) -> list[Any]:
    """Answer from the conversation and from what the tool returned."""
    apples = next(t for t in map(text_of, call.input) if t.startswith("You have "))
    fact = outputs(call)[-1]["facts"][0]["value"]
    return [assistant_message(f"{apples.split()[2]} apples, {fact} at most")]


def seen(call: ModelCall) -> list[Any]:
    """Say how many messages came before the question and what the tool found."""
    users = [text_of(item) for item in call.input if item.get("role") == "user"]
    found = [fact["value"] for fact in outputs(call)[-1]["facts"]]
    return [assistant_message(f"{len(users) - 1} before, facts {found}")]


@pytest.mark.promise("TOO-2")
def test_two_memories_answer_one_question_and_one_record_is_kept(store: Store) -> None:
    session = MunimentSession("session-1", store.memory)

    ask(
        store,
        "I have 10 apples. I bought 2 more.",
        [assistant_message("You have 12 apples.")],
        session=session,
    )
    ask(
        store,
        "Remember: the most apples I can have is 100.",
        calls("remember_fact", key="max apples", value="100"),
        [assistant_message("Saved.")],
        session=session,
    )
    result, _ = ask(
        store,
        "How many apples do I have, and what's my maximum?",
        calls("recall_fact", key="max apples"),
        ModelStep.respond(both),
        session=session,
    )

    assert result.final_output == "12 apples, 100 at most"
    (record,) = store.records()
    assert (record.field, record.value) == ("max apples", "100")


@pytest.mark.promise("TOO-2", "TOO-6", "THR-2")
def test_session_and_user_change_one_at_a_time(store: Store) -> None:
    first = MunimentSession("session-1", store.memory)
    ask(
        store,
        "Remember: the most apples I can have is 100.",
        calls("remember_fact", key="max apples", value="100"),
        [assistant_message("Saved.")],
        session=first,
    )

    def look(session_id: str, scope: Scope) -> object:
        return ask(
            store,
            "What do you know about me?",
            calls("list_facts"),
            ModelStep.respond(seen),
            scope=scope,
            session=MunimentSession(session_id, store.memory),
        )[0].final_output

    assert look("session-1", ALICE) == "1 before, facts ['100']"
    assert look("session-2", ALICE) == "0 before, facts ['100']"
    assert look("session-1", BOB) == "0 before, facts []"
    assert look("session-1", STRANGER) == "0 before, facts []"


@pytest.mark.promise("TOO-2", "SCO-2")
@pytest.mark.parametrize("name", ["user_id", "tenant_id", "scope"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("recall_fact", {"key": "max apples"}),
        ("list_facts", {}),
        ("search_memory", {"query": "apples"}),
        ("remember_fact", {"key": "max apples", "value": "0"}),
        ("forget_fact", {"key": "max apples"}),
    ],
)
def test_a_model_that_names_another_user_gets_nothing(
    plain: Store, tool: str, arguments: dict[str, object], name: str
) -> None:
    plain.save("max apples", "100")

    result, _ = ask(
        plain,
        "Whose apples?",
        calls(tool, **arguments, **{name: "1001"}),
        ModelStep.respond(lambda call: [assistant_message(json.dumps(outputs(call)))]),
        scope=BOB,
    )

    assert '"invalid_input"' in result.final_output
    assert "100" not in result.final_output.replace("1001", "")
    assert [record.value for record in plain.records()] == ["100"]
    assert plain.records(BOB) == []


def test_what_is_no_json_is_an_error_that_the_model_reads(plain: Store) -> None:
    result, _ = ask(
        plain,
        "?",
        [function_call("recall_fact", "{", call_id="c")],
        ModelStep.respond(lambda call: [assistant_message(json.dumps(outputs(call)))]),
    )

    assert '"invalid_input"' in result.final_output


@pytest.mark.promise("TOO-2")
def test_optional_arguments_may_be_null(plain: Store) -> None:
    plain.save("max apples", "100")

    result, _ = ask(
        plain,
        "?",
        calls("list_facts", limit=None, cursor=None),
        ModelStep.respond(seen),
    )

    assert result.final_output == "0 before, facts ['100']"


@pytest.mark.promise("TOO-2")
@pytest.mark.parametrize(
    "server",
    [
        {"conversation_id": "conv_1"},
        {"previous_response_id": "resp_1"},
        {"auto_previous_response_id": True},
    ],
    ids=["conversation", "response", "automatic"],
)
def test_a_session_is_refused_beside_a_conversation_of_the_server(
    plain: Store, server: dict[str, Any]
) -> None:
    session = MunimentSession("session-1", plain.memory)

    with pytest.raises(UserError, match="cannot be combined"):
        ask(plain, "Hello", session=session, **server)

    assert plain.look(lambda scoped: scoped.threads()) == ()


@pytest.mark.promise("TOO-2")
def test_the_packet_is_data_before_the_question_and_is_not_kept(store: Store) -> None:
    store.save("max apples", "100")
    store.save("max pears", "7", BOB)
    session = MunimentSession("session-1", store.memory)
    config = RunConfig(call_model_input_filter=packet_filter(store.memory, minimum_score=0.1))

    _, model = ask(
        store,
        "How many apples may I have at most?",
        calls("recall_fact", key="max apples"),
        [assistant_message("100")],
        session=session,
        run_config=config,
    )

    for call in model.calls:
        texts = [text_of(item) for item in call.input if item.get("role") == "user"]
        assert texts[0].startswith("<memory-records>")
        assert texts[1:] == ["How many apples may I have at most?"]
        assert "max apples" in texts[0]
        assert "pears" not in texts[0]
        assert "max apples" not in (call.system_instructions or "")
    kept = asyncio.run(MunimentSession("session-1", store.memory, scope=ALICE).get_items())
    assert "<memory-records>" not in json.dumps(kept)
    used = [entry for entry in store.look(lambda me: me.audit()) if entry.action == "used"]
    assert [entry.reason for entry in used] == ["injection"] * len(model.calls)


def test_nothing_that_bears_on_a_question_adds_nothing(plain: Store) -> None:
    config = RunConfig(call_model_input_filter=packet_filter(plain.memory))

    _, model = ask(plain, "Hello", [assistant_message("Hi")], run_config=config)

    assert [text_of(item) for item in model.calls[0].input] == ["Hello"]


def test_a_run_without_a_scope_is_refused(plain: Store) -> None:
    session = MunimentSession("session-1", plain.memory)
    agent = Agent[Any](name="a", model=ScriptedModel([[assistant_message("Hi")]]))

    with pytest.raises(ScopeError, match="context"):
        asyncio.run(Runner.run(agent, "Hello", context={"user_id": "1001"}, session=session))
    with pytest.raises(ScopeError):
        asyncio.run(session.get_items())


@pytest.mark.promise("TOO-6")
def test_a_session_of_one_scope_is_not_used_by_a_run_of_another(plain: Store) -> None:
    mine = MunimentSession("session-1", plain.memory, scope=ALICE)
    assert isinstance(mine, Session)
    ask(plain, "Hello", [assistant_message("Hi")], session=mine)

    with pytest.raises(ScopeError, match="another scope"):
        ask(plain, "Hello", scope=BOB, session=mine)


def test_a_write_waits_for_the_persons_approval_when_the_application_asks(plain: Store) -> None:
    model = ScriptedModel(
        [calls("remember_fact", key="max apples", value="100"), [assistant_message("Saved.")]]
    )
    tools = memory_tools(plain.memory, writes="explicit", confirm=True)
    agent = Agent[Scope](name="a", tools=list(tools), model=model)

    async def work() -> object:
        waiting = await Runner.run(agent, "Remember 100.", context=ALICE)
        (item,) = waiting.interruptions
        state = waiting.to_state()
        state.approve(item)
        assert plain.memory.scoped(**ALICE.to_dict()).counts().active == 0  # type: ignore[union-attr]
        return (await Runner.run(agent, state, context=ALICE)).final_output

    assert asyncio.run(work()) == "Saved."
    assert [record.value for record in plain.records()] == ["100"]


def test_limits_and_settings_choose_the_latest_items(plain: Store) -> None:
    session = MunimentSession("session-1", plain.memory, scope=ALICE, session_settings={"limit": 2})

    async def work() -> list[list[str]]:
        await session.add_items([{"role": "user", "content": str(n)} for n in range(4)])
        shown = [await session.get_items(), await session.get_items(3), await session.get_items(0)]
        await session.pop_item()
        shown.append(await session.get_items(1))
        await session.clear_session()
        shown.append(await session.get_items())
        await session.add_items([{"role": "user", "content": "again"}])
        shown.append(await session.get_items())
        return [[text_of(item) for item in items] for items in shown]

    assert asyncio.run(work()) == [["2", "3"], ["1", "2", "3"], [], ["2"], [], ["again"]]
