"""Finding within one snapshot: the owners' segments, the choice among them, the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muniment.ports import Calibration, EmbeddingModel, OwnerState, Snapshot
from muniment.rules.filters import Condition, passes
from muniment.rules.ranking import Ranking, arrange, fuse, publish, share
from muniment.segment.part import NEVER, Floats, Mask
from muniment.segment.rows import IndexChanges
from muniment.segment.search import Channels, Sought, search
from muniment.segment.segment import Segment
from muniment.segment.view import View
from muniment.services.known import KnownRecords, Shown
from muniment.services.overruling import overruled

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.segments import Segments
    from muniment.services.words import WordKeys
    from muniment.trace import Degraded

_NO_SCORES = Calibration(low=0.0, high=1.0)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question after everything that needs no database.

    Attributes:
        text: The question, cut to what is used of it.
        tokens: Its distinct content words.
        limit: Most records to return.
        minimum: Least published score.
        listing: Whether it has no content words and so lists the newest.
        names: Kinds to look in.
        withheld: Kinds that are not shown to the reader, whether asked for or not.
        conditions: Conditions on fields and metadata.
        as_of: Past instant whose beliefs are wanted, or None.
        explain: Whether every verdict near the cut is wanted.
        degraded: What is missing.
        vector: Its embedding, or None.
        model: The model of that, or None.
        calibration: How that model's cosines are published.
    """

    text: str
    tokens: tuple[str, ...]
    limit: int
    minimum: float
    listing: bool
    names: frozenset[str]
    withheld: frozenset[str]
    conditions: tuple[Condition, ...]
    as_of: int | None
    explain: bool
    degraded: tuple[Degraded, ...]
    vector: Floats | None = None
    model: EmbeddingModel | None = None
    calibration: Calibration = _NO_SCORES


@dataclass(frozen=True, slots=True)
class Reading:
    """One owner's part in a recall: its state and what is searched of it.

    Attributes:
        state: The owner in this snapshot.
        sought: Its records, and with `explain` its superseded ones after them.
        known: Its records that were read before, if the present is asked; else none.
    """

    state: OwnerState
    sought: tuple[Sought, ...]
    known: KnownRecords

    @property
    def view(self) -> View:
        """What is true and kept of the owner's records."""
        return self.sought[0].view


@dataclass(slots=True)
class Choice:
    """Narrows live records to what may be shown, and counts what it left out.

    Attributes:
        names: Kinds to look in.
        withheld: Kinds that are not shown to the reader.
        allowed: For each view the records that pass the filters; None without filters.
        barred: Own records that a space overrules.
        by_kind: How many were of another kind.
        by_reader: How many were of a kind that is withheld.
        by_filter: How many did not pass the filters.
        overruled: How many were overruled.
    """

    names: frozenset[str]
    withheld: frozenset[str]
    allowed: Sequence[NDArray[np.int64]] | None
    barred: NDArray[np.int64]
    by_kind: int = 0
    by_reader: int = 0
    by_filter: int = 0
    overruled: int = 0

    def narrow(self, view: View, place: int) -> Mask:
        """Return which live records of a view are wanted."""
        chosen = view.live
        if not self.names.issuperset(view.kind_names):
            chosen = chosen & view.of_kinds(self.names)
            self.by_kind += view.count - int(np.count_nonzero(chosen))
        if not self.withheld.isdisjoint(view.kind_names):
            before = int(np.count_nonzero(chosen))
            chosen = chosen & ~view.of_kinds(self.withheld)
            self.by_reader += before - int(np.count_nonzero(chosen))
        if self.allowed is not None:
            before = int(np.count_nonzero(chosen))
            chosen = chosen & np.isin(view.seqs, self.allowed[place])
            self.by_filter += before - int(np.count_nonzero(chosen))
        if place == 0 and len(self.barred):
            before = int(np.count_nonzero(chosen))
            chosen = chosen & ~np.isin(view.seqs, self.barred)
            self.overruled = before - int(np.count_nonzero(chosen))
        return chosen


@dataclass(frozen=True, slots=True)
class Found:
    """What the search gave, before the budget.

    Attributes:
        readings: The owners that were searched.
        choice: What kinds and filters left out.
        channels: What each channel says about each record.
        fused: What orders each record, float32, shape (n,).
        score: Published score of each record, float32, shape (n,).
        ranking: The records above the minimum score, cut at the limit.
        owners: Number of each record's reading, int64, shape (n,); None with one reading.
        shown: The records of the ranking, and how a packet shows each.
        contested: Records that a pending candidate contradicts.
    """

    readings: tuple[Reading, ...]
    choice: Choice
    channels: Channels
    fused: Floats
    score: Floats
    ranking: Ranking
    owners: NDArray[np.int64] | None
    shown: Sequence[Shown]
    contested: frozenset[str]


class Finder:
    """Searches owners' records within one snapshot.

    Args:
        segments: The hot scopes' segments.
        words: The owners' word hashers.
    """

    def __init__(self, segments: Segments, words: WordKeys) -> None:
        self._segments = segments
        self._words = words
        self._slots: dict[EmbeddingModel, int] = {}

    def find(self, view: Snapshot, owners: Sequence[Owner], asked: Asked, now: int) -> Found:
        """Return what the owners have on a question.

        Args:
            view: The snapshot.
            owners: Own scope first, then the readable spaces.
            asked: The question.
            now: The present instant, microseconds since 1970, UTC.
        """
        slot = None if asked.model is None else self._slot(view, asked.model)
        states = [state for owner in owners if (state := view.owner(owner)) is not None]
        readings = tuple(self._read(view, state, slot, asked, now) for state in states)
        sought = [one for reading in readings for one in reading.sought]
        allowed = _allowed(view, readings, asked.conditions)
        choice = Choice(asked.names, asked.withheld, allowed, overruled(view, readings, now))
        vector = asked.vector if slot is not None and sought else None
        channels = search(sought or [_NOTHING], vector, choice.narrow)
        numbers = None
        if len(readings) > 1:
            numbers = np.array([n for n, one in enumerate(readings) for _ in one.sought])
            numbers = numbers[channels.places]
        fused, score = _scores(channels, asked)
        ranking = _rank(channels, fused, score, numbers, asked)
        return Found(
            readings=readings,
            choice=choice,
            channels=channels,
            fused=fused,
            score=score,
            ranking=ranking,
            owners=numbers,
            shown=shown_at(view, readings, numbers, channels.seqs, ranking.order, now),
            contested=frozenset[str]().union(*(view.contested(state) for state in states)),
        )

    def _slot(self, view: Snapshot, model: EmbeddingModel) -> int | None:
        """Return a model's number; it never changes once it is given."""
        known = self._slots.get(model)
        if known is None and (known := view.slot(model)) is not None:
            self._slots[model] = known
        return known

    def _read(
        self, view: Snapshot, state: OwnerState, slot: int | None, asked: Asked, now: int
    ) -> Reading:
        dimensions = 0 if asked.model is None or slot is None else asked.model.dimensions
        instant = now if asked.as_of is None else asked.as_of
        hasher = self._words.of(state.owner)
        words = tuple(map(hasher.hash, asked.tokens))
        exact = hasher.exact(asked.text)
        if asked.as_of is None:
            segment, known, _ = self._segments.hot(view, state, slot, dimensions)
        else:
            known = KnownRecords()
            held = view.rows_as_of(state, asked.as_of, slot)
            rows = [row for row in held if row.expires_at is None or row.expires_at > now]
            segment = Segment.of(IndexChanges(rows, []), state.version, dimensions)
        views = [segment.view(instant)]
        if asked.explain:
            until = NEVER if asked.as_of is None else asked.as_of
            past = view.superseded_rows(state, until, slot)
            history = Segment.of(IndexChanges(past, []), state.version, dimensions).view(instant)
            views.append(replace(history, live=np.zeros(len(past), dtype=np.bool_)))
        return Reading(state, tuple(Sought(one, words, exact) for one in views), known)


_NOTHING = Sought(Segment.of(IndexChanges([], []), 0, 0).view(0), (), None)


def _allowed(
    view: Snapshot, readings: Sequence[Reading], conditions: tuple[Condition, ...]
) -> list[NDArray[np.int64]] | None:
    """Return for each view sought the records that pass the filters; None without filters."""
    if not conditions:
        return None
    allowed = []
    for reading in readings:
        facts = view.facts(reading.state)
        passing = [seq for seq, row in facts if passes(row, conditions)]
        allowed += [np.array(passing, dtype=np.int64)] * len(reading.sought)
    return allowed or [np.zeros(0, dtype=np.int64)]


def _scores(channels: Channels, asked: Asked) -> tuple[Floats, Floats]:
    if asked.listing:
        ones = np.ones(len(channels.seqs), dtype=np.float32)
        return ones, ones
    calibration = asked.calibration
    score = publish(
        channels.coverage,
        channels.cosine,
        channels.embedded,
        channels.exact,
        calibration.low,
        calibration.high,
    )
    return fuse(channels.lexical, channels.centred, channels.pool, channels.exact), score


def _rank(
    channels: Channels,
    fused: Floats,
    score: Floats,
    owners: NDArray[np.int64] | None,
    asked: Asked,
) -> Ranking:
    limit = asked.limit if owners is None else None
    ranking = arrange(channels.chosen, fused, score, channels.seqs, asked.minimum, limit)
    return ranking if owners is None else share(ranking, owners, asked.limit)


def shown_at(
    view: Snapshot,
    readings: Sequence[Reading],
    owners: NDArray[np.int64] | None,
    seqs: NDArray[np.int64],
    order: NDArray[np.int64],
    now: int,
) -> list[Shown]:
    """Return the live records at places of the channels, in that order."""
    wanted = seqs[order].tolist()
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
