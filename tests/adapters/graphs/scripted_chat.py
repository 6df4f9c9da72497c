"""A chat model for LangChain that says what a script says, and keeps what it was shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field

Step = AIMessage | Callable[[list[BaseMessage]], AIMessage]


class ScriptedChat(BaseChatModel):
    """Each call takes the next step: a message, or a function from what it is shown to one."""

    steps: list[Any]
    shown: list[list[BaseMessage]] = Field(default_factory=list)
    schemas: list[Any] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedChat:
        self.schemas[:] = [one.tool_call_schema for one in tools]
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self.shown.append(list(messages))
        step = self.steps.pop(0)
        said = step(messages) if callable(step) else step
        return ChatResult(generations=[ChatGeneration(message=said)])


def calls(name: str, arguments: dict[str, Any], call_id: str = "call_1") -> AIMessage:
    """Return the message in which a model calls one tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": call_id}])
