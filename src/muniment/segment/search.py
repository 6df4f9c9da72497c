"""Scores every record that is sought, exactly, and pools what is counted over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats, Mask
from muniment.segment.vectors import centring, products
from muniment.segment.view import View

DAMPING = 1 / 50
SPARE = 1 / 60
IMAGINED = 50
_LEAST = np.float32(1e-9)

T = TypeVar("T", bound=np.generic)
Choose = Callable[[View, int], Mask]


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
class Sought:
    """A view to search, with its owner's hashes of the question.

    Word hashes are keyed by owner, so the same question has other hashes for another owner; they
    stand in the same order.

    Attributes:
        view: The records.
        words: Keyed hashes of the question's distinct content tokens.
        exact: Keyed hash of the question as a whole, or None.
    """

    view: View
    words: tuple[int, ...]
    exact: int | None


@dataclass(frozen=True, slots=True)
class Channels:
    """What each channel says about each record that was sought, in one order.

    Attributes:
        places: Which of those sought each record lies in, int64, shape (n,).
        seqs: The records, int64, shape (n,).
        live: Which are active, valid and unexpired now, bool, shape (n,).
        chosen: Which of those pass the kinds and filters, bool, shape (n,).
        lexical: Weight of the matched words, float32, against the length of the question's
            weights; 0 when nothing matched.
        coverage: How much of the question the words cover, in [0, 1], whatever the scope.
        cosine: Cosine to the question, float32; 0 where there is no embedding.
        centred: Cosine around the scope's centre, float32; 0 where there is no embedding.
        voice: How much that cosine counts, float32, in (0, 1]: less for a long record.
        embedded: Which records have an embedding, bool, shape (n,).
        pool: Which are live and have one, bool, shape (n,).
        exact: Which records answer to the question as a whole, bool, shape (n,).
    """

    places: NDArray[np.int64]
    seqs: NDArray[np.int64]
    live: Mask
    chosen: Mask
    lexical: Floats
    coverage: Floats
    cosine: Floats
    centred: Floats
    voice: Floats
    embedded: Mask
    pool: Mask
    exact: Mask


def search(sought: Sequence[Sought], vector: Floats | None, choose: Choose) -> Channels:
    """Score every record of several views as if they were one.

    Document frequencies and the centre of the embeddings are counted over the live records of all
    views together. What is not live is scored too, and counts for nothing.

    Args:
        sought: The views; at least one.
        vector: The question's unit embedding, float32, shape (d,), or None.
        choose: Narrows the live records of a view, given with its place in `sought`, to those that
            pass kinds and filters.
    """
    views = [one.view for one in sought]
    live = _joined([view.live for view in views])
    pool = _joined([view.pool for view in views])
    matches = _matches(sought)
    lexical, coverage = _weighed(matches, live, len(sought[0].words))
    cosine, centred = _cosines(views, pool, vector)
    return Channels(
        places=_numbered([len(view.live) for view in views]),
        seqs=_joined([view.seqs for view in views]),
        live=live,
        chosen=_joined([choose(view, place) for place, view in enumerate(views)]),
        lexical=lexical,
        coverage=coverage,
        cosine=cosine,
        centred=centred,
        voice=_joined([view.voice for view in views]),
        embedded=_joined([view.embedded for view in views]),
        pool=pool,
        exact=matches.exact,
    )


def _numbered(sizes: Sequence[int]) -> NDArray[np.int64]:
    if len(sizes) == 1:
        return np.zeros(sizes[0], dtype=np.int64)
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def _joined(columns: Sequence[NDArray[T]]) -> NDArray[T]:
    return columns[0] if len(columns) == 1 else np.concatenate(columns)


def _cosines(views: Sequence[View], pool: Mask, vector: Floats | None) -> tuple[Floats, Floats]:
    if vector is None:
        nothing = np.zeros(len(pool), dtype=np.float32)
        return nothing, nothing
    parts = [part for view in views for part in view.parts]
    plain = products(parts, vector)
    centred = views[0].centring if len(views) == 1 else centring(parts, pool)
    return plain, centred(plain, vector)


@dataclass(frozen=True, slots=True)
class _Matches:
    """Where the question's words occur: one entry a word and record, word by word in each part.

    Attributes:
        sizes: Entries of each word in each part, int64, shape (parts, words).
        docs: Record, over all that is sought, int64, shape (p,).
        counts: Occurrences, float32, shape (p,).
        lengths: Content tokens of the record, float32, shape (p,).
        exact: Which records answer to the question as a whole, bool, shape (n,).
    """

    sizes: NDArray[np.int64]
    docs: NDArray[np.int64]
    counts: Floats
    lengths: Floats
    exact: Mask

    def spread(self, values: NDArray[T]) -> NDArray[T]:
        """Return for each entry what its word has."""
        return np.repeat(np.tile(values, len(self.sizes)), self.sizes.ravel())

    def found(self, live: Mask) -> NDArray[np.int64]:
        """Return in how many live records each word occurs."""
        occurs = self.counts > 0
        occurs &= live[self.docs]
        if occurs.all():
            counted: NDArray[np.int64] = np.add.reduce(self.sizes)
            return counted
        words = self.spread(np.arange(self.sizes.shape[1]))
        return np.bincount(words[occurs], minlength=self.sizes.shape[1])


def _matches(sought: Sequence[Sought]) -> _Matches:
    exact = np.zeros(sum(len(one.view.live) for one in sought), dtype=np.bool_)
    sizes, docs, counts, lengths = [], [], [], []
    start = 0
    for one in sought:
        size = len(one.words)
        name = () if one.exact is None else (one.exact,)
        asked = np.array([*one.words, *name], dtype=np.uint32)
        for part in one.view.parts:
            each, at = part.postings(asked)
            if name:
                end = len(at) - int(each[-1])
                exact[part.docs[at[end:]] + start] = True
                at = at[:end]
            here = part.docs[at]
            sizes.append(each[:size])
            docs.append(here.astype(np.int64) + start if start else here.astype(np.int64))
            counts.append(part.counts[at])
            lengths.append(part.lengths[here])
            start += len(part)
    return _Matches(
        sizes=sizes[0][np.newaxis] if len(sizes) == 1 else np.stack(sizes),
        docs=_joined(docs),
        counts=_joined(counts).astype(np.float32),
        lengths=_joined(lengths),
        exact=exact,
    )


def _idf(found: NDArray[np.number], total: int) -> NDArray[np.float64]:
    """Return the words' inverse document frequencies (Robertson and Spärck Jones, 1976).

    The records are seen among fifty imagined ones without the word and one with it, so that a
    question's words weigh about the same in a scope of two records as in one of two thousand.
    """
    weights: NDArray[np.float64] = np.log1p((total + IMAGINED - found + 0.5) / (found + 1.5))
    return weights


def _weighed(matches: _Matches, live: Mask, size: int) -> tuple[Floats, Floats]:
    """Return how the words rank each record, and how far they cover the question.

    The rank damps a long record's words; the coverage forgives every word that the question has
    too, so that the question itself is covered whole.

    Args:
        matches: Where the words occur.
        live: Which records count, bool, shape (n,).
        size: How many words the question has.
    """
    if not size:
        nothing = np.zeros(len(live), dtype=np.float32)
        return nothing, nothing
    found = matches.found(live)
    idf = _idf(found, int(np.count_nonzero(live)))
    squares = idf * idf
    ranking = float(squares[found > 0].sum()) ** 0.5 or 1.0
    covering = float(idf.sum() * squares.sum() ** 0.5) ** 0.5 or 1.0
    damping = matches.lengths * np.float32(DAMPING)
    lexical = _summed(matches, idf / ranking, damping, live)
    spare = np.sqrt(np.maximum(matches.lengths - np.float32(size), 0))
    spare *= np.float32(SPARE)
    coverage = _summed(matches, idf / covering, spare, live)
    return lexical, np.minimum(coverage, 1, out=coverage)


def _summed(matches: _Matches, weights: NDArray[np.float64], damping: Floats, live: Mask) -> Floats:
    damping += matches.counts
    shares = matches.counts / np.maximum(damping, _LEAST, out=damping)
    shares *= matches.spread(weights.astype(np.float32))
    return np.bincount(matches.docs, weights=shares, minlength=len(live)).astype(np.float32)
