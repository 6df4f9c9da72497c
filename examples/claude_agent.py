"""An agent of the Claude Agent SDK with two memories: the session, and facts that outlive it.

    pip install "muniment[claude]"
    python examples/claude_agent.py

Without a key it runs offline: the SDK's own command line talks to a scripted model on this machine.
With ANTHROPIC_API_KEY it talks to Claude (ANTHROPIC_MODEL, when it is set). The store is
MUNIMENT_STORE, or a temporary file.
"""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query
from scripted_messages import Block, messages_api, text, tool_use

from muniment.adapters.claude_agent import (
    MunimentSessionStore,
    allowed_tools,
    memory_server,
    packet_hooks,
)
from muniment.aio import AsyncScopedMemory, open_async
from muniment.tools import memory_rules

TURNS = (
    "I have 10 apples. I bought 2 more. How many do I have?",
    "Remember: the most apples I can have is 100.",
    "How many apples do I have, and what's my maximum?",
)


def answer(messages: list[dict[str, Any]]) -> Block:
    """Play the model: answer from the last question, the conversation and what a tool returned."""
    spoken = json.dumps(messages)
    asked = max(TURNS, key=spoken.rfind)
    place = max(at for at, one in enumerate(messages) if asked in json.dumps(one))
    blocks = [block for one in messages[place:] for block in _blocks(one)]
    returned = [block for block in blocks if block["type"] == "tool_result"]
    if asked == TURNS[0]:
        return text("You have 12 apples.")
    if asked == TURNS[1] and not returned:
        return tool_use("mcp__memory__remember_fact", key="max apples", value="100")
    if asked == TURNS[1]:
        return text("I saved that your maximum is 100 apples.")
    if not returned:
        return tool_use("mcp__memory__recall_fact", key="max apples")
    found = returned[-1]["content"]
    read = found if isinstance(found, str) else found[0]["text"]
    most = json.loads(read)["facts"][0]["value"]
    apples = "12" if "You have 12 apples." in spoken else "an unknown number of"
    return text(f"You have {apples} apples, and your maximum is {most}.")


def _blocks(message: dict[str, Any]) -> list[Block]:
    content = message["content"]
    return content if isinstance(content, list) else [text(content)]


def options(me: AsyncScopedMemory, folder: str, api: str | None) -> ClaudeAgentOptions:
    """Return the options of a run: everything in them is bound to the scope of one user."""
    offline = {
        "ANTHROPIC_BASE_URL": api or "",
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }
    return ClaudeAgentOptions(
        model=os.environ.get("ANTHROPIC_MODEL"),
        system_prompt=f"You count what the user has.\n\n{memory_rules(writes='explicit')}",
        tools=[],
        mcp_servers={"memory": memory_server(me, writes="explicit")},
        allowed_tools=allowed_tools(),
        hooks=packet_hooks(me),
        session_store=MunimentSessionStore(me),
        setting_sources=[],
        max_turns=5,
        cwd=folder,
        env={"HOME": folder, "CLAUDE_CONFIG_DIR": folder, **(offline if api else {})},
    )


async def talk(me: AsyncScopedMemory, folder: str, api: str | None) -> None:
    """Have the conversation, and print it and what memory holds afterwards."""
    chosen = options(me, folder, api)
    for turn in TURNS:
        async for message in query(prompt=turn, options=chosen):
            if isinstance(message, ResultMessage):
                print(f"user:  {turn}\nagent: {message.result}")
                chosen.resume = message.session_id
    for record in await me.list():
        print(f"kept:  {record.field} = {record.value} (by {record.actor})")


async def main() -> None:
    """Run the example."""
    online = os.environ.get("ANTHROPIC_API_KEY")
    user_id = os.environ.get("USER_ID", "1001")
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        nullcontext(None) if online else messages_api(answer) as api,
    ):
        store = os.environ.get("MUNIMENT_STORE") or Path(folder, "agent-memory.db")
        async with await open_async(store) as memory:
            me = memory.scoped(tenant_id="acme", user_id=user_id, agent_id="calculator")
            await talk(me, folder, api)


if __name__ == "__main__":
    asyncio.run(main())
