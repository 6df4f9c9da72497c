"""Explaining a recall: what each channel said of every record near the cut, and its verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muniment.rules.ranking import EXACT_BONUS, overheard
from muniment.services.arranging import TIMELY_VOTE
from muniment.services.found import Asked, Found, Searched
from muniment.trace import Explained, Reason

if TYPE_CHECKING:
    from muniment.ports import Snapshot
    from muniment.records import Record

NEAR = 20


def explain(
    view: Snapshot,
    found: Found,
    asked: Asked,
    now: int,
) -> tuple[Explained, ...]:
    """Return the verdict on every record that was ranked and on the best beyond it.

    Those that were ranked have no verdict yet: what becomes of them is known after the budget.

    The best are taken among all records of the owners, whether superseded, expired, of another
    kind or filtered out, by the rank that each has or would have.

    Args:
        view: The snapshot of the recall.
        found: What the search gave.
        asked: The question.
        now: The present instant, microseconds since 1970, UTC.
    """
    channels = found.channels
    if not len(channels.seqs):
        return ()
    searched = found.searched
    views = [one.view for reading in searched.readings for one in reading.sought]
    here = np.flatnonzero(np.concatenate([one.here for one in views]))
    ranked = np.lexsort((-channels.seqs[here], -searched.fused[here]))
    best = here[ranked[: asked.limit + NEAR]]
    kept = found.ranking.order
    order = np.concatenate([kept, best[~np.isin(best, kept)]])
    records = _records_at(view, searched, order, now)
    instant = now if asked.as_of is None else asked.as_of
    chosen = frozenset(found.ranking.order.tolist())
    heard = overheard(channels.lexical, channels.chosen, *channels.beside)
    votes_of_time = dict.fromkeys(found.timely, TIMELY_VOTE)
    scores, coverage = searched.score[order], channels.coverage[order]
    return tuple(
        Explained(
            memory_id=record.memory_id,
            reason=None if place in chosen else _reason(found, asked, place, instant),
            score=score,
            rank=float(searched.fused[place]) + votes_of_time.get(place, 0.0),
            lexical=covered,
            semantic=float(channels.cosine[place]) if channels.embedded[place] else None,
            exact=bool(channels.exact[place]),
            **_votes(found, asked, place, float(heard[place])),
            time_vote=votes_of_time.get(place, 0.0),
        )
        for place, record, score, covered in zip(
            order.tolist(), records, scores.tolist(), coverage.tolist(), strict=True
        )
    )


def _votes(found: Found, asked: Asked, place: int, heard: float) -> dict[str, float]:
    """Return what words, meaning and the records beside it each add to a record's rank."""
    if asked.listing:
        return {"lexical_vote": 0.0, "semantic_vote": 0.0, "thread_vote": 0.0}
    words = float(found.channels.lexical[place])
    rest = float(found.searched.fused[place]) - words - heard
    bonus = EXACT_BONUS if found.channels.exact[place] else 0.0
    meaning = rest - bonus if found.channels.embedded[place] else 0.0
    return {"lexical_vote": words, "semantic_vote": meaning, "thread_vote": heard}


def _reason(found: Found, asked: Asked, place: int, instant: int) -> Reason:
    channels = found.channels
    searched = found.searched
    histories = [n > 0 for reading in searched.readings for n in range(len(reading.sought))]
    number, part, at = searched.located(place)
    if histories[number]:
        return Reason.SUPERSEDED
    if channels.live[place]:
        return _choice(found, asked, place, part.kind_names[part.kinds[at]], number)
    if part.expires_at[at] <= instant:
        return Reason.EXPIRED
    return Reason.NOT_YET_VALID if part.valid_from[at] > instant else Reason.NO_LONGER_VALID


def _choice(found: Found, asked: Asked, place: int, kind: str, number: int) -> Reason:
    """Return why a live record is not in the ranking; the first reason that the choice counted."""
    if kind not in asked.names:
        return Reason.KIND
    if kind in asked.withheld:
        return Reason.READER
    if not found.channels.chosen[place]:
        allowed = found.searched.choice.allowed
        passes = allowed is None or found.channels.seqs[place] in allowed[number]
        return Reason.OVERRULED if passes else Reason.FILTER
    [score] = found.searched.score[np.array([place])]
    return Reason.SCORE if score < asked.minimum else Reason.LIMIT


def settled(
    explained: tuple[Explained, ...],
    verdicts: Mapping[str, Reason | None],
    reranked: Mapping[str, float],
) -> tuple[Explained, ...]:
    """Return verdicts with what became of the ranked records.

    Args:
        explained: What `explain` gave.
        verdicts: By memory_id, why a ranked record is not in the packet; None for one that is.
        reranked: By memory_id, what the reranker said.
    """
    return tuple(
        replace(
            one,
            reason=verdicts.get(one.memory_id, one.reason),
            reranked=reranked.get(one.memory_id),
        )
        for one in explained
    )


def _records_at(
    view: Snapshot, searched: Searched, order: NDArray[np.int64], now: int
) -> list[Record]:
    """Return the records at places of the channels, live or not, in that order."""
    seqs = searched.channels.seqs[order].tolist()
    owners = [0] * len(seqs) if searched.owners is None else searched.owners[order].tolist()
    records: dict[tuple[int, int], Record] = {}
    for owner in set(owners):
        wanted = [seq for seq, number in zip(seqs, owners, strict=True) if number == owner]
        for record in view.records(searched.readings[owner].state, wanted, now):
            records[owner, record.seq] = record
    return [records[place] for place in zip(owners, seqs, strict=True)]
