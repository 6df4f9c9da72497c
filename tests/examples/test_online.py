"""With a key, an example talks to the real API: here, to its wire played on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.sdk import needed
from tests.examples.test_examples import EXAMPLES, ran
from tests.scripted_endpoint import Asked, Reply, ScriptedEndpoint

QUESTIONS = ("How many do I have?", "Remember: the most apples", "what's my maximum?")
_numbers = count(1)

Said = str | tuple[str, dict[str, str]]
"""What the model says, or the tool that it calls with its arguments."""


def play(spoken: str, names: Callable[[str], str] = str) -> Said:
    """Answer a conversation, given as JSON, from its last question and what came after it."""
    asked = max(QUESTIONS, key=spoken.rfind)
    after = spoken[spoken.rfind(asked) :]
    if asked == QUESTIONS[0]:
        return "You have 12 apples."
    if asked == QUESTIONS[1]:
        saved = "Saved." in after
        saving = {"key": "max apples", "value": "100"}
        return "I saved it." if saved else (names("remember_fact"), saving)
    if "max apples" not in after.replace('"key": "max apples"}', ""):
        return names("recall_fact"), {"key": "max apples"}
    apples = "12" if "You have 12 apples." in spoken else "?"
    return f"You have {apples} apples, at most {'100' if '100' in after else '?'}."


def responses(asked: Asked) -> Reply:
    """Answer as OpenAI's Responses API does."""
    said = play(json.dumps(asked.body["input"], ensure_ascii=False).replace('\\"', '"'))
    number = next(_numbers)
    if isinstance(said, str):
        text = {"type": "output_text", "text": said, "annotations": []}
        item: dict[str, Any] = {"type": "message", "role": "assistant", "content": [text]}
    else:
        item = {"type": "function_call", "name": said[0], "arguments": json.dumps(said[1])}
        item["call_id"] = f"call_{number}"
    details = {"input_tokens_details": {"cached_tokens": 0}}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details}
    usage["output_tokens_details"] = {"reasoning_tokens": 0}
    return Reply(
        {
            "id": f"resp_{number}",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": asked.body["model"],
            "output": [{"id": f"item_{number}", "status": "completed", **item}],
            "usage": usage,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
    )


def generate_content(asked: Asked) -> Reply:
    """Answer as the Gemini API does."""
    said = play(json.dumps(asked.body["contents"], ensure_ascii=False))
    part = {"text": said} if isinstance(said, str) else None
    if part is None:
        part = {"functionCall": {"name": said[0], "args": said[1]}}  # type: ignore[dict-item]
    content = {"role": "model", "parts": [part]}
    return Reply({"candidates": [{"content": content, "finishReason": "STOP"}]})


def messages(asked: Asked) -> Reply:
    """Answer as Anthropic's Messages API does, to a client that does not stream."""
    said = play(json.dumps(asked.body["messages"], ensure_ascii=False).replace('\\"', '"'))
    block: dict[str, Any] = {"type": "text", "text": said}
    if not isinstance(said, str):
        block = {"type": "tool_use", "id": f"t{next(_numbers)}", "name": said[0], "input": said[1]}
    return Reply(
        {
            "id": f"msg_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": asked.body["model"],
            "content": [block],
            "stop_reason": "end_turn" if isinstance(said, str) else "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )


@pytest.fixture
def endpoint() -> Iterator[ScriptedEndpoint]:
    with ScriptedEndpoint() as endpoint:
        yield endpoint


ONLINE: dict[str, tuple[Callable[[Asked], Reply], dict[str, str]]] = {
    "openai_agents_agent": (
        responses,
        {
            "OPENAI_API_KEY": "key",
            "OPENAI_MODEL": "m",
            "OPENAI_BASE_URL": "{url}/v1",
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        },
    ),
    "google_adk_agent": (
        generate_content,
        {
            "GOOGLE_API_KEY": "key",
            "GOOGLE_MODEL": "gemini-m",
            "GOOGLE_GEMINI_BASE_URL": "{url}",
        },
    ),
    "anthropic_memory_agent": (
        messages,
        {"ANTHROPIC_API_KEY": "key", "ANTHROPIC_MODEL": "m", "ANTHROPIC_BASE_URL": "{url}"},
    ),
}
"""How each example that speaks HTTP itself is sent to this machine instead."""


@pytest.mark.slow
@pytest.mark.promise("TOO-1")
@pytest.mark.parametrize("name", ONLINE)
def test_an_example_talks_to_the_api_when_there_is_a_key(
    name: str, tmp_path: Path, endpoint: ScriptedEndpoint
) -> None:
    needed(*EXAMPLES[name])
    endpoint.answer, variables = ONLINE[name]

    given = {key: value.format(url=endpoint.url) for key, value in variables.items()}
    printed = ran(name, tmp_path, **given).splitlines()

    assert len(endpoint.asked) >= 5
    assert "agent: You have 12 apples, at most 100." in printed
    assert [line for line in printed if line.startswith("kept:")] == [
        "kept:  max apples = 100 (by agent for subject)"
    ]
    assert "memory-records" not in json.dumps(endpoint.asked[-1].body.get("system", ""))
