"""LangGraph and LangChain: recall, memory tools, a store and a checkpointer. Extra `langgraph`.

::

    from muniment.adapters.langgraph import MemoryMiddleware, memory_tools

    agent = create_agent(
        model, memory_tools(memory), middleware=[MemoryMiddleware(memory)], context_schema=Scope
    )
    agent.invoke({"messages": [question]}, context=Scope("acme", "user_42", "helper"))

docs/frameworks/langgraph.md explains them.
"""

from __future__ import annotations

from importlib.util import find_spec

from muniment.errors import MissingExtraError

if find_spec("langchain") is None or find_spec("langgraph") is None:
    raise MissingExtraError(
        "The adapter of LangGraph needs its extra; run: pip install 'muniment[langgraph]'"
    )

from muniment.adapters.langgraph.middleware import MemoryMiddleware
from muniment.adapters.langgraph.tools import memory_tools

__all__ = ["MemoryMiddleware", "memory_tools"]
