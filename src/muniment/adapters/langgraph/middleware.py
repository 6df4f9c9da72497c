"""Recall for LangChain agents: what bears on the question, shown to the model as quoted data."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AnyMessage, HumanMessage

from muniment.adapters.bridge import show
from muniment.adapters.langgraph.context import Binding, binding
from muniment.memory import Memory
from muniment.scoped.base import DEFAULT_BUDGET, DEFAULT_LIMIT, DEFAULT_MINIMUM_SCORE

if TYPE_CHECKING:
    from langchain.agents.middleware.types import ModelCallResult
    from langgraph.runtime import Runtime

NAME = "memory"
"""The `name` of the message that carries the packet."""


class MemoryMiddleware(AgentMiddleware[Any, Any, Any]):
    """Recalls before each call of the model, and puts the packet before the last question.

    The packet is a message of the user's side that says it is untrusted data; it is never part of
    the system prompt. It is shown to the model only: the state and its checkpoints do not hold
    it, so what is forgotten does not live on in a thread. Whose memory it is comes from the
    context of the run, which no model and no message can change. The audit trail says which
    records were shown.
    """

    def __init__(
        self,
        memory: Memory | Binding,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
    ) -> None:
        """Say what is recalled; the arguments but the first are those of `ScopedMemory.recall`.

        Args:
            memory: A memory, when the context of a run is a `Scope` or has one as `scope`; else
                a function from the context to the memory of its scope, which may also read spaces.
            limit: Most records to show.
            minimum_score: Least score to show, in [0, 1].
            kinds: Kinds to look in. None for all.
            filters: Conditions on fields and metadata.
            budget: Most tokens the packet may use. None without limit.
        """
        super().__init__()
        self._bind = binding(memory)
        self._wishes: Mapping[str, Any] = {
            "limit": limit,
            "minimum_score": minimum_score,
            "kinds": kinds,
            "filters": filters,
            "budget": budget,
        }

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelCallResult[Any]:
        """Show the packet to the model."""
        return handler(self._with_packet(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelCallResult[Any]:
        """Show the packet to the model; recall runs on a worker thread."""
        return await handler(await to_thread(self._with_packet, request))

    def _with_packet(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        place = _last_question(request.messages)
        if place is None:
            return request
        packet = self._recalled(request.runtime, request.messages[place].text)
        if packet is None:
            return request
        messages = [*request.messages[:place], packet, *request.messages[place:]]
        return request.override(messages=messages)

    def _recalled(self, runtime: Runtime[Any], question: str) -> HumanMessage | None:
        packet = show(self._bind(runtime.context), question, **self._wishes)
        return None if packet is None else HumanMessage(packet.text, name=NAME)


def _last_question(messages: list[AnyMessage]) -> int | None:
    places = (place for place, one in enumerate(messages) if isinstance(one, HumanMessage))
    return max(places, default=None)
