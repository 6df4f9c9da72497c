"""An agent of the OpenAI Agents SDK with two memories: the conversation, and facts that outlive it.

    pip install "muniment[openai-agents]"
    python examples/openai_agents_agent.py

Without a key it runs offline with a scripted model. With OPENAI_API_KEY and OPENAI_MODEL it talks
to that model (and to OPENAI_BASE_URL, when it is set). The store is MUNIMENT_STORE, or a temporary
file.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from agents import Agent, Model, RunConfig, Runner, set_tracing_disabled
from agents.testing import ModelCall, ModelStep, ScriptedModel, assistant_message, function_call

from muniment import Scope
from muniment.adapters.openai_agents import MunimentSession, memory_tools, packet_filter
from muniment.aio import AsyncMemory, open_async
from muniment.tools import memory_rules

TURNS = (
    "I have 10 apples. I bought 2 more. How many do I have?",
    "Remember: the most apples I can have is 100.",
    "How many apples do I have, and what's my maximum?",
)


@dataclass(frozen=True)
class UserContext:
    """What the run knows of the user. The SDK never shows it to a model.

    Attributes:
        scope: Whose memory it is; in a service from the verified token, never from a message.
        session_id: The conversation.
    """

    scope: Scope
    session_id: str


def build(memory: AsyncMemory, model: str | Model) -> Agent[UserContext]:
    """Return the agent: instructions with the memory rules, tools, and a model."""
    rules = memory_rules(writes="explicit")
    return Agent[UserContext](
        name="calculator",
        instructions=f"You count what the user has. Answer in one sentence.\n\n{rules}",
        tools=list(memory_tools(memory, writes="explicit")),
        model=model,
    )


async def talk(memory: AsyncMemory, model: str | Model, context: UserContext) -> None:
    """Have the conversation, and print it and what memory holds afterwards."""
    agent = build(memory, model)
    session = MunimentSession(context.session_id, memory)
    config = RunConfig(call_model_input_filter=packet_filter(memory))
    for turn in TURNS:
        result = await Runner.run(agent, turn, context=context, session=session, run_config=config)
        print(f"user:  {turn}\nagent: {result.final_output}")
    for record in await memory.scoped(**context.scope.to_dict()).list():
        print(f"kept:  {record.field} = {record.value} (by {record.actor})")


def scripted() -> ScriptedModel:
    """Return a model that plays its part without a network: it reads what it is shown."""

    def answer(call: ModelCall) -> list[object]:
        said = [item.get("content") for item in call.input if item.get("role") == "assistant"]
        found = next(item for item in reversed(call.input) if "output" in item)
        (fact,) = json.loads(str(found["output"]))["facts"]
        apples = "12" if "12" in json.dumps(said) else "an unknown number of"
        text = f"You have {apples} apples, and your maximum is {fact['value']}."
        return [assistant_message(text)]

    saving = {"key": "max apples", "value": "100"}
    return ScriptedModel(
        [
            [assistant_message("You have 12 apples.")],
            [function_call("remember_fact", saving, call_id="call_1")],
            [assistant_message("I saved that your maximum is 100 apples.")],
            [function_call("recall_fact", {"key": "max apples"}, call_id="call_2")],
            ModelStep.respond(answer),  # type: ignore[arg-type]
        ]
    )


async def main() -> None:
    """Run the example."""
    name = os.environ.get("OPENAI_MODEL") if os.environ.get("OPENAI_API_KEY") else None
    if name is None:
        set_tracing_disabled(disabled=True)
    context = UserContext(Scope("acme", os.environ.get("USER_ID", "1001"), "calculator"), "today")
    with tempfile.TemporaryDirectory() as folder:
        store = os.environ.get("MUNIMENT_STORE") or Path(folder, "agent-memory.db")
        async with await open_async(store) as memory:
            await talk(memory, name or scripted(), context)


if __name__ == "__main__":
    asyncio.run(main())
