"""Scores every record that is sought, exactly, and pools what is counted over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from math import log1p
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muniment.segment.beside import Beside
from muniment.segment.column import Column, Some
from muniment.segment.part import Floats, Mask
from muniment.segment.vectors import products
from muniment.segment.view import View, joined, together

IMAGINED = 50
_MANY = 8192

Choose = Callable[[View, int], Mask]


class Query(NamedTuple):
    """A question as the segment understands it.

    Attributes:
        words: Keyed hashes of its distinct content tokens.
        exact: Keyed hash of the question as a whole, or None.
        vector: Its unit embedding, float32, shape (d,), or None.
    """

    words: tuple[int, ...]
    exact: int | None
    vector: Floats | None


class Sought(NamedTuple):
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


class Channels(NamedTuple):
    """What each channel says about each record that was sought, in one order.

    Attributes:
        seqs: The records, int64, shape (n,).
        live: Which are active, valid and unexpired now, bool, shape (n,).
        chosen: Which of those pass the kinds and filters, bool, shape (n,).
        lexical: Weight of the matched words, float32, against the length of the question's
            weights; 0 when nothing matched.
        coverage: How much of the question the words cover, in [0, 1], whatever the scope; read like
            an array of shape (n,).
        cosine: Cosine to the question, float32; 0 where there is no embedding.
        centred: Cosine around the scope's centre, float32; 0 where there is no embedding.
        voice: How much that cosine counts, float32, in (0, 1]: less for a long record. None where
            no record is long.
        embedded: Which records have an embedding, bool, shape (n,).
        pool: Which are live and have one, bool, shape (n,). None: all are.
        exact: Which records answer to the question as a whole, bool, shape (n,).
        beside: Which records stand beside each other in a thread.
    """

    seqs: NDArray[np.int64]
    live: Mask
    chosen: Mask
    lexical: Floats
    coverage: Column
    cosine: Floats
    centred: Floats
    voice: Floats | None
    embedded: Mask
    pool: Mask | None
    exact: Mask
    beside: Beside


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
    whole = views[0] if len(views) == 1 else together(views)
    if vector is None:
        cosine = centred = np.zeros(len(whole.live), dtype=np.float32)
    else:
        cosine = products(whole.parts, vector)
        centred = whole.centring(cosine, vector)
    matches = _matches(sought, len(whole.live))
    lexical, coverage = _weighed(matches, whole, len(sought[0].words))
    return Channels(
        seqs=whole.seqs,
        live=whole.live,
        chosen=joined([choose(view, place) for place, view in enumerate(views)]),
        lexical=lexical,
        coverage=coverage,
        cosine=cosine,
        centred=centred,
        voice=whole.voice,
        embedded=whole.embedded,
        pool=None if whole.is_pooled else whole.pool,
        exact=matches.exact,
        beside=whole.beside,
    )


class _Matches(NamedTuple):
    """Where the question's words occur: one entry a word and record, word by word in each part.

    Attributes:
        sizes: Entries of each word in each part, int64, shape (parts * words,).
        docs: Record, over all that is sought, int64, shape (p,).
        counts: Occurrences, uint8, shape (p,).
        exact: Which records answer to the question as a whole, bool, shape (n,).
    """

    sizes: NDArray[np.int64]
    docs: NDArray[np.int64]
    counts: NDArray[np.uint8]
    exact: Mask

    def found(self, view: View, size: int) -> list[int]:
        """Return in how many live records each of the question's words occurs."""
        seen = self.sizes
        if not view.whole or np.count_nonzero(self.counts) < len(self.counts):
            occurs = view.live.take(self.docs)
            occurs &= self.counts > 0
            ends = seen.cumsum()
            upto = np.concatenate([[0], occurs.cumsum()])
            seen = upto[ends] - upto[ends - seen]
        found: list[int] = seen.reshape(-1, size).sum(axis=0).tolist()
        return found


def _matches(sought: Sequence[Sought], count: int) -> _Matches:
    exact = np.zeros(count, dtype=np.bool_)
    sizes, docs, counts = [], [], []
    start = 0
    for view, words, name in sought:
        asked = np.array(words if name is None else (*words, name), dtype=np.uint32)
        for part in view.parts:
            begins, ends = part.postings(asked)
            if name is not None and ends[-1] > begins[-1]:
                exact[part.docs[begins[-1] : ends[-1]] + start] = True
            sizes.append((ends - begins)[: len(words)])
            take = _taking(begins[: len(words)], sizes[-1])
            docs.append(take(part.docs).astype(np.int64))
            if start:
                docs[-1] += start
            counts.append(take(part.counts))
            start += len(part)
    return _Matches(joined(sizes), joined(docs), joined(counts), exact)


def _taking(
    begins: NDArray[np.int64], sizes: NDArray[np.int64]
) -> Callable[[NDArray[Any]], NDArray[Any]]:
    """Return what takes several runs of a column, one after the other; many entries run by run.

    Args:
        begins: Where each run begins, int64, shape (k,).
        sizes: How long each is, int64, shape (k,).
    """
    ends = sizes.cumsum()
    count = int(ends[-1]) if len(ends) else 0
    if count > _MANY:
        runs = [*map(slice, begins.tolist(), (begins + sizes).tolist())]
        return lambda column: np.concatenate([column[run] for run in runs])
    places = np.arange(count)
    places += (begins - ends + sizes).repeat(sizes)
    return lambda column: column.take(places)


def _idf(found: Sequence[int], total: int) -> list[float]:
    """Return the words' inverse document frequencies (Robertson and Spärck Jones, 1976).

    The records are seen among fifty imagined ones without the word and one with it, so that a
    question's words weigh about the same in a scope of two records as in one of two thousand.
    """
    seen = total + IMAGINED + 0.5
    return [log1p((seen - each) / (each + 1.5)) for each in found]


def _weighed(matches: _Matches, view: View, size: int) -> tuple[Floats, Column]:
    """Return how the words rank each record, and how far they cover the question.

    Args:
        matches: Where the words occur.
        view: All that is sought.
        size: How many words the question has.
    """
    count = len(view.live)
    if not size:
        nothing = np.zeros(count, dtype=np.float32)
        return nothing, Column(count, nothing.__getitem__)
    found = matches.found(view, size)
    idf = _idf(found, view.count)
    squares = [each * each for each in idf]
    ranking = sum(compress(squares, found)) ** 0.5 or 1.0
    covering = (sum(idf) * sum(squares) ** 0.5) ** 0.5 or 1.0
    weights = np.array(idf * (len(matches.sizes) // size), dtype=np.float32)
    words = _Words(matches.docs, matches.counts.astype(np.float32), weights.repeat(matches.sizes))
    lexical = _summed(words.docs, words.damped(view.damping.take(words.docs)), count)
    lexical *= np.float32(1 / ranking)
    return lexical, Column(count, _Covering(words, view, size, covering).of)


def _summed(places: NDArray[np.int64], values: Floats, count: int) -> Floats:
    """Return the sum of what belongs to each of so many places, float32, shape (count,).

    Summed in double precision, so that records with equal values tie in whatever order they come.
    """
    return np.bincount(places, values, count).astype(np.float32)


class _Words(NamedTuple):
    """The question's words in records: one entry a word and record.

    Attributes:
        docs: The record, int64, shape (p,).
        counts: Occurrences, float32, shape (p,).
        weights: What the word weighs, float32, shape (p,).
    """

    docs: NDArray[np.int64]
    counts: Floats
    weights: Floats

    def within(self, places: NDArray[np.int64], count: int) -> _Words:
        """Return the words in some of so many records."""
        wanted = np.zeros(count, dtype=np.bool_)
        wanted[places] = True
        here = wanted.take(self.docs).nonzero()[0]
        return _Words(self.docs.take(here), self.counts.take(here), self.weights.take(here))

    def damped(self, damping: Floats) -> Floats:
        """Return what each entry weighs, float32, shape (p,); takes the memory of `damping`."""
        damping += self.counts
        np.divide(self.counts, damping, out=damping)
        damping *= self.weights
        return damping


class _Covering(NamedTuple):
    """How far a question's words cover records, worked out of those that are asked for.

    Attributes:
        words: Where they occur.
        view: All that is sought.
        size: How many words the question has.
        whole: What their sum is divided by.
    """

    words: _Words
    view: View
    size: int
    whole: float

    def of(self, places: Some) -> Floats:
        """Return the coverage of some records, float32, in their order."""
        count = len(self.view.live)
        if isinstance(places, slice):
            return self._covered(self.words, self.words.docs, count)
        asked, back = np.unique(places, return_inverse=True)
        here = self.words.within(asked, count)
        return self._covered(here, asked.searchsorted(here.docs), len(asked))[back]

    def _covered(self, here: _Words, places: NDArray[np.int64], count: int) -> Floats:
        spare = self.view.spare(self.size).take(self.view.lengths.take(here.docs))
        covered = _summed(places, here.damped(spare), count)
        covered *= np.float32(1 / self.whole)
        return np.minimum(covered, 1, out=covered)
