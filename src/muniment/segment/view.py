"""What of a segment is true and kept at an instant, prepared once for many questions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muniment.segment.beside import Beside, beside, one_after_the_other
from muniment.segment.part import ALWAYS, NEVER, Floats, Mask, Part
from muniment.segment.vectors import Centring, centring

LONG = 200
DAMPING = 1 / 50
SPARE = 1 / 60
_LEAST = np.float32(1e-9)
_SIZES = 32
_EACH = 32

T = TypeVar("T", bound=np.generic)


@dataclass(frozen=True)
class View:
    """The records of a segment's parts, one after the other, at an instant.

    Attributes:
        parts: The records.
        here: Which of them the segment still has, bool, shape (n,).
        live: Which of those are valid and unexpired, bool, shape (n,).
        since: First instant at which this view holds, microseconds.
        until: First instant at which it no longer does.
        lapsed: How many records are expired, not yet valid and no longer valid.
        owners: The views of several owners that it puts together; empty for one owner's.
    """

    parts: list[Part]
    here: Mask
    live: Mask
    since: int
    until: int
    lapsed: tuple[int, int, int]
    owners: Sequence[View] = ()
    _spare: dict[int, Floats] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def seqs(self) -> NDArray[np.int64]:
        """Place of each record in the scope's order of writing."""
        return joined([part.seqs for part in self.parts])

    @cached_property
    def embedded(self) -> Mask:
        """Which records have an embedding."""
        return joined([part.embedded for part in self.parts])

    @cached_property
    def pool(self) -> Mask:
        """Which records are live and have an embedding."""
        return self.live & self.embedded

    @cached_property
    def is_pooled(self) -> bool:
        """Whether every record is live and has an embedding."""
        return bool(self.pool.all())

    @cached_property
    def count(self) -> int:
        """How many records are live."""
        return int(np.count_nonzero(self.live))

    @cached_property
    def whole(self) -> bool:
        """Whether every record is live."""
        return self.count == len(self.live)

    @cached_property
    def waiting(self) -> bool:
        """Whether a live record has no embedding."""
        return bool((self.live & ~self.embedded).any())

    @cached_property
    def centring(self) -> Centring:
        """The centring around the mean of the live records."""
        return centring(self.parts, self.pool)

    @cached_property
    def voice(self) -> Floats | None:
        """How much the likeness of each record counts, float32, in (0, 1]; None: all count whole.

        One vector says less of any part of a text the longer the text is: it counts whole up to
        200 content tokens, and in inverse proportion to them above.
        """
        lengths = joined([part.lengths for part in self.parts]).astype(np.float32)
        if lengths.max(initial=0) <= LONG:
            return None
        np.maximum(lengths, LONG, out=lengths)
        return np.divide(np.float32(LONG), lengths, dtype=np.float32)

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """Number of content tokens of each record."""
        return joined([part.lengths for part in self.parts]).astype(np.int32)

    @cached_property
    def beside(self) -> Beside:
        """The records that stand beside each other in a thread of one owner."""
        if self.owners:
            return one_after_the_other([(one.beside, len(one.live)) for one in self.owners])
        follows = joined([part.follows for part in self.parts])
        return beside(self.seqs, follows, self.lengths, self.here)

    @cached_property
    def damping(self) -> Floats:
        """What damps the words of each record for the rank, float32, shape (n,), above 0."""
        damped: Floats = self.lengths.astype(np.float32)
        damped *= np.float32(DAMPING)
        return np.maximum(damped, _LEAST, out=damped)

    def spare(self, size: int) -> Floats:
        """Return what damps the words of a record for the coverage, by its length.

        It forgives every word that a question of so many words has too, so that the question itself
        is covered whole.

        Args:
            size: How many words the question has.
        """
        known = self._spare.get(size)
        if known is None:
            lengths = np.arange(int(self.lengths.max(initial=0)) + 1, dtype=np.float32)
            known = np.sqrt(np.maximum(lengths - np.float32(size), 0)) * np.float32(SPARE)
            np.maximum(known, _LEAST, out=known)
            if len(self._spare) >= _SIZES:
                self._spare.clear()
            self._spare[size] = known
        return known

    @cached_property
    def kind_names(self) -> frozenset[str]:
        """The kinds that occur."""
        return frozenset(name for part in self.parts for name in part.kind_names)

    def of_kinds(self, names: Collection[str]) -> Mask:
        """Return which records are of one of these kinds."""
        wanted = [[name in names for name in part.kind_names] for part in self.parts]
        return joined(
            [
                np.array(here or [False])[part.kinds]
                for part, here in zip(self.parts, wanted, strict=True)
            ]
        )

    def part_at(self, number: int) -> tuple[Part, int]:
        """Return the part that the record with this number lies in, and its number there."""
        for part in self.parts[:-1]:
            if number < len(part):
                return part, number
            number -= len(part)
        return self.parts[-1], number

    def holds(self, now: int) -> bool:
        """Return whether nothing begins or ends between the view's instant and another."""
        return self.since <= now < self.until


def view_at(parts: list[Part], here: Mask, now: int) -> View:
    """Return the view of a segment's parts at an instant.

    Args:
        parts: The records.
        here: Which of them the segment still has, bool, over all parts in order.
        now: The instant, microseconds since 1970, UTC.
    """
    _keep_free(len(here))
    starts, stops, ends = (
        joined([getattr(part, name) for part in parts])
        for name in ("valid_from", "valid_until", "expires_at")
    )
    begun = int(starts.max(initial=ALWAYS))
    lapses = min(int(stops.min(initial=NEVER)), int(ends.min(initial=NEVER)))
    if begun <= now < lapses:
        return View(parts, here, here, begun, lapses, (0, 0, 0))
    expired = here & (ends <= now)
    early = here & ~expired & (starts > now)
    late = here & ~expired & ~early & (stops <= now)
    live = here & ~expired & ~early & ~late
    moments = np.concatenate([starts[here], stops[here], ends[here]])
    return View(
        parts=parts,
        here=here,
        live=live,
        since=int(moments[moments <= now].max(initial=ALWAYS)),
        until=int(moments[moments > now].min(initial=NEVER)),
        lapsed=(int(expired.sum()), int(early.sum()), int(late.sum())),
    )


def _keep_free(count: int) -> None:
    """Let the C library keep the memory that a question of so many records takes.

    It returns to the system what lies free beyond twice the largest block that was ever given
    back; every page of that would cost a fault at the next question.
    """
    np.empty((count, _EACH), dtype=np.uint8)


def together(views: Sequence[View]) -> View:
    """Return several views, one after the other, as one of their common time."""
    expired, early, late = (sum(view.lapsed[reason] for view in views) for reason in range(3))
    return View(
        parts=[part for view in views for part in view.parts],
        here=joined([view.here for view in views]),
        live=joined([view.live for view in views]),
        since=max(view.since for view in views),
        until=min(view.until for view in views),
        lapsed=(expired, early, late),
        owners=views,
    )


def joined(columns: Sequence[NDArray[T]]) -> NDArray[T]:
    """Return columns one after the other; a single one as it is."""
    return columns[0] if len(columns) == 1 else np.concatenate(columns)
