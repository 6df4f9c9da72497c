"""How fast is a recall, warm and cold, beside one pass over the same numbers and beside peers?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from muniment import memory as facade
from muniment.bench import limits
from muniment.bench.exact import BruteForce, overlap
from muniment.bench.machine import Machine, machine
from muniment.bench.peers import KINDS, Owner, Peer
from muniment.bench.sample import PreparedEmbedder, sentences
from muniment.bench.stores import fill, scope_of
from muniment.bench.timing import Timing, interleaved, ratio, summary
from muniment.records import Plain
from muniment.scoped import Progress, ScopedMemory

LIMIT = 10
CHECKS = 20
WORD_BYTES = 82
OURS = "muniment (words and meaning)"
NUMPY = "one pass of numpy"


@dataclass(frozen=True, slots=True)
class Ratio(Plain):
    """A median over the median of its limit, with a 95 % bootstrap interval."""

    middle: float
    low: float
    high: float


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
class PeerResult(Plain):
    """One memory system with the same records.

    Attributes:
        name: Which.
        version: Its version; empty without one, None when it is not installed.
        records: Records in the scope, and as many of somebody else beside them.
        recall: Time of a recall; None when it was not run.
        times_ours: Median CPU time over ours; None when it was not run.
        overlap: Share of the brute-force ten nearest that was returned.
        foreign: Records of somebody else that were ever returned.
    """

    name: str
    version: str | None
    records: int
    recall: Timing | None = None
    times_ours: Ratio | None = None
    overlap: float | None = None
    foreign: int | None = None


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
    progress: Progress | None = None,
) -> RecallReport:
    """Measure recall of scopes of several sizes in one store, and of peers at some sizes.

    Args:
        scopes: Records of each scope.
        others: Records of others in the same store, 1,000 to a scope.
        calls: How many recalls to time of each sort; a quarter of it where a scope is large.
        peers: Names of peers to run.
        peer_records: Sizes of the scope to compare peers at.
        progress: Called with how many records are written and how many there are.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        own = dict(enumerate(scopes, start=1))
        fill(folder / "store.db", own, others, progress)
        results = tuple(_scope(folder, number, count, calls) for number, count in own.items())
        compared = tuple(
            result
            for count in peer_records
            for result in compare(folder / f"peers {count}", count, calls, peers)
        )
    packages = [kind.package for name, kind in KINDS.items() if name in peers and kind.package]
    return RecallReport(machine(*packages), sum(scopes) + others, results, compared)


def _scope(folder: Path, number: int, count: int, calls: int) -> ScopeResult:
    """Measure one scope of the filled store."""
    embedder = PreparedEmbedder()
    texts = limits.texts_of(number, count)
    matrix = limits.matrix_of(texts, embedder)
    queries = list(sentences(99, max(20, calls // (4 if count > 20_000 else 1))))
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
            calls=len(queries),
        )
        few = max(20, len(queries) // (1 if count <= 1000 else 10))
        times |= interleaved(
            {
                "read": lambda n: data.read_and_pass(vectors[n]),
                "cold": lambda n: ask(cold, queries[n]),
            },
            calls=min(few, len(queries)),
            warmup=2,
        )
        agreed = _overlap(me, BruteForce(texts, matrix), queries[:CHECKS], embedder)
    return ScopeResult(
        records=count,
        one_pass=summary(*times["pass"]),
        warm=summary(*times["warm"]),
        warm_ratio=Ratio(*ratio(times["warm"][0], times["pass"][0])),
        read_and_pass=summary(*times["read"]),
        cold=summary(*times["cold"]),
        cold_ratio=Ratio(*ratio(times["cold"][0], times["read"][0])),
        overlap=agreed,
    )


def ask(me: ScopedMemory, query: str) -> list[str]:
    """Return the source ids of the best ten."""
    found = me.recall(query, limit=LIMIT, minimum_score=-1.0)
    return [item.record.source.source_id for item in found]


def _overlap(
    me: ScopedMemory, rule: BruteForce, queries: Sequence[str], embedder: PreparedEmbedder
) -> float:
    shares = [
        overlap(
            [int(one.rpartition("-")[2]) for one in ask(me, query)],
            rule.hybrid(query, embedder.embed_query(query), LIMIT),
        )
        for query in queries
    ]
    return round(sum(shares) / len(shares), 4)


def compare(folder: Path, count: int, calls: int, names: Sequence[str]) -> list[PeerResult]:
    """Measure peers, ours and one pass on the same scope, in turn.

    Args:
        folder: Where they may write.
        count: Records in the scope, and as many of somebody else's.
        calls: How many recalls to time of each.
        names: Which peers.
    """
    folder.mkdir()
    embedder = PreparedEmbedder()
    texts = limits.texts_of(1, count)
    matrix = limits.matrix_of(texts, embedder)
    queries = list(sentences(99, calls))
    vectors = embedder.embed_passages(queries)
    kinds = {name: KINDS[name] for name in names}
    peers = {
        name: _loaded(kind.open(folder / name, embedder), count)
        for name, kind in kinds.items()
        if kind.installed is not None and count <= kind.most
    }
    fill(folder / "ours.db", {1: count, 2: count}, 0)
    with facade.open(folder / "ours.db", embedder=embedder) as memory:
        me = scope_of(memory, 1)
        work: dict[str, Callable[[int], object]] = {
            NUMPY: lambda n: limits.one_pass(matrix, vectors[n]),
            OURS: lambda n: ask(me, queries[n]),
        }
        work |= {name: _asking(peer, queries) for name, peer in peers.items()}
        times = interleaved(work, calls=calls)
        rule = BruteForce(texts, matrix)
        agreed = _overlap(me, rule, queries[:CHECKS], embedder)
        results = [
            PeerResult(NUMPY, "", count, summary(*times[NUMPY])),
            PeerResult(OURS, "", count, summary(*times[OURS]), Ratio(1, 1, 1), agreed, 0),
        ]
    for name, kind in kinds.items():
        result = PeerResult(name, kind.installed, count)
        if name in peers:
            share, foreign = _check(peers[name], rule, queries[:CHECKS], embedder)
            over = Ratio(*ratio(times[name][0], times[OURS][0]))
            measured = summary(*times[name])
            result = PeerResult(name, kind.installed, count, measured, over, share, foreign)
            peers[name].close()
        results.append(result)
    return results


def owner_of(number: int) -> Owner:
    """Return the owner of a numbered scope, as peers are told."""
    return ("tenant", str(number), "bench")


def _loaded(peer: Peer, count: int) -> Peer:
    for number in (1, 2):
        texts = limits.texts_of(number, count)
        peer.add(owner_of(number), [f"{number}-{place}" for place in range(count)], texts)
    return peer


def _asking(peer: Peer, queries: Sequence[str]) -> Callable[[int], object]:
    return lambda n: peer.recall(owner_of(1), queries[n], LIMIT)


def _check(
    peer: Peer, rule: BruteForce, queries: Sequence[str], embedder: PreparedEmbedder
) -> tuple[float, int]:
    shares, foreign = [], 0
    for query in queries:
        found = peer.recall(owner_of(1), query, LIMIT)
        own = [int(one.partition("-")[2]) for one in found if one.startswith("1-")]
        foreign += len(found) - len(own)
        shares.append(overlap(own, rule.nearest(embedder.embed_query(query), LIMIT)))
    return round(sum(shares) / len(shares), 4), foreign
