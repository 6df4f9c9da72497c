"""How fast is a recall beside peers that hold the same records of the same people?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from muniment import memory as facade
from muniment.bench import limits
from muniment.bench.crowd import BATCH, FIRST_OTHER
from muniment.bench.exact import BruteForce, agreement, overlap
from muniment.bench.peers import KINDS, Kind, Peer, owner_of
from muniment.bench.sample import PreparedEmbedder, sentences
from muniment.bench.stores import LIMIT, ask, fill, scope_of
from muniment.bench.timing import Ratio, Timing, interleaved, ratio, summary
from muniment.records import Plain

CHECKS = 20
OURS = "muniment (words and meaning)"
NUMPY = "one pass of numpy"
_OWN = 1


@dataclass(frozen=True, slots=True)
class PeerResult(Plain):
    """One memory system with the same records.

    Attributes:
        name: Which.
        version: Its version; empty without one, None when it is not installed.
        records: Records in the scope.
        others: Records of others in the same store, 1,000 to a scope.
        recall: Time of a recall; None when it was not run.
        times_ours: Median CPU time over ours; None when it was not run.
        overlap: Share of the brute-force ten nearest that was returned.
        foreign: Records of somebody else that were ever returned.
    """

    name: str
    version: str | None
    records: int
    others: int
    recall: Timing | None = None
    times_ours: Ratio | None = None
    overlap: float | None = None
    foreign: int | None = None


def compare(
    folder: Path, count: int, others: int, calls: int, names: Sequence[str]
) -> list[PeerResult]:
    """Measure peers, ours and one pass on the same scope, in turn.

    Args:
        folder: Where they may write.
        count: Records in the scope.
        others: Records of others in the same store. A peer that cannot take as many is not run.
        calls: How many recalls to time of each.
        names: Which peers.
    """
    folder.mkdir()
    embedder, sizes = PreparedEmbedder(), _sizes(count, others)
    texts = limits.texts_of(_OWN, count)
    matrix = limits.matrix_of(texts, embedder)
    queries = list(sentences(99, calls))
    vectors = embedder.embed_passages(queries)
    peers = {
        name: _loaded(KINDS[name], folder / name, embedder, sizes)
        for name in names
        if KINDS[name].installed is not None and count + others <= KINDS[name].most
    }
    fill(folder / "ours.db", sizes, 0)
    with facade.open(folder / "ours.db", embedder=embedder) as memory:
        me = scope_of(memory, _OWN)
        work: dict[str, Callable[[int], object]] = {
            NUMPY: lambda n: limits.one_pass(matrix, vectors[n]),
            OURS: lambda n: ask(me, queries[n]),
        }
        work |= {name: _asking(peer, queries) for name, peer in peers.items()}
        times = interleaved(work, calls=calls)
        rule = BruteForce(texts, matrix)
        agreed = agreement(me, rule, queries[:CHECKS], embedder)
    results = [
        PeerResult(NUMPY, "", count, others, summary(*times[NUMPY])),
        PeerResult(OURS, "", count, others, summary(*times[OURS]), Ratio(1, 1, 1), agreed, 0),
    ]
    for name in names:
        result = PeerResult(name, KINDS[name].installed, count, others)
        if name in peers:
            share, foreign = _check(peers[name], rule, queries[:CHECKS], embedder)
            result = replace(
                result,
                recall=summary(*times[name]),
                times_ours=ratio(times[name][0], times[OURS][0]),
                overlap=share,
                foreign=foreign,
            )
            peers[name].close()
        results.append(result)
    return results


def _sizes(count: int, others: int) -> dict[int, int]:
    """Return how many records each numbered scope has."""
    shares = range(0, others, BATCH)
    return {_OWN: count} | {
        FIRST_OTHER + place: min(BATCH, others - start) for place, start in enumerate(shares)
    }


def _loaded(kind: Kind, folder: Path, embedder: PreparedEmbedder, sizes: Mapping[int, int]) -> Peer:
    peer = kind.open(folder, embedder)
    for number, count in sizes.items():
        ids = [f"{number}-{place}" for place in range(count)]
        peer.add(owner_of(number), ids, limits.texts_of(number, count))
    return peer


def _asking(peer: Peer, queries: Sequence[str]) -> Callable[[int], object]:
    return lambda n: peer.recall(owner_of(_OWN), queries[n], LIMIT)


def _check(
    peer: Peer, rule: BruteForce, queries: Sequence[str], embedder: PreparedEmbedder
) -> tuple[float, int]:
    shares, foreign = [], 0
    for query in queries:
        found = peer.recall(owner_of(_OWN), query, LIMIT)
        own = [int(one.partition("-")[2]) for one in found if one.startswith(f"{_OWN}-")]
        foreign += len(found) - len(own)
        shares.append(overlap(own, rule.nearest(embedder.embed_query(query), LIMIT)))
    return round(sum(shares) / len(shares), 4), foreign
