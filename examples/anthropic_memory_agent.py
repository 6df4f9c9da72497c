"""Claude with its own memory tool over muniment, beside the tools for facts.

    pip install "muniment[anthropic]"
    python examples/anthropic_memory_agent.py

Without a key it runs offline with a scripted model on this machine. With ANTHROPIC_API_KEY it talks
to Claude (ANTHROPIC_MODEL, when it is set). The store is MUNIMENT_STORE, or a temporary file.

Claude keeps notes in files below /memories: its notebook. What it saves with remember_fact is a
record, with a source and a history, and is recalled.
"""

from __future__ import annotations

import json
import os
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import anthropic
from anthropic.types.beta import BetaMessageParam
from scripted_messages import Block, messages_api, text, tool_use

import muniment
from muniment import ScopedMemory
from muniment.adapters.anthropic_tool import MunimentMemoryTool, memory_tools
from muniment.tools import memory_rules

TURNS = (
    "I have 10 apples. I bought 2 more. How many do I have?",
    "Remember: the most apples I can have is 100. Note in your files that we talked about apples.",
    "How many apples do I have, and what's my maximum?",
)
NOTES = "/memories/today.md"


def answer(messages: list[dict[str, Any]]) -> Block:
    """Play the model: answer from the last question, the conversation and what a tool returned."""
    spoken = json.dumps(messages)
    asked = max(TURNS, key=spoken.rfind)
    returned = _returned(messages, asked)
    if asked == TURNS[0]:
        return text("You have 12 apples.")
    if asked == TURNS[1]:
        if not returned:
            return tool_use("remember_fact", key="max apples", value="100")
        if len(returned) == 1:
            note = "We talked about apples."
            return tool_use("memory", command="create", path=NOTES, file_text=note)
        return text("I saved that your maximum is 100 apples, and noted what we talked about.")
    if not returned:
        return tool_use("recall_fact", key="max apples")
    most = json.loads(returned[-1])["facts"][0]["value"]
    apples = "12" if "You have 12 apples." in spoken else "an unknown number of"
    return text(f"You have {apples} apples, and your maximum is {most}.")


def _returned(messages: list[dict[str, Any]], asked: str) -> list[str]:
    """Return what tools returned since a question was asked."""
    place = max(at for at, one in enumerate(messages) if one["content"] == asked)
    lists = [one["content"] for one in messages[place:] if isinstance(one["content"], list)]
    found = [one["content"] for each in lists for one in each if one["type"] == "tool_result"]
    return [one if isinstance(one, str) else one[0]["text"] for one in found]


def talk(me: ScopedMemory, client: anthropic.Anthropic) -> None:
    """Have the conversation, and print it and what memory holds afterwards."""
    messages: list[BetaMessageParam] = []
    tools = [MunimentMemoryTool(me), *memory_tools(me, writes="explicit")]
    for turn in TURNS:
        messages.append({"role": "user", "content": turn})
        runner = client.beta.messages.tool_runner(
            model=os.environ.get("ANTHROPIC_MODEL", "claude-sonnet-5-5"),
            max_tokens=500,
            system=f"You count what the user has.\n\n{memory_rules(writes='explicit')}",
            messages=messages,
            tools=tools,
            thread=False,
        )
        said = runner.until_done()
        spoken = " ".join(block.text for block in said.content if block.type == "text")
        messages.append({"role": "assistant", "content": spoken})
        print(f"user:  {turn}\nagent: {spoken}")
    for record in me.list():
        print(f"kept:  {record.field} = {record.value} (by {record.actor})")
    for item in me.items("files").search(("memories",), limit=None):
        print(f"file:  {item.key}: {item.value['text']}")


def main() -> None:
    """Run the example."""
    online = os.environ.get("ANTHROPIC_API_KEY")
    with (
        tempfile.TemporaryDirectory() as folder,
        nullcontext(None) if online else messages_api(answer) as api,
    ):
        store = os.environ.get("MUNIMENT_STORE") or Path(folder, "agent-memory.db")
        with muniment.open(store) as memory, _client(api) as client:
            user_id = os.environ.get("USER_ID", "1001")
            talk(memory.scoped(tenant_id="acme", user_id=user_id, agent_id="calculator"), client)


def _client(api: str | None) -> anthropic.Anthropic:
    return anthropic.Anthropic(api_key="none", base_url=api) if api else anthropic.Anthropic()


if __name__ == "__main__":
    main()
