"""A proxy in front of a server that counts how often a client waits for an answer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlencode

from muniment.storage import Postgres

_NAME = ".s.PGSQL.5432"


class Counter:
    """Passes bytes on in both directions and counts turns.

    Attributes:
        turns: How often a client spoke after the server had spoken last: round trips.
    """

    def __init__(self, target: str, listener: socket.socket) -> None:
        self.turns = 0
        self._target = target
        self._listener = listener
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = [listener]

    def serve(self) -> None:
        """Take connections until the listener is closed."""
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                self._sockets += [client, server]
                try:
                    server.connect(self._target)
                except OSError:
                    client.close()
                    continue
                last = ["server"]
                for source, sink, who in ((client, server, "client"), (server, client, "server")):
                    threading.Thread(
                        target=self._pass_on, args=(source, sink, who, last), daemon=True
                    ).start()

    def _pass_on(
        self, source: socket.socket, sink: socket.socket, who: str, last: list[str]
    ) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 20):
                with self._lock:
                    self.turns += who == "client" and last[0] == "server"
                    last[0] = who
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close every socket."""
        for one in self._sockets:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def counted(place: Postgres, folder: Path) -> Iterator[tuple[Postgres, Counter]]:
    """Yield the same database behind a proxy, and the proxy."""
    parts = place.parts()
    target = str(Path(str(parts["host"])) / _NAME)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / _NAME))
        listener.listen()
        counter = Counter(target, listener)
        thread = threading.Thread(target=counter.serve, daemon=True)
        thread.start()
        where = urlencode({"host": str(folder), "user": parts["user"]})
        try:
            yield replace(place, url=f"postgresql:///{parts['dbname']}?{where}"), counter
        finally:
            counter.close()
            thread.join()
