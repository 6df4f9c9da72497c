"""How fast is a write, durable when it returns, beside one flush of the same bytes and peers?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from muniment import memory as facade
from muniment.bench import limits
from muniment.bench.embedded import EmbeddedWrite, embedded
from muniment.bench.machine import Machine, machine
from muniment.bench.peers import KINDS, Peer, owner_of, packages
from muniment.bench.sample import DIMENSIONS, PreparedEmbedder, RandomEmbedder, statements
from muniment.bench.stores import scope_of
from muniment.bench.timing import Ratio, Timing, interleaved, ratio, summary
from muniment.providers.embedding import open_embedder
from muniment.records import Plain, Statement
from muniment.scoped import ScopedMemory

ROW_BYTES = 4 * DIMENSIONS + 82 + 120
WORKERS = 8
EMBEDDED = 256
FLUSH = "one flush of the same bytes"
LEDGER = "one SQLite transaction of the same bytes"
OURS = "muniment"


@dataclass(frozen=True, slots=True)
class Single(Plain):
    """One durable write at a time.

    Attributes:
        name: Of what.
        version: Its version; empty without one, None when it is not installed.
        write: Time of a write; None when it was not run.
        over_flush: Median wall time over that of one flush.
        over_ledger: Median wall time over that of one SQLite transaction.
    """

    name: str
    version: str | None
    write: Timing | None = None
    over_flush: Ratio | None = None
    over_ledger: Ratio | None = None


@dataclass(frozen=True, slots=True)
class Bulk(Plain):
    """Many writes, in one call or by several writers.

    Attributes:
        name: Of what.
        records: How many were written.
        per_second: Records a second by the clock on the wall.
        per_cpu_second: Records a second of this process's CPU time; None with processes.
        lost: Acknowledged records that are not there afterwards.
    """

    name: str
    records: int
    per_second: float
    per_cpu_second: float | None
    lost: int


@dataclass(frozen=True, slots=True)
class WriteReport(Plain):
    """What a run measured: on what machine, single writes, many, and many with an embedder.

    Attributes:
        machine: On what.
        singles: Single writes.
        bulks: Many writes.
        embedded: With the built-in embedder; None when it is not installed.
    """

    machine: Machine
    singles: tuple[Single, ...]
    bulks: tuple[Bulk, ...]
    embedded: EmbeddedWrite | None


def run(*, calls: int, batch: int, peers: Sequence[str] = ()) -> WriteReport:
    """Measure writing.

    Args:
        calls: How many single writes to time, and how many each of eight writers makes together.
        batch: Records in a batch.
        peers: Names of peers to run.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        singles = _singles(folder, calls, peers)
        bulks = [
            _batch(folder / "lexical.db", "none", batch, "remember_many, no embedder"),
            _batch(folder / "hybrid.db", PreparedEmbedder(), batch, "remember_many, with vectors"),
            _threads(folder / "threads.db", calls // WORKERS),
            _processes(folder / "processes.db", calls // WORKERS),
            *_peers_bulk(folder, min(batch, 1000), peers),
        ]
        model = open_embedder("auto")
        beside = None
        if model is not None:
            beside = embedded(folder / "embedded.db", model, min(batch, EMBEDDED))
    return WriteReport(machine(*packages(peers)), singles, tuple(bulks), beside)


def _singles(folder: Path, calls: int, names: Sequence[str]) -> tuple[Single, ...]:
    embedder = PreparedEmbedder()
    made = statements(1, calls + 5)
    embedder.embed_passages([one.text for one in made])
    order = iter(range(10**9))
    data = bytes(ROW_BYTES)
    with ExitStack() as stack:
        log, ledger = limits.Log(folder / "log"), limits.Ledger(folder / "ledger.db")
        stack.callback(log.close)
        stack.callback(ledger.close)
        memory = stack.enter_context(facade.open(folder / "ours.db", embedder=embedder))
        me = scope_of(memory, 1)
        work: dict[str, Callable[[int], object]] = {
            FLUSH: lambda _: log.append(data),
            LEDGER: lambda _: ledger.append(data),
            OURS: lambda _: _remember(me, made[next(order)]),
        }
        for name, peer in _opened(folder / "single", embedder, names, stack):
            work[name] = _adding(peer, made)
        times = interleaved(work, calls=calls)
    walls = {name: found[1] for name, found in times.items()}
    versions = {name: KINDS[name].installed for name in names}
    return tuple(
        Single(
            name=name,
            version=versions.get(name, ""),
            write=summary(*times[name]),
            over_flush=ratio(walls[name], walls[FLUSH]),
            over_ledger=ratio(walls[name], walls[LEDGER]),
        )
        for name in times
    ) + tuple(Single(name, versions[name]) for name in names if name not in times)


def _remember(me: ScopedMemory, statement: Statement) -> object:
    return me.remember(
        statement.text, kind=statement.kind, source_id=statement.source_id, approved=True
    )


def _adding(peer: Peer, made: Sequence[Statement]) -> Callable[[int], object]:
    order = iter(made)

    def add(_: int) -> None:
        one = next(order)
        peer.add(owner_of(1), [one.source_id], [one.text])

    return add


def _opened(
    folder: Path, embedder: RandomEmbedder, names: Sequence[str], stack: ExitStack
) -> Iterator[tuple[str, Peer]]:
    for name in names:
        if KINDS[name].installed is not None:
            peer = KINDS[name].open(folder / name, embedder)
            stack.callback(peer.close)
            yield name, peer


@contextmanager
def _clocked(name: str, records: int, lost: Callable[[], int]) -> Iterator[list[Bulk]]:
    """Time what happens within; the list holds the result afterwards."""
    found: list[Bulk] = []
    wall, cpu = time.perf_counter(), time.process_time()
    yield found
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    found.append(Bulk(name, records, round(records / wall), round(records / cpu), lost()))


def _batch(path: Path, embedder: object, batch: int, name: str) -> Bulk:
    made = statements(1, batch)
    if isinstance(embedder, PreparedEmbedder):
        embedder.embed_passages([one.text for one in made])
    with facade.open(path, embedder=embedder) as memory:
        me = scope_of(memory, 1)
        with _clocked(name, batch, lambda: batch - me.counts().active) as found:
            me.remember_many(made, approved=True)
    return found[0]


def _threads(path: Path, each: int) -> Bulk:
    total = each * WORKERS
    made = statements(1, total)
    with facade.open(path, embedder="none") as memory:
        me = scope_of(memory, 1)

        def work(number: int) -> None:
            for statement in made[number * each : (number + 1) * each]:
                _remember(me, statement)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(WORKERS)]
        name = f"remember by {WORKERS} threads"
        with _clocked(name, total, lambda: total - me.counts().active) as found:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    return found[0]


_CHILD = """
import sys
from muniment.bench.write import write_some
write_some(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
"""


def write_some(path: str, number: int, each: int) -> None:
    """Write a process's share once a line arrives on standard input; print when ready."""
    made = statements(number, each)
    with facade.open(path, embedder="none") as memory:
        me = scope_of(memory, 1)
        print("ready", flush=True)
        sys.stdin.readline()
        for statement in made:
            _remember(me, statement)


def _processes(path: Path, each: int) -> Bulk:
    total = each * WORKERS
    with facade.open(path, embedder="none") as memory:
        children = [
            subprocess.Popen(
                [sys.executable, "-c", _CHILD, str(path), str(number), str(each)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(WORKERS)
        ]
        for child in children:
            assert child.stdout is not None
            child.stdout.readline()
        wall = time.perf_counter()
        for child in children:
            assert child.stdin is not None
            child.stdin.write("go\n")
            child.stdin.close()
        for child in children:
            child.wait()
            assert child.stdout is not None
            child.stdout.close()
        wall = time.perf_counter() - wall
        lost = total - scope_of(memory, 1).counts().active
    return Bulk(f"remember by {WORKERS} processes", total, round(total / wall), None, lost)


def _peers_bulk(folder: Path, batch: int, names: Sequence[str]) -> Iterator[Bulk]:
    embedder = PreparedEmbedder()
    made = statements(1, batch)
    embedder.embed_passages([one.text for one in made])
    with ExitStack() as stack:
        for name, peer in _opened(folder / "bulk", embedder, names, stack):
            ids, texts = [one.source_id for one in made], [one.text for one in made]
            with _clocked(f"{name}, in bulk", batch, lambda: 0) as found:
                peer.add(owner_of(1), ids, texts)
            yield found[0]
