"""Finding within one snapshot: the owners' segments, the choice among them, the ranking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muniment.ports import EmbeddingModel, OwnerState, Snapshot
from muniment.rules.filters import Condition, passes
from muniment.rules.ranking import fuse, overheard, publish
from muniment.segment.column import Column, Some
from muniment.segment.part import NEVER, Floats
from muniment.segment.rows import IndexChanges
from muniment.segment.search import Channels, Sought, search
from muniment.segment.segment import Segment
from muniment.services.arranging import best_of
from muniment.services.filling import filled
from muniment.services.found import Asked, Choice, Found, Reading, Searched
from muniment.services.known import KnownRecords
from muniment.services.overruling import overruled

if TYPE_CHECKING:
    from muniment.scope import Owner
    from muniment.services.segments import Segments
    from muniment.services.words import WordKeys


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
        readings = tuple([self._read(view, state, slot, asked, now) for state in states])
        sought = [one for reading in readings for one in reading.sought]
        allowed = _allowed(view, readings, asked.conditions)
        choice = Choice(asked.names, asked.withheld, allowed, overruled(view, readings, now))
        vector = asked.vector if slot is not None and sought else None
        channels = search(sought or [_NOTHING], vector, choice.narrow)
        numbers = None
        if len(readings) > 1:
            sizes = [sum(len(one.view.live) for one in reading.sought) for reading in readings]
            numbers = np.arange(len(readings)).repeat(sizes)
        fused, score = _scores(channels, asked)
        searched = Searched(readings, choice, channels, fused, score, numbers)
        best = best_of(view, searched, asked, now)
        if states and not asked.explain:
            view.next_is_last()
        return Found(
            searched,
            *best,
            contested=frozenset[str]().union(*[view.contested(state) for state in states]),
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
        words = hasher.hashes(asked.tokens)
        exact = hasher.named(asked.folded)
        if asked.as_of is None:
            segment, known, _ = self._segments.hot(view, state, slot, dimensions)
        else:
            known = KnownRecords()
            held = filled(view, state, slot, view.rows_as_of(state, asked.as_of, slot))
            rows = [row for row in held if row.expires_at is None or row.expires_at > now]
            segment = Segment.of(IndexChanges(rows, []), state.version, dimensions)
        views = [segment.view(instant)]
        if asked.explain:
            until = NEVER if asked.as_of is None else asked.as_of
            past = filled(view, state, slot, view.superseded_rows(state, until, slot))
            history = Segment.of(IndexChanges(past, []), state.version, dimensions).view(instant)
            views.append(replace(history, live=np.zeros(len(past), dtype=np.bool_)))
        return Reading(state, tuple([Sought(one, words, exact) for one in views]), known)


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


def _scores(channels: Channels, asked: Asked) -> tuple[Floats, Column]:
    count = len(channels.seqs)
    if asked.listing:
        ones = np.ones(count, dtype=np.float32)
        return ones, Column(count, ones.__getitem__)
    exact, scale = channels.exact.nonzero()[0], asked.calibration
    fused = fuse(channels.lexical, channels.centred, channels.voice, channels.pool, exact)
    if len(channels.beside.hears):
        fused += overheard(channels.lexical, channels.chosen, *channels.beside)

    def published(places: Some) -> Floats:
        return publish(
            channels.coverage[places],
            channels.cosine[places],
            None if channels.pool is None else channels.embedded[places],
            channels.exact[places] if len(exact) else None,
            scale.low,
            scale.high,
        )

    return fused, Column(count, published)
