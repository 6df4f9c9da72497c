"""How fast is a recall, warm and cold, beside one pass over the same numbers and beside peers?"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from muniment import memory as facade
from muniment.bench import limits
from muniment.bench.comparison import CHECKS, PeerResult, compare
from muniment.bench.exact import BruteForce, agreement
from muniment.bench.machine import Machine, machine
from muniment.bench.peers import packages
from muniment.bench.sample import PreparedEmbedder, sentences
from muniment.bench.stores import ask, fill, scope_of
from muniment.bench.timing import Ratio, Timing, interleaved, ratio, summary
from muniment.records import Plain
from muniment.scoped import Progress

WORD_BYTES = 82


@dataclass(frozen=True, slots=True)
class ScopeResult(Plain):
    """One scope of the store.

    Attributes:
        records: Records in the scope.
        one_pass: One pass of numpy over its matrix.
        warm: Recall with the segment in memory, embedding excluded.
        warm_ratio: Of CPU time.
        read_and_pass: Reading as many bytes from a cached file, and one pass.
        cold: Recall with the segment built anew.
        cold_ratio: Of CPU time.
        overlap: Share of the brute-force best ten, of the same rule in float64, that was returned.
    """

    records: int
    one_pass: Timing
    warm: Timing
    warm_ratio: Ratio
    read_and_pass: Timing
    cold: Timing
    cold_ratio: Ratio
    overlap: float


@dataclass(frozen=True, slots=True)
class RecallReport(Plain):
    """What a run measured.

    Attributes:
        machine: On what.
        store_records: Records in the store of the scopes.
        scopes: Our recall, by size of the scope.
        peers: Others beside ours and one pass.
    """

    machine: Machine
    store_records: int
    scopes: tuple[ScopeResult, ...]
    peers: tuple[PeerResult, ...]


def run(
    *,
    scopes: Sequence[int],
    others: int,
    calls: int,
    peers: Sequence[str] = (),
    peer_records: Sequence[int] = (),
    peer_others: Sequence[int] = (0,),
    progress: Progress | None = None,
) -> RecallReport:
    """Measure recall of scopes of several sizes in one store, and of peers at some sizes.

    Args:
        scopes: Records of each scope.
        others: Records of others in the same store, 1,000 to a scope.
        calls: How many recalls to time of each sort.
        peers: Names of peers to run.
        peer_records: Sizes of the scope to compare peers at.
        peer_others: How many records of others lie beside it, in ours and in theirs.
        progress: Called with how many records are written and how many there are.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = dict(enumerate(scopes, start=1))
        fill(folder / "store.db", own, others, progress)
        results = tuple(_scope(folder, number, count, calls) for number, count in own.items())
        compared = tuple(
            result
            for count, beside in product(peer_records, peer_others)
            for result in compare(folder / f"{count} and {beside}", count, beside, calls, peers)
        )
    return RecallReport(machine(*packages(peers)), sum(scopes) + others, results, compared)


def _scope(folder: Path, number: int, count: int, calls: int) -> ScopeResult:
    """Measure one scope of the filled store."""
    embedder = PreparedEmbedder()
    texts = limits.texts_of(number, count)
    matrix = limits.matrix_of(texts, embedder)
    queries = list(sentences(99, max(CHECKS, calls)))
    vectors = embedder.embed_passages(queries)
    data = limits.Bytes(folder / "bytes", matrix, WORD_BYTES * count)
    with (
        facade.open(folder / "store.db", embedder=embedder, cache_bytes=2**30) as hot,
        facade.open(folder / "store.db", embedder=embedder, cache_bytes=0) as fresh,
    ):
        me, cold = scope_of(hot, number), scope_of(fresh, number)
        times = interleaved(
            {
                "pass": lambda n: limits.one_pass(matrix, vectors[n]),
                "warm": lambda n: ask(me, queries[n]),
            },
            calls=calls,
        )
        times |= interleaved(
            {
                "read": lambda n: data.read_and_pass(vectors[n]),
                "cold": lambda n: ask(cold, queries[n]),
            },
            calls=calls,
            warmup=2,
        )
        agreed = agreement(me, BruteForce(texts, matrix), queries[:CHECKS], embedder)
    return ScopeResult(
        records=count,
        one_pass=summary(*times["pass"]),
        warm=summary(*times["warm"]),
        warm_ratio=ratio(times["warm"][0], times["pass"][0]),
        read_and_pass=summary(*times["read"]),
        cold=summary(*times["cold"]),
        cold_ratio=ratio(times["cold"][0], times["read"][0]),
        overlap=agreed,
    )
