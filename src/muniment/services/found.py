"""What a recall knows on its way: the question, what was searched for it, and what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muniment.ports import Calibration, EmbeddingModel, OwnerState
from muniment.rules.filters import Condition
from muniment.rules.ranking import Ranking
from muniment.scope import Scope
from muniment.segment.column import Column
from muniment.segment.part import Floats, Mask, Part
from muniment.segment.search import Channels, Sought
from muniment.segment.view import View
from muniment.services.known import KnownRecords, Shown

if TYPE_CHECKING:
    from muniment.trace import Degraded

NO_SCORES = Calibration(low=0.0, high=1.0)
"""What stands for the calibration of a model that there is none of."""


class Asked(NamedTuple):
    """A question after everything that needs no database.

    Attributes:
        text: The question, cut to what is used of it.
        folded: Its search form.
        tokens: Its distinct content words.
        limit: Most records to return.
        depth: How many to rank, so that something is left to choose from; at least the limit.
        minimum: Least published score.
        listing: Whether it has no content words and so lists the newest.
        names: Kinds to look in.
        withheld: Kinds that are not shown to the reader, whether asked for or not.
        conditions: Conditions on fields and metadata.
        as_of: Past instant whose beliefs are wanted, or None.
        span: The time that the question names, its first instant and the first after it, or None.
        explain: Whether every verdict near the cut is wanted.
        degraded: What is missing.
        vector: Its embedding, or None.
        model: The model of that, or None.
        calibration: How that model's cosines are published.
    """

    text: str
    folded: str
    tokens: tuple[str, ...]
    limit: int
    depth: int
    minimum: float
    listing: bool
    names: frozenset[str]
    withheld: frozenset[str]
    conditions: tuple[Condition, ...]
    as_of: int | None
    span: tuple[int, int] | None
    explain: bool
    degraded: tuple[Degraded, ...]
    vector: Floats | None
    model: EmbeddingModel | None
    calibration: Calibration


class Reading(NamedTuple):
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


class Searched(NamedTuple):
    """What every record that was searched came to.

    Attributes:
        readings: The owners that were searched.
        choice: What kinds and filters left out.
        channels: What each channel says about each record.
        fused: What orders each record, float32, shape (n,).
        score: Published score of each record; read like an array of shape (n,).
        owners: Number of each record's reading, int64, shape (n,); None with one reading.
    """

    readings: tuple[Reading, ...]
    choice: Choice
    channels: Channels
    fused: Floats
    score: Column
    owners: NDArray[np.int64] | None

    @property
    def own(self) -> Reading | None:
        """The reading of own memory, or None while nothing was ever written there."""
        first = self.readings[0] if self.readings else None
        return first if first is not None and isinstance(first.state.owner, Scope) else None

    @property
    def sharers(self) -> NDArray[np.int64] | None:
        """Who shares the places: 0 for own memory, from 1 for spaces; None with one reading."""
        if self.owners is None or self.own is not None:
            return self.owners
        return self.owners + 1

    def located(self, place: int) -> tuple[int, Part, int]:
        """Return which view a place lies in, and where there: the part and its number in it."""
        views = [one.view for reading in self.readings for one in reading.sought]
        number = 0
        while place >= len(views[number].live):
            place -= len(views[number].live)
            number += 1
        return number, *views[number].part_at(place)


class Found(NamedTuple):
    """What the search gave, before anything is chosen for the packet.

    Attributes:
        searched: What every record came to.
        ranking: The best above the minimum score, those that repeat another one last.
        shown: The records of the ranking, and how a packet shows each.
        repeated: Places in the ranking that repeat another record.
        crowding: Places in the ranking beyond their source's share.
        timely: Places in the ranking that are from the time in question, with a vote for it.
        contested: Records that a pending candidate contradicts.
    """

    searched: Searched
    ranking: Ranking
    shown: Sequence[Shown]
    repeated: frozenset[int]
    crowding: frozenset[int]
    timely: frozenset[int]
    contested: frozenset[str]

    @property
    def behind(self) -> frozenset[int]:
        """Places in the ranking that come after all others."""
        return self.repeated | self.crowding

    @property
    def channels(self) -> Channels:
        """What each channel says about each record."""
        return self.searched.channels
