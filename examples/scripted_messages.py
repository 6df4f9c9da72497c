"""Plays Anthropic's Messages API on this machine, so that the examples for Claude run offline."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from threading import Thread
from typing import Any

Block = dict[str, Any]
Answer = Callable[[list[dict[str, Any]]], Block]
"""From the messages of a request to what the model says or which tool it calls."""

USAGE = {"input_tokens": 1, "output_tokens": 1}
_numbers = count(1)


def text(said: str) -> Block:
    """Return a block of text."""
    return {"type": "text", "text": said}


def tool_use(name: str, **arguments: object) -> Block:
    """Return a block that calls a tool."""
    return {"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": name, "input": arguments}


class Handler(BaseHTTPRequestHandler):
    """Answers what the SDK and its command line ask."""

    answer: Answer

    def log_message(self, *_: object) -> None:
        """Say nothing on the terminal."""

    def do_HEAD(self) -> None:
        """Say that the server is there."""
        self._send({})

    def do_GET(self) -> None:
        """Answer what does not concern the example."""
        self._send({})

    def do_POST(self) -> None:
        """Answer a request for a message."""
        size = int(self.headers.get("content-length", 0))
        asked = json.loads(self.rfile.read(size) or b"{}")
        aside = "count_tokens" in self.path or not asked.get("tools")
        block = text("They talk.") if aside else type(self).answer(asked["messages"])
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {
            "id": f"msg_{next(_numbers)}",
            "type": "message",
            "role": "assistant",
            "model": asked.get("model", "scripted"),
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": USAGE,
            "input_tokens": 1,
        }
        if asked.get("stream"):
            self._stream(message, block, stop)
        else:
            self._send(message)

    def _send(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(json.dumps(body).encode())

    def _stream(self, message: dict[str, Any], block: Block, stop: str) -> None:
        empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block.get("text")}
        if block["type"] == "tool_use":
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        begun = {**message, "content": [], "stop_reason": None}
        ended = {"stop_reason": stop, "stop_sequence": None}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in (
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": USAGE},
            {"type": "message_stop"},
        ):
            line = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
            self.wfile.write(line.encode())


@contextmanager
def messages_api(answer: Answer) -> Iterator[str]:
    """Serve the API on a free port of this machine and give its address."""
    handler = type("Scripted", (Handler,), {"answer": staticmethod(answer)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
