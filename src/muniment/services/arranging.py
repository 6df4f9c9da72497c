"""The best of what was searched, with the repeats behind, and how a ranking is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muniment.clock import to_instant
from muniment.ports import Snapshot
from muniment.rules.ranking import Ranking, arrange, reordered, share
from muniment.rules.repeats import repeats
from muniment.rules.sharing import crowding
from muniment.services.found import Asked, Found, Searched

if TYPE_CHECKING:
    from muniment.services.known import Shown

_WIDEST = 1_000
_DEEPER = 16
TIMELY = 50
_TIMELY_VOTE = np.float32(0.5)


def best_of(
    view: Snapshot, searched: Searched, asked: Asked, now: int
) -> tuple[Ranking, list[Shown], frozenset[int], frozenset[int]]:
    """Return the best records, which are repeats, and which are beyond their source's share.

    Those come last, repeats behind the others. Looks further down for as long as they take places
    that another record could have; for a source's share not as far as for repeats.
    """
    window = asked.depth
    while True:
        ranking = _rank(searched, asked, window)
        order = ranking.order
        shown = shown_at(view, searched, order, now)
        again = repeats([one.said for one in shown], _likeness(searched, order))
        over = _over_share(shown, again, asked, more=len(order) == window)
        full = len(order) - len(again) - len(over) >= asked.depth or len(order) < window
        widest = _WIDEST if again else _DEEPER * asked.depth
        if not (again or over) or full or window >= widest:
            break
        window = min(2 * window, max(widest, asked.depth))
    if over:
        over = _over_share(shown, again, asked, more=False)
    if not (again or over) and asked.span is None:
        return ranking, shown, frozenset(), frozenset()
    last = frozenset((*again, *over))
    distinct = [place for place in range(len(order)) if place not in last]
    if asked.span is not None:
        distinct = _timely(distinct, ranking, shown, asked.span)
    places = [*distinct, *over, *again]
    ranking = reordered(ranking, places, searched.score)
    repeated, crowding = (frozenset(order[found].tolist()) for found in (again, over))
    return ranking, [shown[place] for place in places], repeated, crowding


def _over_share(
    shown: Sequence[Shown], again: Sequence[int], asked: Asked, *, more: bool
) -> list[int]:
    """Return the places beyond their source's share, as if one more followed where more may."""
    sources = [one.source for one in shown]
    if not any(sources):
        return []
    repeated = frozenset(again)
    distinct = [place for place in range(len(shown)) if place not in repeated]
    one_more = [None] if more else []
    over = crowding([*(sources[place] for place in distinct), *one_more], asked.limit)
    return [distinct[place] for place in over]


def _timely(
    places: list[int], ranking: Ranking, shown: Sequence[Shown], span: tuple[int, int]
) -> list[int]:
    """Return places in order when a record from the time in question has a vote more.

    Only the best are looked at, so that a smaller limit gives the beginning of a larger one.
    """
    best, rest = places[:TIMELY], places[TIMELY:]

    def rank(place: int) -> float:
        record = shown[place].record
        at = to_instant("time", record.valid_from or record.created_at)
        within = span[0] <= at < span[1]
        return float(ranking.rank[place] + _TIMELY_VOTE * within)

    return [*sorted(best, key=lambda place: -rank(place)), *rest]


def _likeness(searched: Searched, order: NDArray[np.int64]) -> Callable[[int, int], float]:
    embedded = searched.channels.embedded

    def cosine(one: int, other: int) -> float:
        pair = [int(order[one]), int(order[other])]
        if not embedded[pair].all():
            return 0.0
        (_, part, at), (_, next_part, next_at) = map(searched.located, pair)
        return float(np.vecdot(part.vectors[at], next_part.vectors[next_at]))

    return cosine


def _rank(searched: Searched, asked: Asked, window: int) -> Ranking:
    channels, owners = searched.channels, searched.owners
    ranking = arrange(
        channels.chosen,
        searched.fused,
        searched.score,
        channels.seqs,
        asked.minimum,
        window if owners is None else None,
    )
    return ranking if owners is None else share(ranking, owners, window)


def cut(ranking: Ranking, found: Found, limit: int) -> Ranking:
    """Return the first records of a ranking of what was found, each owner with its share.

    Args:
        ranking: What was found, in some order, with what is behind last.
        found: What was found.
        limit: Most records to keep.
    """
    owners = found.searched.owners
    if owners is not None and len(ranking.order) > limit:
        repeated = np.isin(ranking.order, list(found.behind))
        distinct, again = (
            ranking.at(np.flatnonzero(~repeated)),
            ranking.at(np.flatnonzero(repeated)),
        )
        ranking = share(distinct, owners, limit).then(again)
    return ranking if len(ranking.order) <= limit else ranking.at(np.arange(limit))


def shown_at(view: Snapshot, searched: Searched, order: NDArray[np.int64], now: int) -> list[Shown]:
    """Return the live records at places of the channels, in that order."""
    readings, owners = searched.readings, searched.owners
    wanted = searched.channels.seqs[order].tolist()
    if owners is None:
        return [one for own in readings for one in own.known.read(view, own.state, wanted, now)]
    numbers = owners[order].tolist()
    found: dict[tuple[int, int], Shown] = {}
    for number in set(numbers):
        of_it = [seq for seq, owner in zip(wanted, numbers, strict=True) if owner == number]
        reading = readings[number]
        for one in reading.known.read(view, reading.state, of_it, now):
            found[number, one.record.seq] = one
    return [found[place] for place in zip(numbers, wanted, strict=True)]
