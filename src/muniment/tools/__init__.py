"""Framework-neutral tools by which an agent uses the memory of one scope.

::

    tools = MemoryTools(me, writes="explicit")
    schemas = [one.to_dict() for one in tools.definitions]
    result = tools.call("remember_fact", {"key": "max apples", "value": "100"}, call_id="call_1")

No tool has a parameter that names a tenant, a user, an agent, a rank or an approval, and an
argument that a tool does not have is refused. What a tool may write is the application's decision
when it makes the tools: see `MemoryTools`.
"""

from __future__ import annotations

from muniment.tools.calling import AsyncMemoryTools, MemoryTools
from muniment.tools.definitions import Tool, ToolName, definitions
from muniment.tools.guidance import memory_rules
from muniment.tools.outcomes import Fact, Facts, Saved, ToolResult, Withdrawn

__all__ = [
    "AsyncMemoryTools",
    "Fact",
    "Facts",
    "MemoryTools",
    "Saved",
    "Tool",
    "ToolName",
    "ToolResult",
    "Withdrawn",
    "definitions",
    "memory_rules",
]
