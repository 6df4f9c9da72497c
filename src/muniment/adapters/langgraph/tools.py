"""The memory tools for LangChain agents."""

from __future__ import annotations

from asyncio import to_thread
from typing import Any

from langchain.tools import ToolRuntime
from langchain_core.tools import BaseTool, StructuredTool, ToolException

from muniment.adapters.langgraph.context import Binding, binding
from muniment.memory import Memory
from muniment.scoped.delegate import Writes
from muniment.tools import MemoryTools, Tool, definitions
from muniment.tools.calling import DEFAULT_KIND


def memory_tools(
    memory: Memory | Binding, *, writes: Writes = "propose", kind: str = DEFAULT_KIND
) -> list[BaseTool]:
    """Return the memory tools for `create_agent(tools=…)`.

    One list serves every user: whose memory a call uses comes from the context of the run. No
    tool has a parameter for it, and a call with an argument that the tool does not have fails.
    `muniment.tools.memory_rules` has the rules for the system prompt.

    Args:
        memory: A memory, when the context of a run is a `Scope` or has one as `scope`; else a
            function from the context to the memory of its scope.
        writes: `"propose"`: what the agent says waits for review. `"explicit"`: the application
            lets the agent write and delete for the person.
        kind: The kind of what `remember_fact` stores.
    """
    bind = binding(memory)
    return [_made(one, bind, writes, kind) for one in definitions(writes)]


def _made(tool: Tool, bind: Binding, writes: Writes, kind: str) -> BaseTool:
    def call(runtime: ToolRuntime[Any], **given: Any) -> str:
        tools = MemoryTools(bind(runtime.context), writes=writes, kind=kind)
        result = tools.call(tool.name, given, call_id=runtime.tool_call_id)
        if result.is_error:
            raise ToolException(result.text)
        return result.text

    async def call_on_thread(runtime: ToolRuntime[Any], **given: Any) -> str:
        return await to_thread(call, runtime, **given)

    return StructuredTool(
        name=tool.name.value,
        description=tool.description,
        args_schema=tool.input_schema,
        func=call,
        coroutine=call_on_thread,
        handle_tool_error=True,
    )
