"""What does it cost to have: import, opening, memory, bytes on disk."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median

from muniment.bench.machine import Machine, machine
from muniment.bench.peers import KINDS, owner_of
from muniment.bench.sample import PreparedEmbedder, sentences, statements
from muniment.bench.stores import LIMIT, ask, fill, folder_at, scope_of
from muniment.providers.embedding import open_embedder
from muniment.records import Plain
from muniment.scoped import Progress

HOT = 10_000
_STARTS = 5


@dataclass(frozen=True, slots=True)
class Cost(Plain):
    """What one memory system costs.

    Attributes:
        name: Which.
        version: Its version; empty without one, None when it is not installed.
        records: Records in the store.
        import_ms: Milliseconds to import it, over a bare interpreter, by the clock on the wall.
        open_ms: Milliseconds from opening the filled store to its first answer; None for peers.
        resident: Megabytes of the process with the store open and one hot scope.
        bytes_each: Bytes on disk for each record, closed.
    """

    name: str
    version: str | None
    records: int
    import_ms: float | None = None
    open_ms: float | None = None
    resident: float | None = None
    bytes_each: float | None = None


@dataclass(frozen=True, slots=True)
class FootprintReport(Plain):
    """What a run measured: on what machine, and the costs; the bench alone comes first."""

    machine: Machine
    costs: tuple[Cost, ...]


def run(
    *,
    others: int,
    peers: Sequence[str] = (),
    peer_records: int = 2000,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> FootprintReport:
    """Measure costs, each in a process of its own.

    Args:
        others: Records of others beside the hot scope of 10,000.
        peers: Names of peers to run.
        peer_records: Records to load into each of them, half in the scope that is asked.
        keep: Folder to keep the store in; what is there already is used again.
        progress: Called with how many records are written and how many there are.
    """
    with folder_at(keep) as ours, folder_at(None) as folder:
        path = ours / "store.db"
        fill(path, {1: HOT}, others, progress)
        bare = _import_ms("sys")
        costs = [
            Cost("the bench alone", "", 0, bare, None, _child("bare", folder)["resident"]),
            _cost("muniment", "", HOT + others, bare, "muniment", _child("ours", path.parent)),
        ]
        model = open_embedder("auto")
        if model is not None:
            found = _child("ours", path.parent, "auto")
            name = f"muniment and {model.model.name}"
            costs.append(Cost(name, "", HOT + others, resident=found["resident"]))
        for peer in peers:
            kind = KINDS[peer]
            if kind.installed is None or kind.package is None:
                costs.append(Cost(peer, kind.installed, peer_records))
                continue
            root = _ROOTS[peer]
            found = _child("peer", folder / peer, peer, str(peer_records))
            costs.append(_cost(peer, kind.installed, peer_records, bare, root, found))
    return FootprintReport(machine(), tuple(costs))


_ROOTS = {
    "langgraph memory": "langgraph.store.memory",
    "langgraph sqlite": "langgraph.store.sqlite",
    "mem0": "mem0",
    "chroma": "chromadb",
    "lancedb": "lancedb",
    "qdrant local": "qdrant_client",
}


def _cost(
    name: str, version: str, records: int, bare: float, root: str, found: dict[str, float]
) -> Cost:
    return Cost(
        name=name,
        version=version,
        records=records,
        import_ms=round(_import_ms(root) - bare, 1),
        open_ms=round(found["open_ms"], 1) if "open_ms" in found else None,
        resident=found["resident"],
        bytes_each=round(found["bytes"] / records),
    )


def _import_ms(module: str) -> float:
    times = []
    for _ in range(_STARTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True, capture_output=True)
        times.append((time.perf_counter() - start) * 1000)
    return round(median(times), 1)


def _child(*arguments: object) -> dict[str, float]:
    code = "import sys; from muniment.bench.footprint import child; child(*sys.argv[1:])"
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def child(what: str, folder: str, *rest: str) -> None:
    """Do one measurement and print it as JSON; run in a process of its own."""
    if what == "bare":
        print(json.dumps({"resident": resident()}))
    elif what == "ours":
        print(json.dumps(_ours(Path(folder), *rest)))
    else:
        print(json.dumps(_peer(Path(folder), *rest)))


def _ours(folder: Path, embedder: str = "none") -> dict[str, float]:
    opener = import_module("muniment.memory").open
    query = next(sentences(99, 1))
    start = time.perf_counter()
    with opener(folder / "store.db", embedder=PreparedEmbedder()) as memory:
        me = scope_of(memory, 1)
        ask(me, query)
        opened = (time.perf_counter() - start) * 1000
        for more in sentences(98, 50):
            ask(me, more)
        model = open_embedder(embedder)
        if model is not None:
            for more in sentences(97, 50):
                model.embed_query(more)
        held = resident()
    return {"open_ms": opened, "resident": held, "bytes": _size(folder)}


def _peer(folder: Path, name: str, records: str) -> dict[str, float]:
    embedder = PreparedEmbedder()
    peer = KINDS[name].open(folder, embedder)
    for number in (1, 2):
        made = statements(number, int(records) // 2)
        ids, texts = [one.source_id for one in made], [one.text for one in made]
        peer.add(owner_of(number), ids, texts)
    for query in sentences(98, 50):
        peer.recall(owner_of(1), query, LIMIT)
    held = resident()
    peer.close()
    return {"resident": held, "bytes": _size(folder)}


def _size(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def resident() -> float:
    """Return the megabytes this process has in memory now; 0 where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return 0.0
    for line in status.read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0.0
