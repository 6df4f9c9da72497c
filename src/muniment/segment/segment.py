"""A scope's active records, searchable: a large base, a small tail, and what has left the base."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from muniment.segment.part import Mask, Part, build, merge
from muniment.segment.rows import IndexChanges
from muniment.segment.search import Channels, Query, Sought, search
from muniment.segment.view import View, view_at

_SMALL_TAIL = 64
_TAIL_SHARE = 8
_VIEW = 24


@dataclass(frozen=True, slots=True)
class Segment:
    """An immutable snapshot of a scope at one version. Updates give a new segment.

    Attributes:
        version: The scope's version that it shows.
        base: The bulk of the records.
        left: Which records of the base are gone or replaced, bool, shape (n,).
        tail: Records written since the base was packed.
    """

    version: int
    base: Part
    left: Mask
    tail: Part
    _views: list[View] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, changes: IndexChanges, version: int, dimensions: int) -> Segment:
        """Pack all active rows of a scope.

        Args:
            changes: Every active row of the scope.
            version: The scope's version.
            dimensions: Length of an embedding; 0 without an embedder.
        """
        return cls.packed(build(changes.rows, dimensions), version)

    @classmethod
    def packed(cls, base: Part, version: int) -> Segment:
        """Return the segment of records that are packed already.

        Args:
            base: Every active record of the scope.
            version: The scope's version.
        """
        tail = build([], base.vectors.shape[1])
        return cls(version, base, np.zeros(len(base), dtype=np.bool_), tail)

    def apply(self, changes: IndexChanges, version: int, *, merges: bool = True) -> Segment:
        """Return the segment after what happened since its version.

        Args:
            changes: What happened.
            version: The scope's version after it.
            merges: Whether a tail that grew too long becomes part of the base.
        """
        moved = np.array([*changes.gone, *(row.seq for row in changes.rows)], dtype=np.int64)
        left = self.left | np.isin(self.base.seqs, moved)
        fresh = build(changes.rows, self.base.vectors.shape[1])
        stay = ~np.isin(self.tail.seqs, moved)
        tail = merge([(self.tail, stay), (fresh, np.ones(len(fresh), dtype=np.bool_))])
        apart = len(tail) + int(left.sum())
        if not merges or apart <= max(_SMALL_TAIL, len(self.base) // _TAIL_SHARE):
            return Segment(version, self.base, left, tail)
        base = merge([(self.base, ~left), (tail, np.ones(len(tail), dtype=np.bool_))])
        empty = build([], self.base.vectors.shape[1])
        return Segment(version, base, np.zeros(len(base), dtype=np.bool_), empty)

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.base) - int(self.left.sum()) + len(self.tail)

    @property
    def nbytes(self) -> int:
        """Bytes the segment takes in memory."""
        return self.base.nbytes + self.left.nbytes + self.tail.nbytes + _VIEW * len(self.left)

    def view(self, now: int) -> View:
        """Return what is true and kept at `now`; kept for the next question at that time."""
        for known in self._views:
            if known.holds(now):
                return known
        here = ~self.left
        parts = [self.base]
        if len(self.tail):
            parts.append(self.tail)
            here = np.concatenate([here, np.ones(len(self.tail), dtype=np.bool_)])
        fresh = view_at(parts, here, now)
        self._views[:] = [fresh]
        return fresh

    def live(self, now: int) -> list[tuple[Part, Mask]]:
        """Return the parts, each with a mask of the records that are true and kept at `now`."""
        view, start, found = self.view(now), 0, []
        for part in view.parts:
            found.append((part, view.live[start : start + len(part)]))
            start += len(part)
        return found

    def lapsed(self, now: int) -> tuple[int, int, int]:
        """Return how many records are expired, not yet valid and no longer valid at `now`."""
        return self.view(now).lapsed

    def search(self, query: Query, now: int, choose: Callable[[View], Mask]) -> Channels:
        """Score every record exactly.

        Args:
            query: The question.
            now: The present instant, microseconds since 1970, UTC.
            choose: Narrows the live records of a view to those that pass kinds and filters.
        """
        sought = Sought(self.view(now), query.words, query.exact)
        return search([sought], query.vector, lambda view, _: choose(view))
