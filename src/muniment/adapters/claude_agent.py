"""Claude Agent SDK: in-process MCP tools, the packet with each prompt, and transcripts on threads.

::

    options = ClaudeAgentOptions(
        system_prompt=memory_rules(writes="explicit"),
        mcp_servers={"memory": memory_server(me, writes="explicit")},
        allowed_tools=allowed_tools(),
        hooks=packet_hooks(me),
        session_store=MunimentSessionStore(me),
    )

Each of these is bound to one scope: make them for each user. Made for claude-agent-sdk 0.2; the
interfaces are its `SdkMcpTool`, `HookMatcher` and `SessionStore`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, cast

from muniment.adapters.bridge import AnyScoped, has_event, missing, show, with_scoped
from muniment.errors import ConflictError, VersionConflictError
from muniment.records import JSONValue, canonical_json
from muniment.scoped import DEFAULT_LIMIT, DEFAULT_MINIMUM_SCORE, ScopedMemory
from muniment.scoped.delegate import Writes
from muniment.scoped.thread import Thread
from muniment.threads import NewEvent, ThreadInfo
from muniment.tools import MemoryTools, Tool, ToolName, definitions

try:
    from claude_agent_sdk import (
        HookMatcher,
        McpSdkServerConfig,
        SdkMcpTool,
        SessionKey,
        ToolAnnotations,
        create_sdk_mcp_server,
        fold_session_summary,
    )
    from claude_agent_sdk.types import (
        HookContext,
        HookEvent,
        HookInput,
        HookJSONOutput,
        SessionListSubkeysKey,
        SessionStoreEntry,
        SessionStoreListEntry,
        SessionSummaryEntry,
    )
except ImportError as error:
    raise missing("claude-agent-sdk", "claude") from error

SERVER = "memory"
PACKET_BUDGET = 1_000
TRANSCRIPT = "claude-session"
MOST_SESSIONS = 1_000
_TRIES = 20


def memory_server(
    memory: AnyScoped, *, writes: Writes = "propose", kind: str = "fact", name: str = SERVER
) -> McpSdkServerConfig:
    """Return an in-process MCP server with the memory tools of one scope.

    Args:
        memory: The memory of the scope, sync or async.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
        name: The server's name, as it stands in `mcp_servers`.
    """
    return create_sdk_mcp_server(name, tools=memory_tools(memory, writes=writes, kind=kind))


def memory_tools(
    memory: AnyScoped, *, writes: Writes = "propose", kind: str = "fact"
) -> list[SdkMcpTool[Any]]:
    """Return the memory tools of one scope, for a server of your own.

    An argument that a tool does not have is refused by the tool, whatever the SDK lets through.

    Args:
        memory: The memory of the scope, sync or async.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
    """

    def build(tool: Tool) -> SdkMcpTool[Any]:
        async def handle(arguments: dict[str, Any]) -> dict[str, Any]:
            result = await with_scoped(
                memory,
                lambda scoped: MemoryTools(scoped, writes=writes, kind=kind).call(
                    tool.name, arguments
                ),
            )
            said = {"type": "text", "text": result.text}
            return {"content": [said], "is_error": result.is_error}

        return SdkMcpTool(
            name=tool.name.value,
            description=tool.description,
            input_schema=dict(tool.input_schema),
            handler=handle,
            annotations=ToolAnnotations(
                readOnlyHint=tool.is_read_only,
                destructiveHint=tool.is_destructive,
                openWorldHint=False,
            ),
        )

    return [build(tool) for tool in definitions(writes)]


def allowed_tools(*, name: str = SERVER) -> list[str]:
    """Return the names of the tools as `ClaudeAgentOptions.allowed_tools` wants them.

    Args:
        name: The server's name, as it stands in `mcp_servers`.
    """
    return [f"mcp__{name}__{tool}" for tool in ToolName]


def packet_hooks(
    memory: AnyScoped,
    *,
    limit: int = DEFAULT_LIMIT,
    minimum_score: float = DEFAULT_MINIMUM_SCORE,
    budget: int = PACKET_BUDGET,
) -> dict[HookEvent, list[HookMatcher]]:
    """Return the hook that adds to each prompt what bears on it, as quoted data.

    Args:
        memory: The memory of the scope, sync or async.
        limit: Most records to show.
        minimum_score: Least score to show, in [0, 1].
        budget: Most tokens of the packet.
    """

    async def inject(given: HookInput, _: str | None, __: HookContext) -> HookJSONOutput:
        prompt = str(cast("Mapping[str, object]", given).get("prompt", ""))
        packet = await with_scoped(
            memory,
            lambda scoped: show(
                scoped, prompt, limit=limit, minimum_score=minimum_score, budget=budget
            ),
        )
        if packet is None:
            return {}
        return {
            "hookSpecificOutput": {
                "hookEventName": "UserPromptSubmit",
                "additionalContext": packet.text,
            }
        }

    return {"UserPromptSubmit": [HookMatcher(hooks=[inject])]}


class MunimentSessionStore:
    """Transcripts of the Agent SDK as threads of one scope.

    The CLI keeps its own copy on disk, below `CLAUDE_CONFIG_DIR`; deleting a session here does not
    delete that file.

    Args:
        memory: The memory of the scope, sync or async. It is not closed by the store.
    """

    def __init__(self, memory: AnyScoped) -> None:
        self._memory = memory

    async def append(self, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
        """Append entries to a transcript; an entry whose `uuid` is there already is left out.

        Args:
            key: The transcript.
            entries: The entries, in order.

        Raises:
            TombstonedError: The transcript was deleted.
        """
        if entries:
            await with_scoped(self._memory, lambda scoped: _append(scoped, key, entries))

    async def load(self, key: SessionKey) -> list[SessionStoreEntry] | None:
        """Return a transcript, oldest entry first; None when it was never written.

        Args:
            key: The transcript.
        """

        def work(scoped: ScopedMemory) -> list[SessionStoreEntry] | None:
            thread = _thread(scoped, key)
            if thread.info() is None:
                return None
            return [cast("SessionStoreEntry", one.content) for one in thread.latest(None)] or None

        return await with_scoped(self._memory, work)

    async def list_sessions(self, project_key: str) -> list[SessionStoreListEntry]:
        """Return the ids of a project's sessions and when each was last written, in epoch ms.

        Args:
            project_key: The project.
        """
        found = await self._of_project(project_key)
        return [
            {"session_id": str(one.state["session_id"]), "mtime": _mtime(one)}
            for one in found
            if one.state.get("subpath") is None
        ]

    async def list_session_summaries(self, project_key: str) -> list[SessionSummaryEntry]:
        """Return the SDK's own summary of each session of a project.

        Args:
            project_key: The project.
        """
        found = await self._of_project(project_key)
        return [
            {
                "session_id": str(one.state["session_id"]),
                "mtime": _mtime(one),
                "data": dict(cast("Mapping[str, Any]", one.state["summary"])),
            }
            for one in found
            if one.state.get("subpath") is None
        ]

    async def list_subkeys(self, key: SessionListSubkeysKey) -> list[str]:
        """Return the transcripts of subagents within a session.

        Args:
            key: The session.
        """
        found = await self._of_project(key["project_key"])
        return [
            str(one.state["subpath"])
            for one in found
            if one.state["session_id"] == key["session_id"] and one.state.get("subpath") is not None
        ]

    async def delete(self, key: SessionKey) -> None:
        """Delete a transcript with a receipt; a session with the transcripts of its subagents.

        Args:
            key: The transcript. One that is not there is no error.
        """

        def work(scoped: ScopedMemory) -> None:
            session = (key["project_key"], key["session_id"])
            for one in scoped.threads(type=TRANSCRIPT, limit=MOST_SESSIONS):
                if (one.state["project_key"], one.state["session_id"]) != session:
                    continue
                if "subpath" not in key or one.state.get("subpath") == key["subpath"]:
                    scoped.thread(one.thread_id, type=TRANSCRIPT).forget()

        await with_scoped(self._memory, work)

    async def _of_project(self, project_key: str) -> list[ThreadInfo]:
        def work(scoped: ScopedMemory) -> list[ThreadInfo]:
            found = scoped.threads(type=TRANSCRIPT, limit=MOST_SESSIONS)
            return [one for one in found if one.state["project_key"] == project_key]

        return await with_scoped(self._memory, work)


def _thread(scoped: ScopedMemory, key: SessionKey) -> Thread:
    parts: list[JSONValue] = [key["project_key"], key["session_id"], key.get("subpath")]
    return scoped.thread(canonical_json(parts), type=TRANSCRIPT)


def _append(scoped: ScopedMemory, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
    thread = _thread(scoped, key)
    subpath = key.get("subpath")
    named: dict[str, JSONValue] = {
        "project_key": key["project_key"],
        "session_id": key["session_id"],
    }
    thread.create(state={**named, "subpath": subpath, "summary": {}})
    known = (one for one in entries if "uuid" in one and has_event(thread, one["uuid"]))
    seen = {one["uuid"] for one in known}
    new = [one for one in entries if one.get("uuid") not in seen]
    if subpath is None:
        _fold(thread, key, new)
    thread.append_many([NewEvent(cast("JSONValue", dict(one)), one.get("uuid")) for one in new])


def _fold(thread: Thread, key: SessionKey, entries: list[SessionStoreEntry]) -> None:
    """Bring the SDK's summary of a session up to date; of two writers none is lost."""
    for _ in range(_TRIES):
        info = thread.info()
        if info is None:
            return
        data = cast("dict[str, Any]", info.state["summary"])
        before: SessionSummaryEntry | None = None
        if data:
            before = {"session_id": key["session_id"], "mtime": _mtime(info), "data": data}
        after = fold_session_summary(before, key, entries)
        with suppress(VersionConflictError):
            thread.set_state(
                {**info.state, "summary": after["data"]}, expected_version=info.version
            )
            return
    raise ConflictError("The session's summary is changed by too many at a time; try again.")


def _mtime(info: ThreadInfo) -> int:
    return int(info.changed_at.timestamp() * 1000)
