"""Retrieval quality on a file of questions with known answers, measured through `recall`.

A file is JSON Lines, plain or gzipped, one haystack a line::

    {"haystack": "h1",
     "records": [{"id": "r1", "text": "…", "time": null}],
     "queries": [{"id": "q1", "query": "…", "type": "single", "gold": ["r1"]}]}

A query with `"before": n` may only find records whose `time` is a whole number below n.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment import memory as facade
from muniment.errors import InvalidInputError
from muniment.evals.baselines import BASELINES, Baseline, Times
from muniment.evals.metrics import mean, measure
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
    """

    file: str
    embedder: str | None
    haystacks: int
    records: int
    skipped: int
    queries: int
    measures: dict[str, dict[str, float]]
    peers: dict[str, dict[str, dict[str, float]]]


def evaluate(
    path: Path,
    *,
    embedder: object,
    peers: Sequence[str] = (),
    progress: Progress | None = None,
) -> RetrievalReport:
    """Store each haystack in a memory of its own, as one thread in order, and ask its questions.

    Rankings are read to a depth of 100 records, so a first gold record below that counts nothing
    towards `mrr`.

    Args:
        path: The file.
        embedder: What `muniment.open` takes.
        peers: Other ways of ranking to measure beside it, with the same embedder; of `BASELINES`.
        progress: Called with how many records or questions of a haystack are done, and how many
            there are.

    Raises:
        InvalidInputError: The file is not in the format above; says which line. Or a peer needs an
            embedder.
        MissingExtraError: A peer is not installed.
    """
    rows: defaultdict[str, list[dict[str, float]]] = defaultdict(list)
    haystacks = records = skipped = 0
    name: str | None = None
    model = open_embedder(embedder)
    others: dict[str, defaultdict[str, list[dict[str, float]]]]
    others = {peer: defaultdict(list) for peer in peers}
    with facade.open(":memory:", embedder=model or "none", screener=_Open()) as memory:
        for number, haystack in _haystacks(path):
            me = memory.scoped(tenant_id="eval", user_id=f"haystack {number}", agent_id="eval")
            ids = _store(me, haystack, progress)
            for kind, measures in _ask(me, haystack, ids, progress):
                rows["all"].append(measures)
                rows[kind].append(measures)
            for peer, measured in others.items():
                _ask_peer(BASELINES[peer], haystack, model, measured)
            haystacks += 1
            records += len(haystack["records"])
            skipped += len(haystack["records"]) - len(ids)
        name = memory.health().embedder
    if not rows:
        raise InvalidInputError(f"{path.name} holds no question.")
    return RetrievalReport(
        file=path.name,
        embedder=name,
        haystacks=haystacks,
        records=records,
        skipped=skipped,
        queries=len(rows["all"]),
        measures={kind: mean(measured) for kind, measured in rows.items()},
        peers={
            peer: {kind: mean(measured) for kind, measured in found.items()}
            for peer, found in others.items()
        },
    )


def _ask_peer(
    opener: Callable[[Sequence[str], Times, Embedder | None], Baseline],
    haystack: dict[str, Any],
    embedder: Embedder | None,
    rows: defaultdict[str, list[dict[str, float]]],
) -> None:
    """Add what a peer finds of one haystack."""
    records = [record for record in haystack["records"] if record["text"].strip()]
    times = [record.get("time") for record in records]
    peer = opener([record["text"] for record in records], times, embedder)
    for query in haystack["queries"]:
        places = peer.rank(query["query"], query.get("before"), DEPTH)
        measures = measure([records[place]["id"] for place in places], query["gold"])
        rows["all"].append(measures)
        rows[query.get("type", "question")].append(measures)


def _haystacks(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                haystack = json.loads(line)
            except ValueError:
                raise InvalidInputError(f"{path.name}, line {number}: not JSON.") from None
            missing = [key for key in ("records", "queries") if key not in haystack]
            if missing:
                raise InvalidInputError(f"{path.name}, line {number}: no {missing[0]}.")
            yield number, haystack


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
        yield query.get("type", "question"), measure(ranked, query["gold"])
        if progress is not None:
            progress(place, len(haystack["queries"]))
