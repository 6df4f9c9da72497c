"""A LangGraph agent with two memories: the conversation, and facts that outlive it.

    pip install "muniment[langgraph]"
    python examples/langgraph_agent.py

Without MODEL it runs offline with a scripted model. With MODEL, such as "openai:gpt-5.5", and that
provider's key it talks to a real one (install its package, here langchain-openai). The store is
MUNIMENT_STORE, or a temporary file.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

import muniment
from muniment import Memory, Scope
from muniment.adapters.langgraph import MemoryMiddleware, for_scope, memory_tools
from muniment.tools import memory_rules

TURNS = (
    ("1001", "today", "I have 10 apples. I bought 2 more. How many do I have?"),
    ("1001", "today", "Remember: the most apples I can have is 100."),
    ("1001", "today", "How many apples do I have, and what's my maximum?"),
    ("1001", "tomorrow", "How many apples do I have, and what's my maximum?"),
    ("102", "today", "How many apples do I have, and what's my maximum?"),
)


class Scripted(BaseChatModel):
    """A model that plays its part without a network: it reads what it is shown."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[object], **kwargs: object) -> Scripted:
        """Take any tools; the script knows them."""
        return self

    def _generate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=_answer(messages))])


def _answer(shown: list[BaseMessage]) -> AIMessage:
    last = shown[-1]
    if isinstance(last, HumanMessage) and "bought" in last.text:
        return AIMessage("You have 12 apples.")
    if isinstance(last, HumanMessage) and last.text.startswith("Remember"):
        return _call("remember_fact", {"key": "max apples", "value": "100"}, shown)
    if isinstance(last, HumanMessage):
        return _call("recall_fact", {"key": "max apples"}, shown)
    assert isinstance(last, ToolMessage)
    if last.name == "remember_fact":
        return AIMessage("I saved that your maximum is 100 apples.")
    facts = json.loads(last.text)["facts"]
    said = any("12 apples" in one.text for one in shown if isinstance(one, AIMessage))
    return AIMessage(
        f"You have {'12' if said else 'an unknown number of'} apples, "
        f"and your maximum is {facts[0]['value'] if facts else 'unknown'}."
    )


def _call(name: str, arguments: dict[str, str], shown: list[BaseMessage]) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"c{len(shown)}"}])


def talk(memory: Memory, model: str | BaseChatModel) -> None:
    """Have the conversations of two users, and print them and what memory holds afterwards."""
    rules = memory_rules(writes="explicit")
    agent = create_agent(
        model,
        memory_tools(memory, writes="explicit"),
        system_prompt=f"You count what the user has. Answer in one sentence.\n\n{rules}",
        middleware=[MemoryMiddleware(memory)],
        context_schema=Scope,
    )
    for user_id, session, text in TURNS:
        scope = Scope("acme", user_id, "calculator")  # in a service: from the verified token
        mine = for_scope(agent, memory.scoped(**scope.to_dict()))
        config: Any = {"configurable": {"thread_id": session}}
        result = mine.invoke({"messages": [HumanMessage(text)]}, config, context=scope)
        print(f"user {user_id}, {session}: {text}\nagent: {result['messages'][-1].text}")
    for user_id in ("1001", "102"):
        for record in memory.scoped(
            tenant_id="acme", user_id=user_id, agent_id="calculator"
        ).list():
            print(f"kept: {record.field} = {record.value} for {user_id} (by {record.actor})")


def main() -> None:
    """Run the example."""
    with tempfile.TemporaryDirectory() as folder:
        store = os.environ.get("MUNIMENT_STORE") or Path(folder, "agent-memory.db")
        with muniment.open(store) as memory:
            talk(memory, os.environ.get("MODEL") or Scripted())


if __name__ == "__main__":
    main()
