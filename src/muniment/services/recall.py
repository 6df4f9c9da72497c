"""Recall: scope first, then time, kind and filters, then exact scoring, then the budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from muniment.clock import Clock, to_instant
from muniment.errors import InvalidInputError, ProviderError
from muniment.ports import Calibration, Embedder, EmbeddingModel, Reranker, Resolver, Store
from muniment.records import Packet, PacketItem
from muniment.rules.dates import interval
from muniment.rules.filters import parse_filters
from muniment.rules.kinds import Reader
from muniment.rules.packet import Line, TokenCounter, build_packet, line
from muniment.rules.text import content_free, normalise, tokenise
from muniment.scope import Scope, Space
from muniment.services.arranging import TIMELY
from muniment.services.explain import explain, settled
from muniment.services.finding import Finder
from muniment.services.found import NO_SCORES, Asked, Found
from muniment.services.segments import Segments
from muniment.services.selecting import Selection, resolved, select
from muniment.services.vectors import QueryVectors
from muniment.services.words import WordKeys
from muniment.trace import Degraded, Explained, Hit, Reason, Recall, RecallTrace

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy
    from muniment.segment.part import Floats
    from muniment.services.usage import UsageNotes

LARGEST_LIMIT = 10_000
LONGEST_QUERY = 8_000


class Question(NamedTuple):
    """One recall as it was asked.

    Attributes:
        query: The question.
        limit: Most records to return.
        minimum_score: Least published score to return; negative admits everything.
        kinds: Kinds to look in, or None for all.
        filters: Conditions on fields and metadata, or None.
        budget: Most tokens the packet may use, or None without limit.
        strict: Whether a failing embedder, reranker or resolver is an error, and no recall without
            it.
        as_of: Past instant whose beliefs are wanted, or None for the present.
        explain: Whether the trace holds the verdict on every record near the cut.
    """

    query: str
    limit: int
    minimum_score: float
    kinds: Collection[str] | None
    filters: Mapping[str, Any] | None
    budget: int | None
    strict: bool
    as_of: datetime | str | None
    explain: bool = False


class Recalling:
    """Answers questions from one scope."""

    def __init__(
        self,
        store: Store,
        *,
        policy: Policy,
        clock: Clock,
        embedder: Embedder | None,
        reranker: Reranker | None,
        resolver: Resolver | None,
        words: WordKeys,
        segments: Segments,
        count_tokens: TokenCounter,
        usage: UsageNotes,
    ) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock
        self._embedder = embedder
        self._names = policy.names(policy.kinds)
        self._withheld = policy.withheld(Reader.AGENT)
        self._reranker = reranker
        self._resolver = resolver
        self._finder = Finder(segments, words)
        self._vectors = QueryVectors()
        self._count_tokens = count_tokens
        self._usage = usage

    def recall(self, scope: Scope, spaces: Sequence[Space], question: Question) -> Recall:
        """Return the packet and the trace of one recall.

        Args:
            scope: Whose memory is asked.
            spaces: The shared spaces that the caller may read, by verified claim.
            question: What is asked.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            ProviderError: The embedder, reranker or resolver failed and the recall is strict.
            StoreError: The database cannot be read.
        """
        now = self._clock.now()
        asked = self._ask(question, now)
        explained: tuple[Explained, ...] = ()
        with self._store.snapshot((scope, *spaces)) as view:
            found = self._finder.find(view, (scope, *spaces), asked, now)
            if question.explain:
                explained = explain(view, found, asked, now)
        selected = select(found, asked, self._reranker, strict=question.strict)
        if self._resolver is not None and asked.as_of is None:
            selected = resolved(selected, self._resolver, strict=question.strict)
        shown = self._show(found, selected, question.budget)
        if explained:
            said = {one.memory_id: one.reranked for one in shown.hits if one.reranked is not None}
            explained = settled(explained, shown.verdicts, said)
        self._usage.note(
            [one.record for one in found.shown], [item.record for item in shown.packet.items]
        )
        return Recall(shown.packet, _trace(found, selected, shown, asked, explained))

    def _show(self, found: Found, selected: Selection, budget: int | None) -> _Shown:
        """Fill the packet with what was selected."""
        hits, live = _hits(found, selected), selected.live
        items, lines = [], []
        for one, hit in zip(selected.shown, hits, strict=True):
            name = hit.memory_id
            item = PacketItem(one.own(), hit.score, name in found.contested, live.get(name))
            is_plain = not item.contested and item.live is None
            items.append(item)
            lines.append(one.line if is_plain else Line(line(item)))
        packet, passed = build_packet(items, budget, self._count_tokens, lines)
        return _Shown(packet, hits, _verdicts(found, selected, passed))

    def _ask(self, question: Question, now: int) -> Asked:
        _check(question)
        text, kinds = question.query[:LONGEST_QUERY], question.kinds
        as_of = None if question.as_of is None else _past("as_of", question.as_of, now)
        folded = normalise(text)
        span = interval(folded, now if as_of is None else as_of)
        listing = content_free(folded)
        degraded = (Degraded.QUERY_CUT,) if len(text) < len(question.query) else ()
        is_said = not listing and bool(text.strip())
        embedded = self._embed(text, strict=question.strict) if is_said else _NOT_EMBEDDED
        return Asked(
            text=text,
            folded=folded,
            tokens=tuple(dict.fromkeys(tokenise(text))),
            limit=question.limit,
            depth=self._depth(question.limit, timely=span is not None),
            minimum=question.minimum_score,
            listing=listing,
            names=self._names if kinds is None else self._policy.names(kinds),
            withheld=self._withheld,
            conditions=parse_filters(question.filters),
            as_of=as_of,
            span=span,
            explain=question.explain,
            degraded=degraded + embedded.degraded,
            vector=embedded.vector,
            model=embedded.model,
            calibration=embedded.calibration,
        )

    def _depth(self, limit: int, *, timely: bool) -> int:
        """Return how many records to rank: more than the limit where the order may yet change."""
        if not limit:
            return 0
        reranked = self._reranker.depth if self._reranker else 0
        return max(limit, reranked, TIMELY if timely else 0)

    def _embed(self, text: str, *, strict: bool) -> _Embedded:
        """Return the question's vector, or say why there is none."""
        if self._embedder is None:
            return _Embedded(None, None, degraded=(Degraded.NO_EMBEDDER,))
        try:
            vector = self._vectors.embed(self._embedder, text)
            return _Embedded(vector, self._embedder.model, self._embedder.calibration)
        except ProviderError:
            if strict:
                raise
            return _Embedded(None, None, degraded=(Degraded.EMBEDDER_FAILED,))


class _Embedded(NamedTuple):
    """A question's vector, its model, how that publishes cosines, and what is missing."""

    vector: Floats | None
    model: EmbeddingModel | None
    calibration: Calibration = NO_SCORES
    degraded: tuple[Degraded, ...] = ()


_NOT_EMBEDDED = _Embedded(None, None)


class _Shown(NamedTuple):
    """What reached the packet, and what became of each record of the ranking."""

    packet: Packet
    hits: list[Hit]
    verdicts: dict[str, Reason | None]

    def ids(self, verdict: Reason | None) -> tuple[str, ...]:
        return tuple([one for one, found in self.verdicts.items() if found is verdict])


def _verdicts(
    found: Found, selected: Selection, passed: Sequence[PacketItem]
) -> dict[str, Reason | None]:
    """Return by memory_id what became of each record that was ranked; None: it is shown."""
    verdicts = dict.fromkeys([one.record.memory_id for one in found.shown])
    if len(selected.shown) < len(verdicts):
        chosen = set(selected.ranking.order.tolist())
        ranked = zip(found.shown, found.ranking.order.tolist(), strict=True)
        verdicts |= {
            one.record.memory_id: selected.verdict(found, place)
            for one, place in ranked
            if place not in chosen
        }
    verdicts.update([(item.record.memory_id, Reason.BUDGET) for item in passed])
    return verdicts


def _past(name: str, moment: datetime | str, now: int) -> int:
    instant = to_instant(name, moment)
    if instant > now:
        raise InvalidInputError(f"{name} must not lie in the future.")
    return instant


def _check(question: Question) -> None:
    if not isinstance(question.query, str):
        raise InvalidInputError("query must be a string.")
    limit, budget, least = question.limit, question.budget, question.minimum_score
    if type(limit) is not int or not 0 <= limit <= LARGEST_LIMIT:
        raise InvalidInputError(f"limit must be a whole number from 0 to {LARGEST_LIMIT}.")
    if budget is not None and (type(budget) is not int or budget < 0):
        raise InvalidInputError("budget must be a number of tokens, 0 or more, or None.")
    if type(least) not in (int, float) or not -1 <= least <= 1:
        raise InvalidInputError("minimum_score must be a number from -1 to 1.")


def _hits(found: Found, selected: Selection) -> list[Hit]:
    channels, order = found.channels, selected.ranking.order
    rows = zip(
        selected.shown,
        selected.ranking.score.tolist(),
        selected.ranking.rank.tolist(),
        channels.coverage[order].tolist(),
        channels.cosine[order].tolist(),
        channels.embedded[order].tolist(),
        channels.exact[order].tolist(),
        order.tolist(),
        strict=True,
    )
    return [
        Hit(
            one.record.memory_id,
            score,
            rank,
            lexical,
            semantic if embedded else None,
            exact,
            selected.reranked.get(place),
        )
        for one, score, rank, lexical, semantic, embedded, exact, place in rows
    ]


def _trace(
    found: Found,
    selected: Selection,
    shown: _Shown,
    asked: Asked,
    explained: tuple[Explained, ...],
) -> RecallTrace:
    readings, own = found.searched.readings, found.searched.own
    waiting = asked.model is not None and any(one.view.waiting for one in readings)
    pending = (Degraded.EMBEDDING_PENDING,) if waiting else ()
    considered = int(np.count_nonzero(found.channels.chosen))
    passed = shown.ids(Reason.BUDGET)
    return RecallTrace(
        records=sum([one.view.count + sum(one.view.lapsed) for one in readings]),
        considered=considered,
        hits=tuple([hit for hit in shown.hits if hit.memory_id not in passed]),
        rejected=_rejected(found, selected, shown, considered),
        budget_rejected=passed,
        channels=_channel_names(asked),
        degraded=(*asked.degraded, *pending, *selected.degraded),
        embedder=None if asked.model is None else asked.model.name,
        version=0 if own is None else own.state.version,
        reranker=selected.reranker,
        explained=explained,
    )


def _rejected(
    found: Found, selected: Selection, shown: _Shown, considered: int
) -> dict[Reason, int]:
    choice = found.searched.choice
    lapsed = [one.view.lapsed for one in found.searched.readings] or [(0, 0, 0)]
    expired, early, late = map(sum, zip(*lapsed, strict=True))
    said = [*shown.verdicts.values()]
    repeated, crowding = said.count(Reason.DUPLICATE), said.count(Reason.SOURCE_SHARE)
    ranked = considered - found.ranking.below
    counts = (
        (Reason.EXPIRED, expired),
        (Reason.NOT_YET_VALID, early),
        (Reason.NO_LONGER_VALID, late),
        (Reason.KIND, choice.by_kind),
        (Reason.READER, choice.by_reader),
        (Reason.FILTER, choice.by_filter),
        (Reason.SCORE, found.ranking.below),
        (Reason.DUPLICATE, repeated),
        (Reason.SOURCE_SHARE, crowding),
        (Reason.LIMIT, ranked - len(selected.shown) - repeated - crowding),
        (Reason.OVERRULED, choice.overruled),
        (Reason.BUDGET, said.count(Reason.BUDGET)),
    )
    return {reason: count for reason, count in counts if count}


def _channel_names(asked: Asked) -> tuple[str, ...]:
    if asked.listing:
        return ("listing",)
    return ("exact", "lexical", *(() if asked.model is None else ("semantic",)))
