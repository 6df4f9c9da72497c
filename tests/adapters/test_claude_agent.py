"""The Claude Agent SDK's own server, hooks and session store contracts, on ours."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from tests.adapters.sdk import needed

needed("claude_agent_sdk", "claude")

from claude_agent_sdk import SessionKey, fold_session_summary
from claude_agent_sdk.testing import run_session_store_conformance
from mcp import Client

from muniment import TombstonedError
from muniment.adapters import claude_agent
from muniment.adapters.claude_agent import (
    MunimentSessionStore,
    allowed_tools,
    memory_server,
    memory_tools,
    packet_hooks,
)
from muniment.tools import ToolName
from tests.adapters.conftest import ALICE, BOB, STRANGER, Store

KEY: SessionKey = {"project_key": "shop", "session_id": "session-1"}


def call(store: Store, tool: str, whose: Any = ALICE, /, **arguments: object) -> tuple[str, bool]:
    """Call a tool of the in-process server as Claude Code does, over MCP."""
    server = memory_server(store.scoped(whose), writes="explicit")

    async def work() -> tuple[str, bool]:
        async with Client(cast("Any", server["instance"])) as client:
            result = await client.call_tool(tool, arguments)
        return result.content[0].text, bool(result.is_error)  # type: ignore[union-attr]

    return asyncio.run(work())


def facts(store: Store, scope: Any = ALICE) -> list[str]:
    text, _ = call(store, "list_facts", scope)
    return [fact["value"] for fact in json.loads(text)["facts"]]


def entry(number: int, text: str = "") -> Any:
    return {"type": "user", "uuid": f"u{number}", "text": text}


@pytest.mark.promise("TOO-4")
def test_the_server_offers_the_tools_with_their_hints(plain: Store) -> None:
    server = memory_server(plain.scoped())

    async def work() -> Any:
        async with Client(cast("Any", server["instance"])) as client:
            return (await client.list_tools()).tools

    tools = {tool.name: tool for tool in asyncio.run(work())}

    assert set(tools) == set(ToolName)
    for tool in tools.values():
        assert tool.input_schema["additionalProperties"] is False
        assert f"mcp__memory__{tool.name}" in allowed_tools()
    assert tools["recall_fact"].annotations.read_only_hint is True
    assert tools["forget_fact"].annotations.destructive_hint is True


@pytest.mark.promise("TOO-4", "TOO-6", "THR-2")
def test_two_memories_and_the_change_of_session_and_user(store: Store) -> None:
    sessions = MunimentSessionStore(store.scoped())
    asyncio.run(sessions.append(KEY, [entry(1, "I have 10 apples and bought 2."), entry(2, "12")]))
    text, is_error = call(store, "remember_fact", key="max apples", value="100")
    assert (json.loads(text)["status"], is_error) == ("saved", False)

    def answer(scope: Any, session_id: str) -> tuple[str | None, list[str]]:
        key: SessionKey = {"project_key": "shop", "session_id": session_id}
        said = asyncio.run(MunimentSessionStore(store.scoped(scope)).load(key))
        return (cast("Any", said[-1])["text"] if said else None), facts(store, scope)

    assert answer(ALICE, "session-1") == ("12", ["100"])
    assert answer(ALICE, "session-2") == (None, ["100"])
    assert answer(BOB, "session-1") == (None, [])
    assert answer(STRANGER, "session-1") == (None, [])
    assert [record.value for record in store.records()] == ["100"]


@pytest.mark.promise("TOO-4", "SCO-2")
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

    text, is_error = call(plain, tool, BOB, **arguments, **{name: "1001"})

    assert is_error
    assert "100" not in text.replace("1001", "")
    assert [record.value for record in plain.records()] == ["100"]
    assert plain.records(BOB) == []


@pytest.mark.promise("TOO-4", "SCO-2")
def test_a_tool_refuses_by_itself_what_another_version_of_the_sdk_lets_through(
    plain: Store,
) -> None:
    plain.save("max apples", "100")

    async def refusal(tool: Any) -> dict[str, Any]:
        return dict(await tool.handler({"key": "max apples", "user_id": "1001"}))

    for tool in memory_tools(plain.scoped(BOB), writes="explicit"):
        result = asyncio.run(refusal(tool))
        assert result["is_error"] is True
        assert json.loads(result["content"][0]["text"])["error"]["code"] == "invalid_input"

    refused = [one.reason for one in plain.look(lambda me: me.audit(), BOB)]
    assert refused == ["delegate: tool_arguments"] * 2


@pytest.mark.promise("TOO-4")
def test_the_hook_adds_what_bears_on_the_prompt_as_data(store: Store) -> None:
    store.save("max apples", "100")
    (matcher,) = packet_hooks(store.scoped(), minimum_score=0.1)["UserPromptSubmit"]
    (hook,) = matcher.hooks

    def ask(prompt: str) -> Any:
        given = cast("Any", {"hook_event_name": "UserPromptSubmit", "prompt": prompt})
        return asyncio.run(cast("Any", hook(given, None, {"signal": None})))

    shown = ask("How many apples may I have at most?")["hookSpecificOutput"]

    assert shown["hookEventName"] == "UserPromptSubmit"
    assert shown["additionalContext"].startswith("<memory-records>")
    assert "max apples" in shown["additionalContext"]
    assert ask("Hello") == {}
    used = [one.reason for one in store.look(lambda me: me.audit()) if one.action == "used"]
    assert used == ["injection"]


@pytest.mark.conformance
@pytest.mark.promise("TOO-4")
def test_the_session_store_keeps_the_sdks_fourteen_contracts(store: Store) -> None:
    count = iter(range(1_000))

    def fresh() -> Any:
        scope = {"tenant_id": "acme", "user_id": f"user_{next(count)}", "agent_id": "suite"}
        return MunimentSessionStore(store.memory.scoped(**scope))

    asyncio.run(run_session_store_conformance(fresh))


def test_an_entry_that_is_there_is_not_appended_again(plain: Store) -> None:
    sessions = MunimentSessionStore(plain.scoped())

    async def work() -> list[Any]:
        await sessions.append(KEY, [entry(1), entry(2)])
        await sessions.append(KEY, [entry(2), entry(3), {"type": "mode"}, {"type": "mode"}])
        return await sessions.load(KEY) or []

    assert asyncio.run(work()) == [entry(1), entry(2), entry(3), {"type": "mode"}, {"type": "mode"}]


def test_appends_of_two_writers_both_stay_and_so_does_the_summary(plain: Store) -> None:
    sessions = MunimentSessionStore(plain.scoped())

    async def work() -> tuple[int, int]:
        await asyncio.gather(*(sessions.append(KEY, [entry(n)]) for n in range(20)))
        loaded = await sessions.load(KEY)
        return len(loaded or []), len(await sessions.list_session_summaries("shop"))

    assert asyncio.run(work()) == (20, 1)


def test_a_summary_holds_what_another_writer_appended_meanwhile(
    plain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = MunimentSessionStore(plain.scoped())
    meanwhile: list[Any] = [{"type": "title", "customTitle": "Apples"}]

    def fold(before: Any, key: SessionKey, entries: list[Any]) -> Any:
        after = fold_session_summary(before, key, entries)
        if meanwhile:
            asyncio.run(sessions.append(KEY, [meanwhile.pop()]))
        return after

    monkeypatch.setattr(claude_agent, "fold_session_summary", fold)
    mine: list[Any] = [{"type": "summary", "summary": "A talk."}]
    asyncio.run(sessions.append(KEY, mine))

    (summary,) = asyncio.run(sessions.list_session_summaries("shop"))
    assert (summary["data"]["custom_title"], summary["data"]["summary_hint"]) == (
        "Apples",
        "A talk.",
    )


def test_a_deleted_session_has_a_receipt_and_a_late_append_is_refused(plain: Store) -> None:
    sessions = MunimentSessionStore(plain.scoped())

    async def work() -> None:
        await sessions.append(KEY, [entry(1, "The secret word is quince.")])
        await sessions.delete(KEY)
        with pytest.raises(TombstonedError):
            await sessions.append(KEY, [entry(1, "The secret word is quince.")])

    asyncio.run(work())

    (receipt,) = plain.look(lambda me: me.receipts())
    assert receipt.target == "thread"
