"""The memory tools as tools of ADK."""

from __future__ import annotations

from typing import Any

from muniment.adapters.bridge import AnyMemory, in_scope, missing
from muniment.scope import Scope
from muniment.scoped.delegate import Writes
from muniment.tools import MemoryTools, Tool, definitions

try:
    from google.adk.tools.base_tool import BaseTool
    from google.adk.tools.tool_context import ToolContext
    from google.genai.types import FunctionDeclaration
except ImportError as error:
    raise missing("google-adk", "adk") from error


def memory_tools(
    memory: AnyMemory, *, tenant_id: str, writes: Writes = "propose", kind: str = "fact"
) -> list[BaseTool]:
    """Return the memory tools; each call works in the scope of the session that makes it.

    Args:
        memory: The memory, sync or async.
        tenant_id: The customer or organisation.
        writes: What the application lets the agent write; see `muniment.tools`.
        kind: The kind of what `remember_fact` stores.
    """
    return [_MemoryTool(memory, tenant_id, tool, writes, kind) for tool in definitions(writes)]


class _MemoryTool(BaseTool):
    def __init__(
        self, memory: AnyMemory, tenant_id: str, tool: Tool, writes: Writes, kind: str
    ) -> None:
        super().__init__(name=tool.name.value, description=tool.description)
        self._memory = memory
        self._tenant_id = tenant_id
        self._tool = tool
        self._writes = writes
        self._kind = kind

    def _get_declaration(self) -> FunctionDeclaration:
        return FunctionDeclaration(
            name=self.name,
            description=self.description,
            parameters_json_schema=self._tool.input_schema,
        )

    async def run_async(self, *, args: dict[str, Any], tool_context: ToolContext) -> Any:
        session = tool_context.session
        scope = Scope(self._tenant_id, session.user_id, session.app_name)
        call_id = tool_context.function_call_id
        result = await in_scope(
            self._memory,
            scope,
            lambda scoped: MemoryTools(scoped, writes=self._writes, kind=self._kind).call(
                self._tool.name, args, call_id=call_id
            ),
        )
        return result.to_dict()
