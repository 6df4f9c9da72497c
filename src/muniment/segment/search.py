"""Scores every record that is sought, exactly, and pools what is counted over all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats, Mask, Part
from muniment.segment.vectors import centre, cosines

DAMPING = 1 / 50
SPARE = 1 / 40
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
class Sought:
    """A part to search, with its owner's hashes of the question.

    Word hashes are keyed by owner, so the same question has other hashes for another owner; they
    stand in the same order.

    Attributes:
        part: The records.
        live: Which of them are active, valid and unexpired, bool, shape (n,).
        words: Keyed hashes of the question's distinct content tokens.
        exact: Keyed hash of the question as a whole, or None.
    """

    part: Part
    live: Mask
    words: tuple[int, ...]
    exact: int | None


@dataclass(frozen=True, slots=True)
class Channels:
    """What each channel says about each record that was sought, in one order.

    Attributes:
        places: Which of the parts sought each record lies in, int64, shape (n,).
        seqs: The records, int64, shape (n,).
        live: Which are active, valid and unexpired now, bool, shape (n,).
        chosen: Which of those pass the kinds and filters, bool, shape (n,).
        lexical: Weight of the matched words, float32, against the length of the question's
            weights; 0 when nothing matched.
        coverage: How much of the question the words cover, in [0, 1], whatever the scope.
        cosine: Cosine to the question, float32; 0 where there is no embedding.
        centred: Cosine around the scope's centre, float32; 0 where there is no embedding.
        embedded: Which records have an embedding, bool, shape (n,).
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
    embedded: Mask
    exact: Mask


def search(
    sought: Sequence[Sought], vector: Floats | None, choose: Callable[[Part, Mask, int], Mask]
) -> Channels:
    """Score every live record of several parts as if they were one.

    Document frequencies and the centre of the embeddings are counted over all parts together.

    Args:
        sought: The parts; at least one.
        vector: The question's unit embedding, float32, shape (d,), or None.
        choose: Narrows the live records of a part, given with its place in `sought`, to those that
            pass kinds and filters.
    """
    weights = _weigh(sought)
    mean = None
    if vector is not None:
        mean = centre([(one.part, one.live) for one in sought], len(vector))
    pieces = [
        _score(place, one, choose(one.part, one.live, place), vector, weights, mean)
        for place, one in enumerate(sought)
    ]
    if len(pieces) == 1:
        return pieces[0]
    return Channels(
        *(np.concatenate([getattr(piece, name) for piece in pieces]) for name in Channels.__slots__)
    )


@dataclass(frozen=True, slots=True)
class _Weights:
    """Inverse document frequencies of the question's words, and how to scale sums of them."""

    idf: tuple[float, ...]
    ranking: float
    covering: float


def _idf(found: int, total: int) -> float:
    """Return a word's inverse document frequency (Robertson and Spärck Jones, 1976).

    The records are seen among imagined ones, one of which has the word, so that a question's words
    weigh about the same in a scope of two records as in one of two thousand.
    """
    rest = total + IMAGINED - found
    return float(np.log1p((rest + 0.5) / (found + 1.5)))


def _weigh(sought: Sequence[Sought]) -> _Weights:
    total = sum(int(one.live.sum()) for one in sought)
    found = [0] * len(sought[0].words)
    for one in sought:
        part, live = one.part, one.live
        for number, word in enumerate(one.words):
            here = part.postings(word)
            found[number] += int((live[part.docs[here]] & (part.counts[here] > 0)).sum())
    idf = tuple(_idf(n, total) for n in found)
    ranking = sum(weight**2 for weight, n in zip(idf, found, strict=True) if n) ** 0.5
    covering = (sum(idf) * sum(weight**2 for weight in idf) ** 0.5) ** 0.5
    return _Weights(idf, ranking or 1.0, covering or 1.0)


def _score(
    place: int,
    one: Sought,
    chosen: Mask,
    vector: Floats | None,
    weights: _Weights,
    mean: Floats | None,
) -> Channels:
    part = one.part
    lexical, coverage = _matched(part, one.words, weights)
    exact = np.zeros(len(part), dtype=np.bool_)
    if one.exact is not None:
        exact[part.docs[part.postings(one.exact)]] = True
    plain = centred = np.zeros(len(part), dtype=np.float32)
    if vector is not None and mean is not None:
        found = cosines(part, vector, mean)
        plain, centred = found.plain, found.centred
    return Channels(
        places=np.full(len(part), place, dtype=np.int64),
        seqs=part.seqs,
        live=one.live,
        chosen=chosen,
        lexical=lexical,
        coverage=coverage,
        cosine=plain,
        centred=centred,
        embedded=part.embedded,
        exact=exact,
    )


def _matched(part: Part, words: Sequence[int], weights: _Weights) -> tuple[Floats, Floats]:
    """Return how the words rank each record, and how far they cover the question.

    The rank damps a long record's words; the coverage forgives every word that the question has
    too, so that the question itself is covered whole.
    """
    lexical = np.zeros(len(part), dtype=np.float32)
    coverage = np.zeros(len(part), dtype=np.float32)
    for word, idf in zip(words, weights.idf, strict=True):
        here = part.postings(word)
        docs, counts = part.docs[here], part.counts[here].astype(np.float32)
        lengths = part.lengths[docs]
        spare = np.maximum(lengths - len(words), 0)
        lexical[docs] += np.float32(idf / weights.ranking) * _damped(
            counts, lengths * np.float32(DAMPING)
        )
        coverage[docs] += np.float32(idf / weights.covering) * _damped(
            counts, np.sqrt(spare) * np.float32(SPARE)
        )
    return lexical, np.minimum(coverage, np.float32(1))


def _damped(counts: Floats, weight: Floats) -> Floats:
    return counts / np.maximum(counts + weight.astype(np.float32), np.float32(1e-9))
