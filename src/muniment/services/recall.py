"""Recall: scope first, then time, kind and filters, then exact scoring, then the budget."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from muniment.clock import Clock, to_instant
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
from muniment.rules.ranking import Ranking, arrange, fuse, publish, share
from muniment.rules.statement import field_key
from muniment.rules.text import content_free, tokenise
from muniment.scope import Owner, Scope, Space
from muniment.segment.part import Floats, Mask, Part, build
from muniment.segment.rows import IndexChanges
from muniment.segment.search import Channels, Sought, search
from muniment.segment.segment import Segment
from muniment.services.segments import Segments
from muniment.services.words import WordKeys
from muniment.trace import Degraded, Hit, Reason, Recall, RecallTrace

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy

LARGEST_LIMIT = 10_000
LONGEST_QUERY = 8_000
_BINDING = ("procedure", "constraint")
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
        as_of: Past instant whose beliefs are wanted, or None for the present.
    """

    query: str
    limit: int
    minimum_score: float
    kinds: Collection[str] | None
    filters: Mapping[str, Any] | None
    budget: int | None
    strict: bool
    as_of: datetime | str | None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question after everything that needs no database."""

    question: Question
    tokens: tuple[str, ...]
    text: str
    vector: Floats | None
    listing: bool
    model: EmbeddingModel | None
    calibration: Calibration
    degraded: tuple[Degraded, ...]
    names: frozenset[str]
    conditions: tuple[Condition, ...]
    as_of: int | None


@dataclass(slots=True)
class _Choice:
    """Narrows live records to the wanted kinds and filters, and counts what it left out."""

    asked: _Asked
    allowed: list[NDArray[np.int64]] | None
    by_kind: int = 0
    by_filter: int = 0

    def narrow(self, part: Part, live: Mask, place: int) -> Mask:
        wanted = [n for n, name in enumerate(part.kind_names) if name in self.asked.names]
        chosen = live & np.isin(part.kinds, wanted)
        self.by_kind += int(live.sum() - chosen.sum())
        if self.allowed is not None:
            before = int(chosen.sum())
            chosen = chosen & np.isin(part.seqs, self.allowed[place])
            self.by_filter += before - int(chosen.sum())
        return chosen


@dataclass(frozen=True, slots=True)
class _Reading:
    """One owner's part in a recall: its state, its segment and its parts to search."""

    state: OwnerState
    segment: Segment
    sought: tuple[Sought, ...]


@dataclass(frozen=True, slots=True)
class _Found:
    """What the search gave, before the budget."""

    readings: tuple[_Reading, ...]
    choice: _Choice
    channels: Channels
    ranking: Ranking
    records: Sequence[Record]
    contested: frozenset[str]


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

    def recall(self, scope: Scope, spaces: Sequence[Space], question: Question) -> Recall:
        """Return the packet and the trace of one recall.

        Args:
            scope: Whose memory is asked.
            spaces: The shared spaces that the caller may read, by verified claim.
            question: What is asked.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            ProviderError: The embedder failed and the recall is strict.
            StoreError: The database cannot be read.
        """
        now = self._clock.now()
        asked = self._ask(question, now)
        with self._store.snapshot() as view:
            found = self._search(view, (scope, *spaces), asked, now)
        hits = _hits(found)
        pairs = list(zip(found.records, hits, strict=True))
        ruled, over = _overruled(pairs)
        items = [
            PacketItem(record, hit.score, record.memory_id in found.contested)
            for record, hit in ruled
        ]
        packet, passed = build_packet(items, question.budget, self._count_tokens)
        used = {item.record.memory_id for item in packet}
        trace = RecallTrace(
            records=sum(len(reading.segment) for reading in found.readings),
            considered=int(found.channels.chosen.sum()),
            hits=tuple(hit for hit in hits if hit.memory_id in used),
            rejected=_rejected(found, len(passed), over, asked.as_of or now),
            budget_rejected=tuple(item.record.memory_id for item in passed),
            channels=_channel_names(asked),
            degraded=(*asked.degraded, *_pending(found.channels, asked)),
            embedder=None if asked.model is None else asked.model.name,
            version=found.readings[0].state.version if found.readings else 0,
        )
        return Recall(packet, trace)

    def _ask(self, question: Question, now: int) -> _Asked:
        _check(question)
        text = question.query[:LONGEST_QUERY]
        asked = _Asked(
            question=question,
            tokens=tuple(dict.fromkeys(tokenise(text))),
            text=text,
            vector=None,
            listing=content_free(text),
            model=None,
            calibration=_NO_SCORES,
            degraded=(Degraded.QUERY_CUT,) if len(text) < len(question.query) else (),
            names=self._readable(question.kinds),
            conditions=parse_filters(question.filters),
            as_of=None if question.as_of is None else _past("as_of", question.as_of, now),
        )
        return asked if asked.listing or not text.strip() else self._embed(asked)

    def _readable(self, kinds: Collection[str] | None) -> frozenset[str]:
        """Return the wanted kinds that the policy lets a model read."""
        wanted = self._policy.kinds if kinds is None else kinds
        rules = (self._policy.rule(kind) for kind in wanted)
        return frozenset(rule.name for rule in rules if "read" in rule.model)

    def _embed(self, asked: _Asked) -> _Asked:
        """Add the question's vector, or say why there is none."""
        if self._embedder is None:
            return replace(asked, degraded=(*asked.degraded, Degraded.NO_EMBEDDER))
        try:
            vector = self._embedder.embed_query(asked.text)
            model, calibration = self._embedder.model, self._embedder.calibration
        except ProviderError:
            if asked.question.strict:
                raise
            return replace(asked, degraded=(*asked.degraded, Degraded.EMBEDDER_FAILED))
        return replace(asked, vector=vector, model=model, calibration=calibration)

    def _search(self, view: Snapshot, owners: Sequence[Owner], asked: _Asked, now: int) -> _Found:
        slot = None if asked.model is None else view.slot(asked.model)
        states = [state for owner in owners if (state := view.owner(owner)) is not None]
        readings = tuple(self._read(view, state, slot, asked, now) for state in states)
        sought = [one for reading in readings for one in reading.sought] or [_NOTHING]
        choice = _Choice(asked, _allowed(view, readings, asked.conditions))
        channels = search(sought, None if slot is None else asked.vector, choice.narrow)
        groups = np.array([n for n, reading in enumerate(readings) for _ in reading.sought] or [0])[
            channels.places
        ]
        ranking = _rank(channels, groups, asked, len(readings))
        return _Found(
            readings=readings,
            choice=choice,
            channels=channels,
            ranking=ranking,
            records=_records(view, readings, groups, channels.seqs, ranking.order, now),
            contested=frozenset[str]().union(*(view.contested(state) for state in states)),
        )

    def _read(
        self, view: Snapshot, state: OwnerState, slot: int | None, asked: _Asked, now: int
    ) -> _Reading:
        dimensions = 0 if asked.model is None or slot is None else asked.model.dimensions
        if asked.as_of is None:
            segment = self._segments.current(view, state, slot, dimensions)
        else:
            rows = view.rows_as_of(state, asked.as_of, slot)
            segment = Segment.of(IndexChanges(rows, []), state.version, dimensions)
        hasher = self._words.of(state.owner)
        words = tuple(map(hasher.hash, asked.tokens))
        sought = segment.sought(words, hasher.exact(asked.text), asked.as_of or now)
        return _Reading(state, segment, tuple(sought))


_NOTHING = Sought(build([], 0), np.zeros(0, dtype=np.bool_), (), None)


def _past(name: str, moment: datetime | str, now: int) -> int:
    instant = to_instant(name, moment)
    if instant > now:
        raise InvalidInputError(f"{name} must not lie in the future.")
    return instant


def _allowed(
    view: Snapshot, readings: Sequence[_Reading], conditions: tuple[Condition, ...]
) -> list[NDArray[np.int64]] | None:
    """Return for each part sought the records that pass the filters; None without filters."""
    if not conditions:
        return None
    allowed = []
    for reading in readings:
        facts = view.facts(reading.state)
        passing = [seq for seq, row in facts if passes(row, conditions)]
        allowed += [np.array(passing, dtype=np.int64)] * len(reading.sought)
    return allowed or [np.zeros(0, dtype=np.int64)]


def _records(
    view: Snapshot,
    readings: Sequence[_Reading],
    groups: NDArray[np.int64],
    seqs: NDArray[np.int64],
    order: NDArray[np.int64],
    now: int,
) -> list[Record]:
    """Return the records at places of the channels, in that order."""
    if len(readings) == 1:
        return view.records(readings[0].state, seqs[order].tolist(), now)
    return [
        record
        for place in order.tolist()
        for record in view.records(readings[groups[place]].state, [int(seqs[place])], now)
    ]


def _overruled(
    pairs: Sequence[tuple[Record, Hit]],
) -> tuple[list[tuple[Record, Hit]], int]:
    """Leave out what a space's procedure or constraint about the same field overrules."""
    binding = {
        (record.kind, field_key(record.field))
        for record, _ in pairs
        if isinstance(record.scope, Space) and record.kind in _BINDING and record.field is not None
    }
    ruled = [
        (record, hit)
        for record, hit in pairs
        if isinstance(record.scope, Space)
        or record.field is None
        or (record.kind, field_key(record.field)) not in binding
    ]
    return ruled, len(pairs) - len(ruled)


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


def _rank(channels: Channels, groups: NDArray[np.int64], asked: _Asked, owners: int) -> Ranking:
    minimum, limit = asked.question.minimum_score, asked.question.limit
    if asked.listing:
        score = fused = np.ones(len(channels.seqs), dtype=np.float32)
    else:
        score, fused = _scores(channels, asked)
    shared = owners > 1
    ranking = arrange(
        channels.chosen, fused, score, channels.seqs, minimum, None if shared else limit
    )
    return share(ranking, groups, limit) if shared else ranking


def _scores(channels: Channels, asked: _Asked) -> tuple[Floats, Floats]:
    pool = channels.live & channels.embedded
    score = publish(
        channels.coverage,
        channels.cosine,
        channels.embedded,
        channels.exact,
        asked.calibration.low,
        asked.calibration.high,
    )
    return score, fuse(channels.lexical, channels.centred, pool, channels.exact)


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


def _rejected(found: _Found, over_budget: int, overruled: int, now: int) -> dict[Reason, int]:
    lapsed = [reading.segment.lapsed(now) for reading in found.readings]
    expired, early, late = (
        (sum(counts) for counts in zip(*lapsed, strict=True)) if lapsed else (0,) * 3
    )
    passing = int(found.channels.chosen.sum()) - found.ranking.below
    counts = {
        Reason.EXPIRED: expired,
        Reason.NOT_YET_VALID: early,
        Reason.NO_LONGER_VALID: late,
        Reason.KIND: found.choice.by_kind,
        Reason.FILTER: found.choice.by_filter,
        Reason.SCORE: found.ranking.below,
        Reason.LIMIT: passing - len(found.ranking.order),
        Reason.OVERRULED: overruled,
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
