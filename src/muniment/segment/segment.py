"""A scope's active records, searchable: a large base, a small tail, and what has left the base."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from muniment.segment.part import Mask, Part, build, merge
from muniment.segment.rows import IndexChanges
from muniment.segment.search import Channels, Query, Sought, search

_SMALL_TAIL = 64
_TAIL_SHARE = 8


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

    @classmethod
    def of(cls, changes: IndexChanges, version: int, dimensions: int) -> Segment:
        """Pack all active rows of a scope.

        Args:
            changes: Every active row of the scope.
            version: The scope's version.
            dimensions: Length of an embedding; 0 without an embedder.
        """
        base = build(changes.rows, dimensions)
        return cls(version, base, np.zeros(len(base), dtype=np.bool_), build([], dimensions))

    def apply(self, changes: IndexChanges, version: int) -> Segment:
        """Return the segment after what happened since its version."""
        moved = np.array([*changes.gone, *(row.seq for row in changes.rows)], dtype=np.int64)
        left = self.left | np.isin(self.base.seqs, moved)
        fresh = build(changes.rows, self.base.vectors.shape[1])
        stay = ~np.isin(self.tail.seqs, moved)
        tail = merge([(self.tail, stay), (fresh, np.ones(len(fresh), dtype=np.bool_))])
        if (len(tail) + int(left.sum())) <= max(_SMALL_TAIL, len(self.base) // _TAIL_SHARE):
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
        return self.base.nbytes + self.left.nbytes + self.tail.nbytes

    def _parts(self) -> Iterator[tuple[Part, Mask]]:
        yield self.base, ~self.left
        if len(self.tail):
            yield self.tail, np.ones(len(self.tail), dtype=np.bool_)

    def live(self, now: int) -> list[tuple[Part, Mask]]:
        """Return the parts, each with a mask of the records that are true and kept at `now`."""
        return [
            (
                part,
                here
                & (part.expires_at > now)
                & (part.valid_from <= now)
                & (part.valid_until > now),
            )
            for part, here in self._parts()
        ]

    def lapsed(self, now: int) -> tuple[int, int, int]:
        """Return how many records are expired, not yet valid and no longer valid at `now`."""
        expired = early = late = 0
        for part, here in self._parts():
            gone = here & (part.expires_at <= now)
            soon = here & ~gone & (part.valid_from > now)
            expired += int(gone.sum())
            early += int(soon.sum())
            late += int((here & ~gone & ~soon & (part.valid_until <= now)).sum())
        return expired, early, late

    def sought(self, words: tuple[int, ...], exact: int | None, now: int) -> list[Sought]:
        """Return the parts with their live records and this owner's hashes of a question."""
        return [Sought(part, live, words, exact) for part, live in self.live(now)]

    def search(self, query: Query, now: int, choose: Callable[[Part, Mask], Mask]) -> Channels:
        """Score every live record exactly.

        Args:
            query: The question.
            now: The present instant, microseconds since 1970, UTC.
            choose: Narrows a part's live records to those that pass kinds and filters.
        """
        sought = self.sought(query.words, query.exact, now)
        return search(sought, query.vector, lambda part, live, _: choose(part, live))
