"""Anthropic's memory tool, driven by the SDK's own runner against a scripted endpoint."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any, cast

import pytest

from tests.adapters.sdk import needed

needed("anthropic", "anthropic")

import anthropic
import httpx2
from anthropic.lib.tools import ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818ViewCommand,
)

from muniment import ScopedMemory
from muniment.adapters.anthropic_tool import (
    AsyncMunimentMemoryTool,
    MunimentMemoryTool,
    async_memory_tools,
    memory_tools,
)
from muniment.adapters.memory_files import FileCommandError, MemoryFiles, parsed
from tests.adapters.conftest import ALICE, BOB, STRANGER, Store

NOTES = "/memories/notes.md"


def files(store: Store, work: Callable[[MemoryFiles], Any], scope: Any = ALICE) -> Any:
    """Return what work on the files of a scope returns."""
    return store.look(lambda scoped: work(MemoryFiles(scoped)), scope)


def reply(block: dict[str, Any]) -> httpx2.Response:
    stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
    body = {"id": "m", "type": "message", "role": "assistant", "model": "scripted"}
    usage = {"input_tokens": 1, "output_tokens": 1}
    said = {"content": [block], "stop_reason": stop, "stop_sequence": None, "usage": usage}
    return httpx2.Response(200, json={**body, **said})


def talk(
    store: Store, *commands: dict[str, Any], scope: Any = ALICE, tool: str = "memory"
) -> list[tuple[str, bool]]:
    """Let a scripted model call a tool through the SDK's runner; return what it reads."""
    blocks = [
        {"type": "tool_use", "id": f"t{number}", "name": tool, "input": one}
        for number, one in enumerate(commands)
    ]
    blocks.append({"type": "text", "text": "done"})
    scoped = store.scoped(scope)
    read: list[tuple[str, bool]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        last = json.loads(request.content)["messages"][-1]["content"]
        for block in last if isinstance(last, list) else []:
            content = block["content"]
            text = content if isinstance(content, str) else content[0]["text"]
            read.append((text, bool(block.get("is_error"))))
        return reply(blocks.pop(0))

    async def work() -> None:
        client = anthropic.AsyncAnthropic(
            api_key="none",
            http_client=anthropic.DefaultAsyncHttpxClient(transport=httpx2.MockTransport(answer)),
        )
        runner = client.beta.messages.tool_runner(
            model="scripted",
            max_tokens=100,
            messages=[{"role": "user", "content": "Go on."}],
            tools=[
                AsyncMunimentMemoryTool(scoped),
                *async_memory_tools(scoped, writes="explicit"),
            ],
        )
        await runner.until_done()
        await client.close()

    asyncio.run(work())
    return read


@pytest.mark.promise("TOO-4")
def test_a_model_keeps_notes_in_files_and_finds_them_in_another_session(store: Store) -> None:
    made = talk(store, {"command": "create", "path": NOTES, "file_text": "At most 100 apples."})
    seen = talk(
        store,
        {"command": "view", "path": "/memories"},
        {"command": "view", "path": NOTES},
        {"command": "str_replace", "path": NOTES, "old_str": "100", "new_str": "80"},
        {"command": "insert", "path": NOTES, "insert_line": 0, "insert_text": "# Limits"},
        {"command": "rename", "old_path": NOTES, "new_path": "/memories/a/limits.md"},
        {"command": "delete", "path": "/memories/a"},
        {"command": "view", "path": "/memories/a"},
    )

    assert made == [(f"File created successfully at: {NOTES}", False)]
    assert f"19B\t{NOTES}" in seen[0][0]
    assert seen[1][0].endswith("     1\tAt most 100 apples.")
    assert [is_error for _, is_error in seen] == [False] * 6 + [True]
    assert files(store, lambda one: one.snapshot()) == {}


@pytest.mark.promise("TOO-4", "TOO-6", "SCO-1")
def test_a_new_user_has_no_files_and_nothing_that_a_model_adds_changes_that(store: Store) -> None:
    files(store, lambda one: one.create(NOTES, "At most 100 apples."))

    for scope in (BOB, STRANGER):
        for name in ("user_id", "tenant_id", "scope"):
            ((text, is_error),) = talk(
                store, {"command": "view", "path": NOTES, name: "1001"}, scope=scope
            )
            assert (is_error, "100 apples" in text) == (True, False)


@pytest.mark.promise("TOO-4")
def test_files_are_never_recalled_as_records(store: Store) -> None:
    files(store, lambda one: one.create(NOTES, "The user may have at most 100 apples."))

    def look(scoped: ScopedMemory) -> tuple[int, int, int]:
        found = scoped.recall("How many apples at most?", minimum_score=-1)
        return len(found.packet), scoped.counts().active, len(scoped.candidates())

    assert store.look(look) == (0, 0, 0)


@pytest.mark.promise("TOO-4")
@pytest.mark.parametrize(
    "path",
    [
        "/memoriesX",
        "/memoriesX/a.md",
        "/memories.md",
        "memories/a.md",
        "",
        "/",
        "/memories/..",
        "/memories/../memories2/a",
        "/memories/a/../../b",
        "/memories/a\\..\\b",
        "/memories/a\x00b",
        "/memories/a\u202eb",
        "/memories/ a",
        "/memories/a\nb",
    ],
)
def test_a_path_outside_or_of_odd_signs_is_refused(plain: Store, path: str) -> None:
    for given in (
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "rename", "old_path": NOTES, "new_path": path},
        {"command": "view", "path": path},
    ):
        ((_, is_error),) = talk(plain, given)
        assert is_error
    assert files(plain, lambda one: one.snapshot()) == {}


def test_a_path_is_read_name_by_name() -> None:
    assert parsed("/memories") == parsed("/memories/") == parsed("/memories/./a/..") == ()
    assert parsed("/memories//a/./b.md") == ("a", "b.md")
    assert parsed("/memories/یادداشت.md") == ("یادداشت.md",)


def test_no_file_lies_below_a_file_and_no_folder_moves_into_itself(plain: Store) -> None:
    def work(found: MemoryFiles) -> None:
        found.create("/memories/a/b.md", "x")
        wrong: list[Callable[[], str]] = [
            lambda: found.create("/memories/a/b.md/c.md", "x"),
            lambda: found.rename("/memories/a", "/memories/a/c"),
            lambda: found.create("/memories/a", "x"),
            lambda: found.insert("/memories/a", 0, "x"),
            lambda: found.str_replace("/memories/a/b.md", "", "y"),
        ]
        for command in wrong:
            with pytest.raises(FileCommandError):
                command()
        found.rename("/memories/a", "/memories/c/d")
        assert found.snapshot() == {"memories/c/d/b.md": "x"}
        assert found.clear() == "All memory cleared"
        assert found.snapshot() == {}

    files(plain, work)


def test_hidden_files_are_not_listed_and_folders_are_two_levels_deep(plain: Store) -> None:
    def work(found: MemoryFiles) -> list[str]:
        for path in ("/memories/.x", "/memories/a/b/c/d.md", "/memories/e.md"):
            found.create(path, "12345")
        return found.view("/memories").splitlines()[1:]

    assert files(plain, work) == [
        "15B\t/memories",
        "5B\t/memories/a/",
        "5B\t/memories/a/b/",
        "5B\t/memories/e.md",
    ]


@pytest.mark.promise("TOO-4", "WRI-4")
def test_what_may_not_be_stored_is_refused_in_files_too(plain: Store) -> None:
    secret = "Pay with 4111 1111 1111 1111."

    ((text, is_error),) = talk(plain, {"command": "create", "path": NOTES, "file_text": secret})

    assert is_error
    assert "4111" not in text
    assert files(plain, lambda one: one.snapshot()) == {}
    assert "refused" in {entry.action for entry in plain.look(lambda me: me.audit())}


@pytest.mark.promise("TOO-4")
def test_the_sync_tool_does_the_same(plain: Store) -> None:
    tool = MunimentMemoryTool(cast("ScopedMemory", plain.scoped()))
    create = BetaMemoryTool20250818CreateCommand(
        command="create", path=NOTES, file_text="At most 100 apples."
    )

    assert tool.create(create) == f"File created successfully at: {NOTES}"
    view = BetaMemoryTool20250818ViewCommand(command="view", path=NOTES, view_range=[1, -1])
    assert tool.view(view).endswith("     1\tAt most 100 apples.")
    assert tool.to_dict() == {"type": "memory_20250818", "name": "memory"}
    with pytest.raises(ToolError, match="already exists"):
        tool.create(create)
    assert tool.clear_all_memory() == "All memory cleared"


@pytest.mark.promise("TOO-4", "SCO-2")
@pytest.mark.parametrize("name", ["user_id", "tenant_id", "scope"])
def test_the_fact_tools_work_in_the_sdks_runner_and_refuse_an_identity(
    store: Store, name: str
) -> None:
    saving = {"key": "max apples", "value": "100"}
    ((text, is_error),) = talk(store, saving, tool="remember_fact")
    assert (json.loads(text)["status"], is_error) == ("saved", False)
    ((text, _),) = talk(store, {"key": "max apples"}, tool="recall_fact")
    assert json.loads(text)["facts"][0]["value"] == "100"

    for tool, given in (
        ("recall_fact", {"key": "max apples"}),
        ("list_facts", {}),
        ("search_memory", {"query": "apples"}),
        ("remember_fact", saving),
        ("forget_fact", {"key": "max apples"}),
    ):
        ((text, is_error),) = talk(store, {**given, name: "1001"}, tool=tool, scope=BOB)
        assert is_error
        assert json.loads(text)["error"]["code"] == "invalid_input"
    assert [record.value for record in store.records()] == ["100"]
    assert store.records(BOB) == []


def test_the_sync_fact_tools_do_the_same(plain: Store) -> None:
    tools = {tool.name: tool for tool in memory_tools(cast("ScopedMemory", plain.scoped()))}

    assert json.loads(str(tools["list_facts"].call({})))["found"] == 0
    assert cast("dict[str, Any]", tools["list_facts"].to_dict())["name"] == "list_facts"
    with pytest.raises(ToolError, match="invalid_input"):
        tools["list_facts"].call({"user_id": "1001"})
