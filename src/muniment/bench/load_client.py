"""One client process of the load test: it does what it is told and writes down what was answered.

Usage: python -m muniment.bench.load_client SETTINGS, which is the JSON of a `Settings`.
"""

from __future__ import annotations

import json
import logging
import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muniment import memory as facade
from muniment.bench.sample import RandomEmbedder, vocabulary
from muniment.errors import MunimentError
from muniment.memory import Memory
from muniment.records import Plain
from muniment.scoped import ScopedMemory
from muniment.storage import Postgres

TENANTS = 5
RECALLS, REMEMBERS = 60, 90
"""Of 100 calls, the first are recalls, those up to the second writes, and the rest deletions."""
_WORDS = 12
_PAUSE = 0.02


@dataclass(frozen=True, slots=True)
class Settings(Plain):
    """What a client does.

    Attributes:
        number: Of the client.
        store: File or URL of the store.
        files: Path to which a PostgreSQL store's own files are named after, or None.
        log: File to which every call is written down.
        scopes: How many scopes there are.
        calls: Calls of each thread that shall succeed.
        threads: How many call at once.
        connections: Most connections of the process.
        patience: Seconds to wait for a connection.
        seed: Of the calls.
    """

    number: int
    store: str
    files: str | None
    log: str
    scopes: int
    calls: int
    threads: int
    connections: int
    patience: float
    seed: int


def location(settings: Settings) -> str | Postgres:
    """Return where the store is."""
    if settings.files is None:
        return settings.store
    return Postgres(
        settings.store,
        files=settings.files,
        connections=settings.connections,
        patience=settings.patience,
    )


def scope(memory: Memory, number: int) -> ScopedMemory:
    """Return one of the scopes, spread over the tenants."""
    return memory.scoped(tenant_id=f"load {number % TENANTS}", user_id=f"{number}", agent_id="load")


def marked(number: int, client: int, serial: int) -> str:
    """Return what begins a record's text and is its source_id: scope, client and number."""
    return f"s{number} c{client} n{serial}"


class Log:
    """A file of JSON lines, each there at once, so that a killed client has told all it did."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._lock = threading.Lock()

    def write(self, **said: object) -> None:
        """Write one line."""
        with self._lock:
            self._file.write(json.dumps(said) + "\n")
            self._file.flush()


class Client:
    """One thread's calls.

    Args:
        memory: The open store.
        log: Where every call is written down.
        settings: What to do.
        thread: Its number, which tells its records from those of others.
    """

    def __init__(self, memory: Memory, log: Log, settings: Settings, thread: int) -> None:
        self._memory = memory
        self._log = log
        self._settings = settings
        self._name = settings.number * 100 + thread
        self._source = random.Random(settings.seed * 1000 + self._name)
        self._words = vocabulary()[:200]
        self._serial = 0
        self._done = 0
        self._own: list[tuple[int, str, str]] = []
        self._gone: set[str] = set()

    def run(self) -> None:
        """Call until so many calls succeeded."""
        while self._done < self._settings.calls:
            drawn = self._source.randrange(100)
            if drawn < RECALLS:
                self._recall()
            elif drawn < REMEMBERS or not self._own:
                self._remember()
            else:
                self._forget()

    def _timed(self, op: str, mark: str, work: Callable[[], Any]) -> Any:
        """Make a call and write down its outcome; None when it failed with one of our errors."""
        began = time.perf_counter()
        try:
            given, code = work(), ""
        except MunimentError as error:
            given, code = None, error.code
        took = round((time.perf_counter() - began) * 1e3, 3)
        self._log.write(op=op, mark=mark, ms=took, error=code, at=time.time())
        self._done += not code
        if code:
            time.sleep(_PAUSE)
        return given

    def _recall(self) -> None:
        number = self._source.randrange(self._settings.scopes)
        query = " ".join(self._source.choices(self._words, k=3))
        packet = self._timed(
            "recall", "", lambda: scope(self._memory, number).recall(query, limit=5)
        )
        for item in packet or ():
            mark = item.record.source.source_id
            if not item.record.text.startswith(f"s{number} ") or mark in self._gone:
                self._log.write(op="wrong", mark=mark, ms=0, error="", at=time.time())

    def _remember(self) -> None:
        number = self._source.randrange(self._settings.scopes)
        self._serial += 1
        mark = marked(number, self._name, self._serial)
        text = f"{mark} {' '.join(self._source.choices(self._words, k=_WORDS))}"
        self._log.write(op="wants", mark=mark, ms=0, error="", at=time.time())
        for _ in range(2):
            written = self._timed(
                "remember",
                mark,
                lambda: scope(self._memory, number).remember(
                    text, kind="context", source_id=mark, approved=True
                ),
            )
            if written is not None:
                self._own.append((number, mark, written.memory_id))
                return

    def _forget(self) -> None:
        number, mark, memory_id = self._own.pop(self._source.randrange(len(self._own)))
        self._log.write(op="unwants", mark=mark, ms=0, error="", at=time.time())
        done = self._timed("forget", mark, lambda: scope(self._memory, number).forget(memory_id))
        if done is not None:
            self._gone.add(mark)


def main(argument: str) -> None:
    """Make the calls of one process."""
    logging.disable()
    settings = Settings(**json.loads(argument))
    log = Log(Path(settings.log))
    with facade.open(location(settings), embedder=RandomEmbedder(), create=False) as memory:
        clients = [Client(memory, log, settings, number) for number in range(settings.threads)]
        with ThreadPoolExecutor(settings.threads) as threads:
            for done in [threads.submit(client.run) for client in clients]:
                done.result()
    log.write(op="ended", mark="", ms=0, error="", at=time.time())


if __name__ == "__main__":
    main(sys.argv[1])
