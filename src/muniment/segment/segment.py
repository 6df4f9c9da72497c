"""A scope's active records, searchable: a large base, a small tail, and what has left the base."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats, Mask, Part, build, merge
from muniment.segment.rows import IndexChanges
from muniment.segment.vectors import centre, cosines

_SMALL_TAIL = 64
_TAIL_SHARE = 8
DAMPING = 1 / 60
IMAGINED = 50


@dataclass(frozen=True, slots=True)
class Query:
    """A question as the segment understands it.

    Attributes:
        words: Keyed hashes of its distinct content tokens.
        exact: Keyed hash of the question as a whole, or None.
        vector: Its unit embedding, float32, shape (d,), or None.
    """

    words: tuple[int, ...]
    exact: int | None
    vector: Floats | None


@dataclass(frozen=True, slots=True)
class Channels:
    """What each channel says about each record of a segment, in one order.

    Attributes:
        seqs: The records, int64, shape (n,).
        live: Which are active, valid and unexpired now, bool, shape (n,).
        chosen: Which of those pass the kinds and filters, bool, shape (n,).
        lexical: Weight of the matched words, float32, against the length of the question's
            weights; 0 when nothing matched.
        coverage: The same as a share of the weight of all words of the question, in [0, 1].
        cosine: Cosine to the question, float32; 0 where there is no embedding.
        centred: Cosine around the scope's centre, float32; 0 where there is no embedding.
        embedded: Which records have an embedding, bool, shape (n,).
        exact: Which records answer to the question as a whole, bool, shape (n,).
    """

    seqs: NDArray[np.int64]
    live: Mask
    chosen: Mask
    lexical: Floats
    coverage: Floats
    cosine: Floats
    centred: Floats
    embedded: Mask
    exact: Mask


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

    def search(self, query: Query, now: int, choose: Callable[[Part, Mask], Mask]) -> Channels:
        """Score every live record exactly.

        Args:
            query: The question.
            now: The present instant, microseconds since 1970, UTC.
            choose: Narrows a part's live records to those that pass kinds and filters.
        """
        parts = self.live(now)
        weights = _weigh(parts, query.words)
        mean = None if query.vector is None else centre(parts, len(query.vector))
        pieces = [
            _score(part, live, choose(part, live), query, weights, mean) for part, live in parts
        ]
        if len(pieces) == 1:
            return pieces[0]
        return Channels(
            *(
                np.concatenate([getattr(piece, name) for piece in pieces])
                for name in Channels.__slots__
            )
        )


@dataclass(frozen=True, slots=True)
class _Weights:
    """Inverse document frequencies of a question's words, and two ways to scale their sum."""

    idf: dict[int, float]
    length: float
    mass: float


def _idf(found: int, total: int) -> float:
    """Return a word's inverse document frequency (Robertson and Spärck Jones, 1976).

    The scope is seen among imagined records, one of which has the word, so that a question's words
    weigh about the same in a scope of two records as in one of two thousand.
    """
    rest = total + IMAGINED - found
    return float(np.log1p((rest + 0.5) / (found + 1.5)))


def _weigh(parts: Sequence[tuple[Part, Mask]], words: Sequence[int]) -> _Weights:
    total = sum(int(live.sum()) for _, live in parts)
    found = dict.fromkeys(words, 0)
    for part, live in parts:
        for word in words:
            here = part.postings(word)
            found[word] += int((live[part.docs[here]] & (part.counts[here] > 0)).sum())
    idf = {word: _idf(n, total) for word, n in found.items()}
    length = sum(idf[word] ** 2 for word, n in found.items() if n) ** 0.5
    return _Weights(idf, length, sum(idf.values()))


def _score(
    part: Part, live: Mask, chosen: Mask, query: Query, weights: _Weights, mean: Floats | None
) -> Channels:
    matched = _matched(part, weights.idf)
    exact = np.zeros(len(part), dtype=np.bool_)
    if query.exact is not None:
        exact[part.docs[part.postings(query.exact)]] = True
    nothing = np.zeros(len(part), dtype=np.float32)
    plain = centred = nothing
    if query.vector is not None and mean is not None:
        found = cosines(part, query.vector, mean)
        plain, centred = found.plain, found.centred
    return Channels(
        seqs=part.seqs,
        live=live,
        chosen=chosen,
        lexical=matched / np.float32(weights.length or 1),
        coverage=matched / np.float32(weights.mass or 1),
        cosine=plain,
        centred=centred,
        embedded=part.embedded,
        exact=exact,
    )


def _matched(part: Part, idf: dict[int, float]) -> Floats:
    """Return the weight of each record's matched words, damped by the record's length."""
    matched = np.zeros(len(part), dtype=np.float32)
    for word, weight in idf.items():
        here = part.postings(word)
        docs, counts = part.docs[here], part.counts[here].astype(np.float32)
        damped = counts + np.float32(DAMPING) * part.lengths[docs]
        matched[docs] += np.float32(weight) * counts / np.maximum(damped, np.float32(1e-9))
    return matched
