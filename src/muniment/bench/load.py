"""Many clients at once while servers and clients are killed: is what was acknowledged true?"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment import memory as facade
from muniment.bench.load_check import Checked, check
from muniment.bench.load_client import Settings
from muniment.bench.machine import Machine, machine
from muniment.bench.sample import RandomEmbedder
from muniment.bench.server import LocalServer
from muniment.records import Plain

SQLITE, POSTGRES = "sqlite", "postgres"
DOCUMENTED = frozenset({"store_busy", "store_unavailable", "tenant_moved"})
"""What a caller is told when a server is killed, a pool is exhausted or a lock is held."""
CALLS = ("recall", "remember", "forget")
_POLL = 0.05
_DOWN = 1.0


@dataclass(frozen=True, slots=True)
class Latency(Plain):
    """Times of one sort of call in milliseconds by the clock, of those that succeeded.

    Attributes:
        name: Of the call.
        calls: How many succeeded.
        p50: Median.
        p95: 95th percentile.
        p99: 99th percentile.
        longest: The longest.
    """

    name: str
    calls: int
    p50: float
    p95: float
    p99: float
    longest: float


@dataclass(frozen=True, slots=True)
class LoadReport(Plain):
    """What a run measured and found.

    Attributes:
        machine: On what.
        store: `postgres` or `sqlite`.
        clients: Processes.
        threads: Threads of each.
        scopes: Scopes that they shared.
        seconds: From the first call to the last.
        throughput: Calls that succeeded, a second.
        latencies: By sort of call.
        errors: Failed calls by the code of their error.
        undocumented: Those of an error that is not documented for such faults.
        server_kills: How often the server was killed and started again.
        client_kills: How often a client was killed.
        recovered: Whether every client that was not killed had answers after the last fault,
            without being started again.
        checked: What the whole store was checked for at the end.
    """

    machine: Machine
    store: str
    clients: int
    threads: int
    scopes: int
    seconds: float
    throughput: float
    latencies: tuple[Latency, ...]
    errors: dict[str, int]
    undocumented: int
    server_kills: int
    client_kills: int
    recovered: bool
    checked: Checked

    @property
    def is_sound(self) -> bool:
        """Whether nothing was lost, foreign, twice or resurrected, and all errors are known."""
        return self.checked.is_sound and self.recovered and not self.undocumented


class _Run:
    """The client processes, and the faults that befall them."""

    def __init__(self, folder: Path, settings: Settings, clients: int) -> None:
        self._folder = folder
        self._settings = settings
        self._total = clients * settings.threads * settings.calls
        self.killed: set[int] = set()
        self.server_kills = 0
        self.last_fault = 0.0
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        for number in range(clients):
            self.add(number)

    def add(self, number: int) -> None:
        """Start a client; the first one has fewer connections than threads."""
        log = str(self._folder / f"client-{number}.jsonl")
        own = replace(self._settings, number=number, log=log)
        if number == 0:
            own = replace(own, connections=1, patience=min(own.patience, 0.25))
        argument = json.dumps(own.to_dict())
        self._processes[number] = subprocess.Popen(
            [sys.executable, "-m", "muniment.bench.load_client", argument]
        )

    def kill(self, number: int) -> None:
        """Kill a client in the midst of its calls, and start another one."""
        self._processes[number].send_signal(signal.SIGKILL)
        self._processes[number].wait()
        self.killed.add(number)
        self.add(max(self._processes) + 1)

    def lines(self) -> list[dict[str, Any]]:
        """Return what all clients have written down; a last line may be cut."""
        found = []
        for path in sorted(self._folder.glob("client-*.jsonl")):
            number = int(path.stem.partition("-")[2])
            whole = path.read_text(encoding="utf-8").split("\n")[:-1]
            found += [{**json.loads(line), "client": number} for line in whole]
        return found

    def wait_until(self, share: float) -> bool:
        """Wait until a share of the calls is made; return False when all clients ended first."""
        while any(one.poll() is None for one in self._processes.values()):
            if (
                sum(line["op"] in CALLS and not line["error"] for line in self.lines())
                >= share * self._total
            ):
                return True
            time.sleep(_POLL)
        return False

    def finish(self) -> None:
        """Wait for every client."""
        for process in self._processes.values():
            process.wait()

    def stop(self) -> None:
        """End whatever still runs."""
        for process in self._processes.values():
            if process.poll() is None:
                process.kill()
                process.wait()


def run(
    *,
    store: str = POSTGRES,
    clients: int = 4,
    threads: int = 4,
    calls: int = 500,
    scopes: int = 40,
    server_kills: int = 2,
    client_kills: int = 1,
    seed: int = 1,
) -> LoadReport:
    """Let clients call at once, kill what is to be killed, and check everything at the end.

    Args:
        store: `postgres`, with a server of the bench's own, or `sqlite`, where none is killed.
        clients: Processes.
        threads: Threads of each.
        calls: Calls of each thread.
        scopes: Scopes that all share.
        server_kills: How often to kill the server and start it again.
        client_kills: How often to kill a client.
        seed: Of the calls.

    Raises:
        MissingExtraError: There is no server to start.
    """
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = None
        settings = Settings(
            0, str(folder / "load.db"), None, "", scopes, calls, threads, threads, 30.0, seed
        )
        if store == POSTGRES:
            server = LocalServer()
            stack.callback(server.close)
            place = server.make("load")
            settings = replace(settings, store=str(place.url), files=str(place.files))
        else:
            facade.open(settings.store, embedder=RandomEmbedder()).close()
        running = _Run(folder, settings, clients)
        stack.callback(running.stop)
        faults = _faults(running, server, server_kills, client_kills, random.Random(seed))
        _befall(running, faults)
        running.finish()
        lines = running.lines()
        checked = check(replace(settings, connections=4), lines)
        version = "" if server is None else server.version
    return _report(store, settings, clients, lines, checked, running, version)


def _faults(
    running: _Run, server: LocalServer | None, kills: int, clients: int, source: random.Random
) -> list[Callable[[], object]]:
    def restart() -> None:
        assert server is not None
        server.kill()
        time.sleep(_DOWN)
        server.start()
        running.server_kills += 1

    faults: list[Callable[[], object]] = [lambda: running.kill(1)] * min(clients, 1)
    if server is not None:
        faults += [restart] * kills
    source.shuffle(faults)
    return faults


def _befall(running: _Run, faults: Sequence[Callable[[], object]]) -> None:
    """Let the faults happen at even shares of the work, as far as it lasts."""
    for place, fault in enumerate(faults, start=1):
        if running.wait_until(place / (len(faults) + 2)):
            fault()
            running.last_fault = time.time()


def _report(
    store: str,
    settings: Settings,
    clients: int,
    lines: Sequence[dict[str, Any]],
    checked: Checked,
    running: _Run,
    version: str,
) -> LoadReport:
    made = [line for line in lines if line["op"] in CALLS]
    good = [line for line in made if not line["error"]]
    errors = Counter(line["error"] for line in made if line["error"])
    seconds = max(line["at"] for line in made) - min(line["at"] for line in made)
    alive = {line["client"] for line in lines} - running.killed
    ended = {line["client"]: line["at"] for line in lines if line["op"] == "ended"}
    later = {line["client"] for line in good if line["at"] > running.last_fault}
    later |= {client for client, at in ended.items() if at <= running.last_fault}
    found = machine("psycopg", "psycopg-pool") if store == POSTGRES else machine()
    if version:
        found = replace(found, versions={**found.versions, "postgresql": version})
    return LoadReport(
        machine=found,
        store=store,
        clients=clients,
        threads=settings.threads,
        scopes=settings.scopes,
        seconds=round(seconds, 1),
        throughput=round(len(good) / seconds, 1),
        latencies=tuple(_latency(name, good) for name in CALLS),
        errors=dict(errors),
        undocumented=sum(errors[code] for code in errors if code not in DOCUMENTED),
        server_kills=running.server_kills,
        client_kills=len(running.killed),
        recovered=alive <= ended.keys() and alive <= later,
        checked=checked,
    )


def _latency(name: str, lines: Iterable[dict[str, Any]]) -> Latency:
    times = sorted(line["ms"] for line in lines if line["op"] == name) or [0.0]

    def at(share: float) -> float:
        return float(times[min(int(len(times) * share), len(times) - 1)])

    return Latency(name, len(times), at(0.5), at(0.95), at(0.99), times[-1])
