"""An HTTP endpoint on this machine that answers from a script and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as it arrived. Names of headers are in lower case."""

    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Reply:
    """What to answer. A text is sent as it is, anything else as JSON."""

    body: object = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def busy(status: int) -> Reply:
    """Return a failure that the client may repeat at once."""
    return Reply({"error": {"message": "busy"}}, status, {"retry-after-ms": "1"})


class ScriptedEndpoint:
    """Serves queued replies in order, then whatever `answer` says.

    Attributes:
        asked: Every request so far.
        answer: Makes the reply when none is queued.
    """

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.answer: Callable[[Asked], Reply] = lambda asked: Reply({}, 404)
        self._queue: deque[Reply] = deque()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def queue(self, *replies: Reply) -> None:
        """Add replies to the script."""
        self._queue.extend(replies)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _replied(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        return self._queue.popleft() if self._queue else self.answer(asked)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        replied = self._replied

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                target = urlsplit(self.path)
                length = int(self.headers.get("content-length", 0))
                reply = replied(
                    Asked(
                        target.path,
                        parse_qs(target.query),
                        {name.lower(): value for name, value in self.headers.items()},
                        json.loads(self.rfile.read(length) or b"{}"),
                    )
                )
                body = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
                self.send_response(reply.status)
                for name, value in {"content-type": "application/json", **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Say nothing."""

        return Handler
