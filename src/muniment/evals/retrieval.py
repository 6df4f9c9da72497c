"""Retrieval quality on a file of questions with known answers, measured through `recall`.

The form of the file is in `muniment.evals.haystacks`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment import memory as facade
from muniment.errors import InvalidInputError
from muniment.evals.ablation import Bench, Without, ideas
from muniment.evals.baselines import BASELINES, Baseline, Times, missing
from muniment.evals.haystacks import haystacks
from muniment.evals.metrics import mean, measure, paired
from muniment.evals.vectors import KeptVectors
from muniment.providers.embedding import open_embedder
from muniment.records import Plain, Statement, WritePath
from muniment.results import Finding
from muniment.scoped import Progress, ScopedMemory

if TYPE_CHECKING:
    from muniment.ports import Embedder

DEPTH = 100


class _Open:
    """Lets every text in: what is measured here is finding, not screening."""

    def screen(self, text: str, path: WritePath) -> tuple[Finding, ...]:
        """Return nothing."""
        del text, path
        return ()


@dataclass(frozen=True, slots=True)
class Ablated(Plain):
    """What is found when one idea is off.

    Attributes:
        idea: What was off.
        recall: recall@10 without it.
        change: What that is more than with it; below 0 where the idea helps.
        low: Lower end of the change's 95 % interval, paired bootstrap over questions.
        high: Upper end.
    """

    idea: str
    recall: float
    change: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class RetrievalReport(Plain):
    """What a run measured.

    Attributes:
        file: Name of the file.
        embedder: Name of the embedding model, or None when words alone were used.
        haystacks: How many haystacks there were.
        records: How many records they held together.
        skipped: How many of those could not be stored: blank or over-long.
        queries: How many questions were asked.
        measures: Means by question type; `all` is the mean over every question.
        peers: The same of each peer, by its name.
        absent: Peers that are not installed, with the package that each needs.
        ablation: What each idea is worth, when that was asked for.
    """

    file: str
    embedder: str | None
    haystacks: int
    records: int
    skipped: int
    queries: int
    measures: dict[str, dict[str, float]]
    peers: dict[str, dict[str, dict[str, float]]]
    absent: dict[str, str]
    ablation: tuple[Ablated, ...] = ()


def evaluate(
    path: Path,
    *,
    embedder: object,
    peers: Sequence[str] = (),
    ablate: bool = False,
    vectors: Path | None = None,
    progress: Progress | None = None,
) -> RetrievalReport:
    """Store each haystack in a memory of its own, as one thread in order, and ask its questions.

    Rankings are read to a depth of 100 records, so a first gold record below that counts nothing
    towards `mrr`.

    Args:
        path: The file.
        embedder: What `muniment.open` takes.
        peers: Other ways of ranking to measure beside it, with the same embedder; of `BASELINES`.
            One that is not installed is named in the report.
        ablate: Whether to ask again with each idea of the ranking off.
        vectors: File that keeps what was embedded for the next run; made if there is none.
        progress: Called with how many records or questions of a haystack are done, and how many
            there are.

    Raises:
        InvalidInputError: The file is not in the form of `muniment.evals.haystacks`; says which
            line. Or a peer needs an embedder, or the vectors are another model's.
        MissingExtraError: The embedder is not installed.
    """
    model = open_embedder(embedder)
    with ExitStack() as files:
        if model is not None and vectors is not None:
            model = files.enter_context(KeptVectors(model, vectors))
        run = _Run(model, peers, ideas(model) if ablate else {})
        for number, haystack in haystacks(path):
            run.add(number, haystack, progress)
    if not run.rows:
        raise InvalidInputError(f"{path.name} holds no question.")
    return run.report(path.name)


_Rows = defaultdict[str, list[dict[str, float]]]


class _Run:
    """What was measured so far."""

    def __init__(
        self, embedder: Embedder | None, peers: Sequence[str], off: dict[str, Without]
    ) -> None:
        self._embedder = embedder
        self.rows: _Rows = defaultdict(list)
        self._absent = {peer: package for peer in peers if (package := missing(peer))}
        self._peers: dict[str, _Rows] = {
            peer: defaultdict(list) for peer in peers if peer not in self._absent
        }
        self._off = off
        self._found: dict[str, list[float]] = {name: [] for name in off}
        self._counts = {"haystacks": 0, "records": 0, "skipped": 0}

    def add(self, number: int, haystack: dict[str, Any], progress: Progress | None) -> None:
        """Measure one haystack in every way that was asked for."""
        given = self._embedder or "none"
        with facade.open(":memory:", embedder=given, screener=_Open()) as memory:
            me = memory.scoped(tenant_id="eval", user_id=f"haystack {number}", agent_id="eval")
            ids = _store(me, haystack, progress)
            for kind, measures in _ask(me, haystack, ids, progress):
                self.rows["all"].append(measures)
                self.rows[kind].append(measures)
        for peer, measured in self._peers.items():
            _ask_peer(BASELINES[peer], haystack, self._embedder, measured)
        if self._off:
            bench = Bench(haystack, self._embedder)
            for name, idea in self._off.items():
                self._found[name] += [row["recall@10"] for row in bench.ask(idea)]
        stored = len(haystack["records"])
        for name, more in (("haystacks", 1), ("records", stored), ("skipped", stored - len(ids))):
            self._counts[name] += more

    def report(self, name: str) -> RetrievalReport:
        """Return the means over everything that was asked."""
        with_all = [row["recall@10"] for row in self.rows["all"]]
        return RetrievalReport(
            file=name,
            embedder=None if self._embedder is None else self._embedder.model.name,
            **self._counts,
            queries=len(with_all),
            measures=_means(self.rows),
            peers={peer: _means(found) for peer, found in self._peers.items()},
            absent=self._absent,
            ablation=tuple(
                Ablated(idea, round(sum(found) / len(found), 4), *paired(found, with_all))
                for idea, found in self._found.items()
            ),
        )


def _means(rows: _Rows) -> dict[str, dict[str, float]]:
    return {kind: mean(measured) for kind, measured in rows.items()}


def _ask_peer(
    opener: Callable[[Sequence[str], Times, Embedder | None], Baseline],
    haystack: dict[str, Any],
    embedder: Embedder | None,
    rows: _Rows,
) -> None:
    """Add what a peer finds of one haystack."""
    records = [record for record in haystack["records"] if record["text"].strip()]
    times = [at if isinstance(at := record.get("time"), int) else None for record in records]
    peer = opener([record["text"] for record in records], times, embedder) if records else None
    for query in haystack["queries"]:
        places = [] if peer is None else peer.rank(query["query"], query.get("before"), DEPTH)
        measures = measure([records[place]["id"] for place in places], query["gold"])
        rows["all"].append(measures)
        rows[query.get("type") or "question"].append(measures)


def _store(me: ScopedMemory, haystack: dict[str, Any], progress: Progress | None) -> dict[str, str]:
    """Return the haystack's own id of each stored record."""
    statements = [
        Statement(
            kind="preference",
            text=record["text"],
            source_id=str(place),
            metadata={} if record.get("time") is None else {"time": record["time"]},
            follows=str(place - 1) if place else None,
        )
        for place, record in enumerate(haystack["records"])
    ]

    batch = me.remember_many(statements, approved=True, on_error="skip", progress=progress)
    left_out = {item.index for item in batch.skipped}
    kept = [at for at in range(len(statements)) if at not in left_out]
    return {
        written.memory_id: haystack["records"][at]["id"]
        for at, written in zip(kept, batch, strict=True)
    }


def _ask(
    me: ScopedMemory, haystack: dict[str, Any], ids: dict[str, str], progress: Progress | None
) -> Iterator[tuple[str, dict[str, float]]]:
    for place, query in enumerate(haystack["queries"], start=1):
        before = query.get("before")
        found = me.recall(
            query["query"],
            limit=DEPTH,
            minimum_score=-1.0,
            budget=None,
            filters=None if before is None else {"metadata.time": {"lt": before}},
        )
        ranked = [ids[item.record.memory_id] for item in found]
        yield query.get("type") or "question", measure(ranked, query["gold"])
        if progress is not None:
            progress(place, len(haystack["queries"]))
