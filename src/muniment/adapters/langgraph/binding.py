"""One compiled graph for every user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from muniment.adapters.langgraph.saver import MunimentSaver
from muniment.adapters.langgraph.store import MunimentStore

if TYPE_CHECKING:
    from langgraph.pregel import Pregel

    from muniment.scoped.memory import ScopedMemory

Graph = TypeVar("Graph", bound="Pregel[Any, Any, Any, Any]")


def for_scope(graph: Graph, memory: ScopedMemory, **options: Any) -> Graph:
    """Return a compiled graph with the checkpoints and the store of one scope.

    The graph is compiled once; this makes a light copy of it for a request. The same thread_id in
    the copy of another scope is another thread.

    Args:
        graph: What `create_agent` or `compile` returned.
        memory: The memory of one scope, from verified context.
        **options: What `MunimentStore` takes besides the memory.
    """
    store = MunimentStore(memory, **options)
    return graph.copy({"checkpointer": MunimentSaver(memory), "store": store})
