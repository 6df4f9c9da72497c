"""Does a recall get slower when other people's records pile up in the same store?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from muniment import memory as facade
from muniment.bench.crowd import BATCH
from muniment.bench.machine import Machine, machine
from muniment.bench.sample import PreparedEmbedder, sentences
from muniment.bench.stores import ask, fill, folder_at, scope_of
from muniment.bench.timing import Ratio, Timing, interleaved, ratio, summary
from muniment.records import Plain
from muniment.scoped import Progress, ScopedMemory

_OWN = 1


@dataclass(frozen=True, slots=True)
class Comparison(Plain):
    """One way of recalling, in a store of the scope alone and among others.

    Attributes:
        alone: Times in the store that holds nothing else.
        among: Times in the store of all.
        ratio: Median CPU time among others over alone.
    """

    alone: Timing
    among: Timing
    ratio: Ratio


@dataclass(frozen=True, slots=True)
class IsolationReport(Plain):
    """What a run measured.

    Attributes:
        machine: On what.
        scope_records: Records in the scope that is asked.
        other_records: Records of others in the same store.
        other_scopes: Scopes they belong to.
        warm: With the scope's segment in memory.
        cold: With the segment built anew for every recall.
        same: Whether both stores gave the same records in the same order for every query.
        foreign: Records of another scope that were ever returned.
    """

    machine: Machine
    scope_records: int
    other_records: int
    other_scopes: int
    warm: Comparison
    cold: Comparison
    same: bool
    foreign: int


def run(
    *,
    scope_records: int,
    other_records: int,
    calls: int,
    keep: Path | None = None,
    progress: Progress | None = None,
) -> IsolationReport:
    """Measure recall of one scope in two stores: its own, and one with many others.

    Args:
        scope_records: Records in the scope that is asked.
        other_records: Records of others, 1,000 to a scope.
        calls: How many recalls to time of each sort.
        keep: Folder to keep the stores in; what is there already is used again.
        progress: Called with how many records are written and how many there are.
    """
    with folder_at(keep) as folder:
        places = {"alone": folder / "alone.db", "among": folder / "among.db"}
        for name, place in places.items():
            others = other_records if name == "among" else 0
            fill(place, {_OWN: scope_records}, others, progress)
        queries = list(sentences(seed=99, count=calls))
        embedder = PreparedEmbedder()
        embedder.embed_passages(queries)
        opened = {
            (name, heat): facade.open(place, embedder=embedder, cache_bytes=size, create=False)
            for name, place in places.items()
            for heat, size in (("warm", 2**28), ("cold", 0))
        }
        try:
            asked = {key: scope_of(memory, _OWN) for key, memory in opened.items()}
            same, foreign = _check(asked["alone", "warm"], asked["among", "warm"], queries)
            warm = _compare(asked["alone", "warm"], asked["among", "warm"], queries)
            cold = _compare(asked["alone", "cold"], asked["among", "cold"], queries)
        finally:
            for memory in opened.values():
                memory.close()
    return IsolationReport(
        machine=machine(),
        scope_records=scope_records,
        other_records=other_records,
        other_scopes=-(-other_records // BATCH),
        warm=warm,
        cold=cold,
        same=same,
        foreign=foreign,
    )


def _check(alone: ScopedMemory, among: ScopedMemory, queries: list[str]) -> tuple[bool, int]:
    pairs = [(ask(alone, query), ask(among, query)) for query in queries]
    returned = [source_id for _, found in pairs for source_id in found]
    foreign = sum(not source_id.startswith(f"{_OWN}-") for source_id in returned)
    return all(left == right for left, right in pairs), foreign


def _compare(alone: ScopedMemory, among: ScopedMemory, queries: list[str]) -> Comparison:
    times = interleaved(
        {
            "alone": lambda number: ask(alone, queries[number]),
            "among": lambda number: ask(among, queries[number]),
        },
        calls=len(queries),
    )
    over = ratio(times["among"][0], times["alone"][0])
    return Comparison(summary(*times["alone"]), summary(*times["among"]), over)
