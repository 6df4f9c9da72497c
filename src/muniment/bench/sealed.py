"""What does sealing cost? The same scope in a plain and in a sealed store, asked in turn."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from muniment import memory as facade
from muniment.bench.machine import Machine, machine
from muniment.bench.sample import PreparedEmbedder, sentences, statements
from muniment.bench.stores import LIMIT, scope_of
from muniment.bench.timing import Ratio, Timing, interleaved, ratio, summary
from muniment.records import Plain, Statement
from muniment.scoped import Progress, ScopedMemory

PLAIN, SEALED = "plain", "sealed"
WARM, COLD, FILTERED = "warm", "cold", "warm, filtered"
CHANGED, FIRST = "filtered, after a write", "filtered, just opened"
TAGS = 5
FILTER = {"metadata.tag": {"lt": 3}}
_NAMES = (PLAIN, SEALED)
_SCOPE = 1
_LATE = 1000


@dataclass(frozen=True, slots=True)
class Case(Plain):
    """One way of recalling, in both stores.

    Attributes:
        records: Records in the scope.
        name: `warm` with the segment in memory; `cold` with it built anew; `warm, filtered` by a
            condition on the metadata; `filtered, after a write` the first such one after it;
            `filtered, just opened` the first of all.
        plain: Times in the plain store.
        sealed: Times in the sealed store.
        ratio: Median CPU time sealed over plain.
        same: Whether both gave the same records in the same order with the same scores each time.
    """

    records: int
    name: str
    plain: Timing
    sealed: Timing
    ratio: Ratio
    same: bool


@dataclass(frozen=True, slots=True)
class SealedReport(Plain):
    """What a run measured: on what machine, and each way of recalling."""

    machine: Machine
    cases: tuple[Case, ...]


class _Stores:
    """The same scope in a plain and a sealed store, by the name of the store.

    Attributes:
        hot: With the segment kept in memory.
        fresh: With the segment built anew for each recall.
    """

    def __init__(self, folder: Path, count: int, embedder: PreparedEmbedder) -> None:
        self._folder = folder
        self._embedder = embedder
        self._opened = ExitStack()
        self.hot: dict[str, ScopedMemory] = {}
        self.fresh: dict[str, ScopedMemory] = {}
        made = _tagged(_SCOPE, count)
        for name in _NAMES:
            settings: dict[str, Any] = {"embedder": embedder, "sealed": name == SEALED}
            with facade.open(folder / f"{name}.db", **settings) as memory:
                scope_of(memory, _SCOPE).remember_many(made, approved=True)
        self.reopen(0)

    def reopen(self, number: int) -> None:
        """Close everything and open it again."""
        del number
        self.close()
        for name in _NAMES:
            for scopes, size in ((self.hot, 2**30), (self.fresh, 0)):
                path = self._folder / f"{name}.db"
                memory = facade.open(path, embedder=self._embedder, cache_bytes=size)
                scopes[name] = scope_of(self._opened.enter_context(memory), _SCOPE)

    def write(self, number: int) -> None:
        """Write the same record to both."""
        made = _tagged(_LATE + number, 1)
        for me in self.hot.values():
            me.remember_many(made, approved=True)

    def close(self) -> None:
        """Close both."""
        self._opened.close()


def run(*, sizes: Sequence[int], calls: int, progress: Progress | None = None) -> SealedReport:
    """Measure recall of one scope in a plain and in a sealed store.

    Args:
        sizes: Records of the scope; each size has stores of its own.
        calls: How many recalls to time of each sort.
        progress: Called with how many records are written and how many there are.
    """
    cases: list[Case] = []
    for place, count in enumerate(sizes):
        with tempfile.TemporaryDirectory() as folder:
            cases += _measure(Path(folder), count, calls)
        if progress is not None:
            progress(place + 1, len(sizes))
    return SealedReport(machine("cryptography"), tuple(cases))


def _measure(folder: Path, count: int, calls: int) -> list[Case]:
    embedder = PreparedEmbedder()
    queries = list(sentences(99, calls))
    embedder.embed_passages(queries)
    with closing(_Stores(folder, count, embedder)) as stores:
        return [
            _case(count, WARM, stores.hot, queries),
            _case(count, COLD, stores.fresh, queries),
            _case(count, FILTERED, stores.hot, queries, FILTER),
            _case(count, CHANGED, stores.hot, queries, FILTER, stores.write),
            _case(count, FIRST, stores.hot, queries, FILTER, stores.reopen),
        ]


def _tagged(seed: int, count: int) -> list[Statement]:
    return [
        replace(one, metadata={"tag": place % TAGS, "from": one.source_id})
        for place, one in enumerate(statements(seed, count))
    ]


def _case(
    count: int,
    name: str,
    scopes: Mapping[str, ScopedMemory],
    queries: Sequence[str],
    filters: Mapping[str, Any] | None = None,
    before: Callable[[int], object] | None = None,
) -> Case:
    answers: dict[str, list[object]] = {PLAIN: [], SEALED: []}

    def asking(store: str) -> Callable[[int], object]:
        return lambda n: answers[store].append(_ask(scopes[store], queries[n], filters))

    work = {store: asking(store) for store in _NAMES}
    times = interleaved(work, calls=len(queries), before=before)
    return Case(
        records=count,
        name=name,
        plain=summary(*times[PLAIN]),
        sealed=summary(*times[SEALED]),
        ratio=ratio(times[SEALED][0], times[PLAIN][0]),
        same=answers[PLAIN] == answers[SEALED],
    )


def _ask(
    me: ScopedMemory, query: str, filters: Mapping[str, Any] | None
) -> list[tuple[str, float]]:
    found = me.recall(query, limit=LIMIT, minimum_score=-1.0, filters=filters)
    return [(item.record.source.source_id, item.score) for item in found]
