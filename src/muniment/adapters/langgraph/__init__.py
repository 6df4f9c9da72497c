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

from importlib import import_module

from muniment.adapters.bridge import missing

try:
    for needed in ("langchain.agents", "langgraph.graph"):
        import_module(needed)
except ImportError as error:
    raise missing("langchain and langgraph", "langgraph") from error

from muniment.adapters.langgraph.binding import for_scope
from muniment.adapters.langgraph.labels import decode_label, encode_label
from muniment.adapters.langgraph.middleware import MemoryMiddleware
from muniment.adapters.langgraph.saver import MunimentSaver
from muniment.adapters.langgraph.store import AsyncMunimentStore, MunimentStore
from muniment.adapters.langgraph.tools import memory_tools

__all__ = [
    "AsyncMunimentStore",
    "MemoryMiddleware",
    "MunimentSaver",
    "MunimentStore",
    "decode_label",
    "encode_label",
    "for_scope",
    "memory_tools",
]
