"""OpenAI Agents SDK: tools by context, a session on threads, and the packet before a model call.

::

    tools = memory_tools(memory, writes="explicit")
    rules = memory_rules(writes="explicit")
    agent = Agent[Scope](name="Calculator", instructions=rules, tools=tools)
    await Runner.run(
        agent,
        question,
        context=Scope("acme", "1001", "calculator"),
        session=MunimentSession("session-1", memory),
        run_config=RunConfig(call_model_input_filter=packet_filter(memory)),
    )

The scope comes from the context object of the run, which the SDK never shows a model. Made for
openai-agents 0.24; the interfaces are `agents.memory.Session`, `agents.FunctionTool` and
`agents.RunConfig.call_model_input_filter`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar, cast

from muniment.adapters.bridge import AnyMemory, in_scope, known_scope, missing, scope_of, show
from muniment.errors import ScopeError
from muniment.records import JSONValue
from muniment.scope import Scope
from muniment.scoped import DEFAULT_LIMIT, DEFAULT_MINIMUM_SCORE, ScopedMemory
from muniment.scoped.delegate import Writes
from muniment.scoped.thread import Thread
from muniment.threads import NewEvent
from muniment.tools import MemoryTools, Tool, definitions

try:
    from agents import FunctionTool, RunContextWrapper, TResponseInputItem
    from agents.memory import SessionSettings
    from agents.memory.session_settings import coerce_session_settings
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
    from agents.tool_context import ToolContext
except ImportError as error:
    raise missing("openai-agents", "openai-agents") from error

PACKET_BUDGET = 1_000

ScopeOf = Callable[[Any], Scope]
T = TypeVar("T")


def memory_tools(
    memory: AnyMemory,
    *,
    writes: Writes = "propose",
    kind: str = "fact",
    confirm: bool = False,
    scope_of_context: ScopeOf = scope_of,
) -> list[FunctionTool]:
    """Return the memory tools for an agent, each bound to the scope of the run that calls it.

    Args:
        memory: The memory, sync or async.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
        confirm: Whether the SDK asks for approval before a tool that writes or deletes.
        scope_of_context: Returns the scope of a run's context object.
    """

    def build(tool: Tool) -> FunctionTool:
        async def invoke(context: ToolContext[Any], arguments: str) -> str:
            def work(scoped: ScopedMemory) -> str:
                tools = MemoryTools(scoped, writes=writes, kind=kind)
                given = _parsed(arguments)
                return tools.call(tool.name, given, call_id=context.tool_call_id).text

            return await in_scope(memory, scope_of_context(context.context), work)

        return FunctionTool(
            name=tool.name.value,
            description=tool.description,
            params_json_schema=_strict(tool),
            on_invoke_tool=invoke,
            needs_approval=confirm and not tool.is_read_only,
        )

    return [build(tool) for tool in definitions(writes)]


def _parsed(arguments: str) -> object:
    try:
        return json.loads(arguments or "{}")
    except ValueError:
        return None


def _strict(tool: Tool) -> dict[str, Any]:
    """Return a schema in the API's strict form: every parameter required, what is optional null."""
    types: dict[str, JSONValue] = {
        one.name: {
            "type": one.type if one.is_required else [one.type, "null"],
            "description": one.description,
        }
        for one in tool.parameters
    }
    return {
        "type": "object",
        "properties": types,
        "required": list(types),
        "additionalProperties": False,
    }


def packet_filter(
    memory: AnyMemory,
    *,
    limit: int = DEFAULT_LIMIT,
    minimum_score: float = DEFAULT_MINIMUM_SCORE,
    budget: int = PACKET_BUDGET,
    scope_of_context: ScopeOf = scope_of,
) -> CallModelInputFilter:
    """Return a `call_model_input_filter` that shows the model what bears on the user's question.

    The packet goes before the user's last message, as a message of the user's side that says it is
    quoted data; never into the instructions. It is not kept in the session.

    Args:
        memory: The memory, sync or async.
        limit: Most records to show.
        minimum_score: Least score to show, in [0, 1].
        budget: Most tokens of the packet.
        scope_of_context: Returns the scope of a run's context object.
    """

    async def inject(data: CallModelData[Any]) -> ModelInputData:
        asked = data.model_data
        place, question = _last_question(asked.input)
        if question is None:
            return asked

        shown = await in_scope(
            memory,
            scope_of_context(data.context),
            lambda scoped: show(
                scoped, question, limit=limit, minimum_score=minimum_score, budget=budget
            ),
        )
        if shown is None:
            return asked
        message = cast("TResponseInputItem", {"role": "user", "content": shown.text})
        whole = [*asked.input[:place], message, *asked.input[place:]]
        return ModelInputData(input=whole, instructions=asked.instructions)

    return inject


def _last_question(items: Sequence[TResponseInputItem]) -> tuple[int, str | None]:
    """Return the place and text of the user's last message; None without one."""
    for place in range(len(items) - 1, -1, -1):
        item = items[place]
        if item.get("role") != "user":
            continue
        content = item.get("content")
        parts = content if isinstance(content, list) else [{"text": content}]
        texts = [part.get("text") for part in parts if isinstance(part, Mapping)]
        said = " ".join(text for text in texts if isinstance(text, str)).strip()
        return place, said or None
    return 0, None


class MunimentSession:
    """A conversation of the Agents SDK, kept as a thread of one scope.

    The same session id under another user is another conversation, which this one cannot read. The
    SDK refuses a session together with a conversation that its server keeps (`conversation_id`,
    `previous_response_id`), so that no context is there twice.

    Args:
        session_id: The conversation.
        memory: The memory, sync or async. It is not closed by the session.
        scope: Whose conversation it is; None to take it from the context of each run.
        session_settings: As in the SDK; `limit` is how many of the latest items a run is shown.
        scope_of_context: Returns the scope of a run's context object.
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        memory: AnyMemory,
        *,
        scope: Scope | None = None,
        session_settings: SessionSettings | dict[str, Any] | None = None,
        scope_of_context: ScopeOf = scope_of,
    ) -> None:
        self.session_id = session_id
        self.session_settings = coerce_session_settings(session_settings or {})
        self._memory = memory
        self._scope = scope
        self._scope_of = scope_of_context

    async def get_items(
        self, limit: int | None = None, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> list[TResponseInputItem]:
        """Return the conversation, oldest first; with a limit its latest items.

        Args:
            limit: Most items; None for the limit of the settings.
            wrapper: The run's context, from the SDK.

        Raises:
            ScopeError: Neither the session nor the run says whose conversation it is.
        """
        settings = self.session_settings
        most = limit if limit is not None or settings is None else settings.limit
        if most is not None and most <= 0:
            return []
        found = await self._on_thread(wrapper, lambda thread: thread.latest(most))
        return [cast("TResponseInputItem", event.content) for event in found]

    async def add_items(
        self,
        items: Sequence[TResponseInputItem],
        *,
        wrapper: RunContextWrapper[Any] | None = None,
    ) -> None:
        """Append items to the conversation, all or none.

        Args:
            items: The items, as the SDK gives them.
            wrapper: The run's context, from the SDK.

        Raises:
            ScopeError: Neither the session nor the run says whose conversation it is.
            TombstonedError: The conversation was forgotten.
        """
        events = [NewEvent(json.loads(json.dumps(item))) for item in items]

        def work(thread: Thread) -> None:
            if events:
                thread.append_many(events)
            else:
                thread.info()

        await self._on_thread(wrapper, work)

    async def pop_item(
        self, *, wrapper: RunContextWrapper[Any] | None = None
    ) -> TResponseInputItem | None:
        """Take the last item out of the conversation and return it; None when it is empty.

        Args:
            wrapper: The run's context, from the SDK.

        Raises:
            ScopeError: Neither the session nor the run says whose conversation it is.
        """
        event = await self._on_thread(wrapper, lambda thread: thread.pop())
        return None if event is None else cast("TResponseInputItem", event.content)

    async def clear_session(self, *, wrapper: RunContextWrapper[Any] | None = None) -> None:
        """Delete every item of the conversation, with a receipt; the session id stays usable.

        Args:
            wrapper: The run's context, from the SDK.

        Raises:
            ScopeError: Neither the session nor the run says whose conversation it is.
        """
        await self._on_thread(wrapper, lambda thread: thread.clear())

    async def _on_thread(
        self, wrapper: RunContextWrapper[Any] | None, work: Callable[[Thread], T]
    ) -> T:
        scope = self._owner(wrapper)
        return await in_scope(
            self._memory, scope, lambda scoped: work(scoped.thread(self.session_id))
        )

    def _owner(self, wrapper: RunContextWrapper[Any] | None) -> Scope:
        context = None if wrapper is None else wrapper.context
        if self._scope is None:
            return self._scope_of(context)
        named = known_scope(context)
        if named is not None and named != self._scope:
            raise ScopeError("The run is another scope's than the session; make one for it.")
        return self._scope
