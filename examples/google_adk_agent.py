"""An agent of Google ADK with two memories: the session, and facts that outlive it.

    pip install "muniment[adk]"
    python examples/google_adk_agent.py

Without a key it runs offline with a scripted model. With GOOGLE_API_KEY and GOOGLE_MODEL it talks
to that model. The store is MUNIMENT_STORE, or a temporary file.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import AsyncGenerator
from pathlib import Path

from google.adk.agents import Agent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.tools.preload_memory_tool import preload_memory_tool
from google.genai.types import Content, FunctionCall, Part

from muniment.adapters.google_adk import (
    MunimentMemoryService,
    MunimentSessionService,
    memory_tools,
)
from muniment.aio import AsyncMemory, open_async
from muniment.tools import memory_rules

TENANT, APP, SESSION = "acme", "calculator", "today"
TURNS = (
    "I have 10 apples. I bought 2 more. How many do I have?",
    "Remember: the most apples I can have is 100.",
    "How many apples do I have, and what's my maximum?",
)


class ScriptedLlm(BaseLlm):
    """Plays its part without a network: it reads what it is shown."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        """Answer from the last question, the conversation and what a tool returned."""
        parts = [part for content in llm_request.contents for part in content.parts or ()]
        yield LlmResponse(content=Content(role="model", parts=[self._next(parts)]))

    def _next(self, parts: list[Part]) -> Part:
        texts = [part.text for part in parts]
        asked = next(turn for turn in reversed(TURNS) if turn in texts)
        since = parts[texts.index(asked) :]
        returned = next((one.function_response for one in since if one.function_response), None)
        if asked == TURNS[0]:
            return Part(text="You have 12 apples.")
        if asked == TURNS[1] and returned is None:
            saving = {"key": "max apples", "value": "100"}
            return Part(function_call=FunctionCall(name="remember_fact", args=saving))
        if asked == TURNS[1]:
            return Part(text="I saved that your maximum is 100 apples.")
        if returned is None:
            wanted = {"key": "max apples"}
            return Part(function_call=FunctionCall(name="recall_fact", args=wanted))
        apples = "12" if any("12" in (text or "") for text in texts) else "an unknown number of"
        most = (returned.response or {})["facts"][0]["value"]
        return Part(text=f"You have {apples} apples, and your maximum is {most}.")


def build(memory: AsyncMemory, model: str | BaseLlm) -> Runner:
    """Return the runner: the agent with its tools, its sessions and its memory."""
    rules = memory_rules(writes="explicit")
    agent = Agent(
        name="calculator",
        model=model,
        instruction=f"You count what the user has. Answer in one sentence.\n\n{rules}",
        tools=[*memory_tools(memory, tenant_id=TENANT, writes="explicit"), preload_memory_tool],
    )
    return Runner(
        app_name=APP,
        agent=agent,
        session_service=MunimentSessionService(memory, tenant_id=TENANT),
        memory_service=MunimentMemoryService(memory, tenant_id=TENANT),
        auto_create_session=True,
    )


async def talk(memory: AsyncMemory, model: str | BaseLlm, user_id: str) -> None:
    """Have the conversation, and print it and what memory holds afterwards."""
    runner = build(memory, model)
    for turn in TURNS:
        said = ""
        message = Content(role="user", parts=[Part(text=turn)])
        async for event in runner.run_async(
            user_id=user_id, session_id=SESSION, new_message=message
        ):
            texts = [part.text for part in (event.content or Content()).parts or () if part.text]
            said = " ".join(texts) or said
        print(f"user:  {turn}\nagent: {said}")
    await runner.close()
    scoped = memory.scoped(tenant_id=TENANT, user_id=user_id, agent_id=APP)
    for record in await scoped.list():
        print(f"kept:  {record.field} = {record.value} (by {record.actor})")


async def main() -> None:
    """Run the example."""
    name = os.environ.get("GOOGLE_MODEL") if os.environ.get("GOOGLE_API_KEY") else None
    with tempfile.TemporaryDirectory() as folder:
        store = os.environ.get("MUNIMENT_STORE") or Path(folder, "agent-memory.db")
        async with await open_async(store) as memory:
            model = name or ScriptedLlm(model="scripted")
            await talk(memory, model, os.environ.get("USER_ID", "1001"))


if __name__ == "__main__":
    asyncio.run(main())
