"""What becomes of a ranking before the budget: repeats fall behind, a reranker may reorder it.

What systems of record hold now is asked for what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from muniment.errors import ProviderError
from muniment.records import JSONValue
from muniment.rules.ranking import Ranking, reordered
from muniment.services.arranging import cut
from muniment.services.found import Asked, Found
from muniment.trace import Degraded, Reason

if TYPE_CHECKING:
    from muniment.ports import Reranker, Resolver
    from muniment.services.known import Shown


class Selection(NamedTuple):
    """The records that compete for the packet, best first.

    Attributes:
        ranking: Their places in the channels, and their scores.
        shown: The records, and how a packet shows each.
        reranked: What the reranker said of each place that it was shown.
        reranker: Name of the reranker that was asked with success, or None.
        live: What a system of record holds now, by `memory_id`.
        degraded: What the reranker or a system of record failed to do.
    """

    ranking: Ranking
    shown: Sequence[Shown]
    reranked: Mapping[int, float] = {}
    reranker: str | None = None
    live: Mapping[str, JSONValue] = {}
    degraded: tuple[Degraded, ...] = ()

    def verdict(self, found: Found, place: int) -> Reason:
        """Return why a place of the ranking that was found is not selected."""
        if place in found.repeated:
            return Reason.DUPLICATE
        return Reason.SOURCE_SHARE if place in found.crowding else Reason.LIMIT


def select(found: Found, asked: Asked, reranker: Reranker | None, *, strict: bool) -> Selection:
    """Return what was found in its last order, cut at the limit.

    What the question names exactly stays first and what repeats another record stays last. The
    reranker is shown the best of the rest; what it is not shown follows in the order it had.

    Args:
        found: What the search gave.
        asked: The question.
        reranker: Who is asked, or None.
        strict: Whether a failing reranker is an error.

    Raises:
        ProviderError: The reranker failed and the recall is strict.
    """
    whole = Selection(found.ranking, found.shown)
    if reranker is not None and not asked.listing:
        try:
            whole = _reranked(found, asked, reranker)
        except ProviderError:
            if strict:
                raise
            whole = whole._replace(degraded=(Degraded.RERANKER_FAILED,))
    ranking = cut(whole.ranking, found, asked.limit)
    if ranking is found.ranking:
        return whole
    shown = dict(zip(found.ranking.order.tolist(), found.shown, strict=True))
    shown_now = [shown[place] for place in ranking.order.tolist()]
    return whole._replace(ranking=ranking, shown=shown_now)


def resolved(selection: Selection, resolver: Resolver, *, strict: bool) -> Selection:
    """Return a selection with the live values of the records that name a system of record.

    Args:
        selection: What competes for the packet.
        resolver: Who is asked.
        strict: Whether a system that does not answer is an error.

    Raises:
        ProviderError: A system did not answer and the recall is strict.
    """
    live: dict[str, JSONValue] = {}
    degraded = selection.degraded
    for record in (one.record for one in selection.shown):
        if record.reference is None:
            continue
        try:
            value = resolver.resolve(record.reference)
        except ProviderError:
            if strict:
                raise
            degraded = (*selection.degraded, Degraded.RESOLVER_FAILED)
        else:
            live.update({} if value is None else {record.memory_id: value})
    return selection._replace(live=live, degraded=degraded)


def _reranked(found: Found, asked: Asked, reranker: Reranker) -> Selection:
    order = found.ranking.order.tolist()
    named = [n for n, place in enumerate(order) if found.channels.exact[place]]
    last = [n for n, place in enumerate(order) if place in found.behind]
    kept = {*named, *last}
    rest = [n for n in range(len(order)) if n not in kept]
    shown, unseen = rest[: reranker.depth], rest[reranker.depth :]
    if not shown:
        return Selection(found.ranking, found.shown)
    said = reranker.rerank(asked.text, [found.shown[n].record.text for n in shown])
    by_place = dict(zip(shown, said, strict=True))
    best = sorted(shown, key=lambda n: -by_place[n])
    named = [n for n in named if n not in last]
    return Selection(
        ranking=reordered(found.ranking, [*named, *best, *unseen, *last], found.searched.score),
        shown=found.shown,
        reranked={order[n]: float(score) for n, score in by_place.items()},
        reranker=reranker.name,
    )
