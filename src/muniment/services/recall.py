"""Recall: scope first, then time, kind and filters, then exact scoring, then the budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muniment.clock import Clock
from muniment.errors import InvalidInputError, ProviderError
from muniment.ports import (
    Calibration,
    Embedder,
    EmbeddingModel,
    OwnerState,
    Snapshot,
    Store,
)
from muniment.records import PacketItem, Record
from muniment.rules.filters import Condition, parse_filters, passes
from muniment.rules.packet import TokenCounter, build_packet
from muniment.rules.ranking import Ranking, arrange, fuse, publish
from muniment.rules.text import content_free, tokenise
from muniment.segment.part import Mask, Part
from muniment.segment.rows import IndexChanges
from muniment.segment.segment import Channels, Query, Segment
from muniment.services.segments import Segments
from muniment.services.words import WordKeys
from muniment.trace import Degraded, Hit, Reason, Recall, RecallTrace

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy
    from muniment.scope import Scope

LARGEST_LIMIT = 10_000
LONGEST_QUERY = 8_000
_NO_SCORES = Calibration(low=0.0, high=1.0)


@dataclass(frozen=True, slots=True)
class Question:
    """One recall as it was asked.

    Attributes:
        query: The question.
        limit: Most records to return.
        minimum_score: Least published score to return; negative admits everything.
        kinds: Kinds to look in, or None for all.
        filters: Conditions on fields and metadata, or None.
        budget: Most tokens the packet may use, or None without limit.
        strict: Whether a failing embedder is an error instead of a lexical recall.
    """

    query: str
    limit: int
    minimum_score: float
    kinds: Collection[str] | None
    filters: Mapping[str, Any] | None
    budget: int | None
    strict: bool


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question after everything that needs no database."""

    question: Question
    query: Query
    listing: bool
    model: EmbeddingModel | None
    calibration: Calibration
    degraded: tuple[Degraded, ...]
    names: frozenset[str] | None
    conditions: tuple[Condition, ...]


@dataclass(slots=True)
class _Choice:
    """Narrows live records to the wanted kinds and filters, and counts what it left out."""

    asked: _Asked
    allowed: NDArray[np.int64] | None
    by_kind: int = 0
    by_filter: int = 0

    def narrow(self, part: Part, live: Mask) -> Mask:
        chosen = live
        if self.asked.names is not None:
            wanted = [n for n, name in enumerate(part.kind_names) if name in self.asked.names]
            chosen = live & np.isin(part.kinds, wanted)
            self.by_kind += int(live.sum() - chosen.sum())
        if self.allowed is not None:
            before = int(chosen.sum())
            chosen = chosen & np.isin(part.seqs, self.allowed)
            self.by_filter += before - int(chosen.sum())
        return chosen


@dataclass(frozen=True, slots=True)
class _Found:
    """What the search gave, before the budget."""

    segment: Segment
    choice: _Choice
    channels: Channels
    ranking: Ranking
    records: Sequence[Record]


class Recalling:
    """Answers questions from one scope."""

    def __init__(
        self,
        store: Store,
        *,
        policy: Policy,
        clock: Clock,
        embedder: Embedder | None,
        words: WordKeys,
        segments: Segments,
        count_tokens: TokenCounter,
    ) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock
        self._embedder = embedder
        self._words = words
        self._segments = segments
        self._count_tokens = count_tokens

    def recall(self, scope: Scope, question: Question) -> Recall:
        """Return the packet and the trace of one recall.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            ProviderError: The embedder failed and the recall is strict.
            StoreError: The database cannot be read.
        """
        asked = self._ask(scope, question)
        now = self._clock.now()
        with self._store.snapshot() as view:
            owner = view.owner(scope)
            found = self._search(view, owner, asked, now)
        hits = _hits(found)
        pairs = zip(found.records, hits, strict=True)
        items = [PacketItem(record, hit.score) for record, hit in pairs]
        packet, passed = build_packet(items, question.budget, self._count_tokens)
        used = {item.record.memory_id for item in packet}
        trace = RecallTrace(
            records=len(found.segment),
            considered=int(found.channels.chosen.sum()),
            hits=tuple(hit for hit in hits if hit.memory_id in used),
            rejected=_rejected(found, len(passed), now),
            budget_rejected=tuple(item.record.memory_id for item in passed),
            channels=_channel_names(asked),
            degraded=(*asked.degraded, *_pending(found.channels, asked)),
            embedder=None if asked.model is None else asked.model.name,
            version=0 if owner is None else owner.version,
        )
        return Recall(packet, trace)

    def _ask(self, scope: Scope, question: Question) -> _Asked:
        _check(question)
        kinds = question.kinds
        names = None if kinds is None else frozenset(self._policy.rule(k).name for k in kinds)
        text = question.query[:LONGEST_QUERY]
        listing = content_free(text)
        hasher = self._words.of(scope)
        query = Query(
            words=tuple(dict.fromkeys(map(hasher.hash, tokenise(text)))),
            exact=hasher.exact(text),
            vector=None,
        )
        asked = _Asked(
            question=question,
            query=query,
            listing=listing,
            model=None,
            calibration=_NO_SCORES,
            degraded=(Degraded.QUERY_CUT,) if len(text) < len(question.query) else (),
            names=names,
            conditions=parse_filters(question.filters),
        )
        return asked if listing or not text.strip() else self._embed(asked, text)

    def _embed(self, asked: _Asked, text: str) -> _Asked:
        """Add the question's vector, or say why there is none."""
        if self._embedder is None:
            return replace(asked, degraded=(*asked.degraded, Degraded.NO_EMBEDDER))
        try:
            vector = self._embedder.embed_query(text)
            model, calibration = self._embedder.model, self._embedder.calibration
        except ProviderError:
            if asked.question.strict:
                raise
            return replace(asked, degraded=(*asked.degraded, Degraded.EMBEDDER_FAILED))
        query = replace(asked.query, vector=vector)
        return replace(asked, query=query, model=model, calibration=calibration)

    def _search(self, view: Snapshot, owner: OwnerState | None, asked: _Asked, now: int) -> _Found:
        allowed = None
        segment = Segment.of(IndexChanges([], []), 0, 0)
        query = asked.query
        if owner is not None:
            slot = None if asked.model is None else view.slot(asked.model)
            dimensions = 0 if asked.model is None or slot is None else asked.model.dimensions
            query = query if slot is not None else replace(query, vector=None)
            segment = self._segments.current(view, owner, slot, dimensions)
            if asked.conditions:
                facts = view.facts(owner)
                passing = [seq for seq, row in facts if passes(row, asked.conditions)]
                allowed = np.array(passing, dtype=np.int64)
        else:
            query = replace(query, vector=None)
        choice = _Choice(asked, allowed)
        channels = segment.search(query, now, choice.narrow)
        ranking = _rank(channels, asked)
        seqs = channels.seqs[ranking.order].tolist()
        records = [] if owner is None else view.records(owner, seqs, now)
        return _Found(segment, choice, channels, ranking, records)


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


def _rank(channels: Channels, asked: _Asked) -> Ranking:
    limits = (asked.question.minimum_score, asked.question.limit)
    if asked.listing:
        everything = np.ones(len(channels.seqs), dtype=np.float32)
        return arrange(channels.chosen, everything, everything, channels.seqs, *limits)
    pool = channels.live & channels.embedded
    score = publish(
        channels.coverage,
        channels.cosine,
        channels.embedded,
        channels.exact,
        asked.calibration.low,
        asked.calibration.high,
    )
    fused = fuse(channels.lexical, channels.centred, pool, channels.exact)
    return arrange(channels.chosen, fused, score, channels.seqs, *limits)


def _hits(found: _Found) -> list[Hit]:
    channels, ranking = found.channels, found.ranking
    return [
        Hit(
            memory_id=record.memory_id,
            score=float(score),
            rank=float(rank),
            lexical=float(channels.coverage[place]),
            semantic=float(channels.cosine[place]) if channels.embedded[place] else None,
            exact=bool(channels.exact[place]),
        )
        for record, place, rank, score in zip(
            found.records, ranking.order, ranking.rank, ranking.score, strict=True
        )
    ]


def _rejected(found: _Found, over_budget: int, now: int) -> dict[Reason, int]:
    expired, early, late = found.segment.lapsed(now)
    passing = int(found.channels.chosen.sum()) - found.ranking.below
    counts = {
        Reason.EXPIRED: expired,
        Reason.NOT_YET_VALID: early,
        Reason.NO_LONGER_VALID: late,
        Reason.KIND: found.choice.by_kind,
        Reason.FILTER: found.choice.by_filter,
        Reason.SCORE: found.ranking.below,
        Reason.LIMIT: passing - len(found.ranking.order),
        Reason.BUDGET: over_budget,
    }
    return {reason: count for reason, count in counts.items() if count}


def _channel_names(asked: _Asked) -> tuple[str, ...]:
    if asked.listing:
        return ("listing",)
    return ("exact", "lexical", *(() if asked.model is None else ("semantic",)))


def _pending(channels: Channels, asked: _Asked) -> tuple[Degraded, ...]:
    waiting = asked.model is not None and bool((channels.live & ~channels.embedded).any())
    return (Degraded.EMBEDDING_PENDING,) if waiting else ()
