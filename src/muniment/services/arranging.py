"""The best of what was searched, with the repeats behind, and how a ranking is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

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
TIMELY_VOTE = 0.5


class Best(NamedTuple):
    """The best of what was searched; places are places of the channels.

    Attributes:
        ranking: The records in their order.
        shown: The same, and how a packet shows each.
        repeated: Those that repeat another one; last of all.
        crowding: Those beyond their source's share; last but for repeats.
        timely: Those from the time in question, with a vote for it.
    """

    ranking: Ranking
    shown: list[Shown]
    repeated: frozenset[int] = frozenset()
    crowding: frozenset[int] = frozenset()
    timely: frozenset[int] = frozenset()


def best_of(view: Snapshot, searched: Searched, asked: Asked, now: int) -> Best:
    """Return the best records, with repeats and what is beyond its source's share behind.

    Looks further down for as long as they take places that another record could have; for a
    source's share not as far as for repeats.
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
        return Best(ranking, shown)
    last = frozenset((*again, *over))
    distinct = [place for place in range(len(order)) if place not in last]
    timely = _timely(distinct, shown, asked.span)
    if timely:
        ranking.rank[timely] += np.float32(TIMELY_VOTE)
        best = sorted(distinct[:TIMELY], key=lambda place: -ranking.rank[place])
        distinct = [*best, *distinct[TIMELY:]]
    places = [*distinct, *over, *again]
    ranking = reordered(ranking, places, searched.score)
    sorts = (frozenset(order[found].tolist()) for found in (again, over, timely))
    return Best(ranking, [shown[place] for place in places], *sorts)


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
    places: Sequence[int], shown: Sequence[Shown], span: tuple[int, int] | None
) -> list[int]:
    """Return the places of the best whose records are from the time in question.

    Only the best are looked at, so that a smaller limit gives the beginning of a larger one.
    """
    if span is None:
        return []
    records = [(place, shown[place].record) for place in places[:TIMELY]]
    times = [(place, one.valid_from or one.created_at) for place, one in records]
    return [place for place, at in times if span[0] <= to_instant("time", at) < span[1]]


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
    channels, owners = searched.channels, searched.sharers
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
    owners = found.searched.sharers
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
