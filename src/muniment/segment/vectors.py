"""Exact cosine of a question to every record of a scope, around the scope's own centre."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats, Mask, Part

_NOISE = 1e-5


@dataclass(frozen=True, slots=True)
class Centring:
    """What turns plain cosines into cosines around a centre, worked out once for many questions.

    What all records of a scope share (its people, its subject) then no longer counts as likeness.

    Attributes:
        mean: The centre, float32, shape (d,).
        square: Its squared length.
        drift: Inner product of each record with the centre, float32, shape (n,).
        scale: One over each record's distance from the centre, float32, shape (n,); 0 where there
            is no embedding or it lies at the centre as far as float32 can tell.
    """

    mean: Floats
    square: np.float32
    drift: Floats
    scale: Floats

    def __call__(self, plain: Floats, query: Floats) -> Floats:
        """Return the centred cosines of a question; 0 where a side lies at the centre.

        Args:
            plain: The question's inner product with each record, float32, shape (n,).
            query: The question's unit vector, shape (d,).
        """
        along = np.vecdot(query, self.mean)
        apart = float(np.vecdot(query, query) - 2 * along + self.square)
        if apart <= _NOISE:
            return np.zeros(len(plain), dtype=np.float32)
        centred = plain - self.drift
        centred += self.square - along
        centred *= self.scale
        centred *= apart**-0.5
        return centred


def products(parts: list[Part], query: Floats) -> Floats:
    """Return the inner product of a vector with each record of several parts, in their order.

    One pass over each matrix, row by row: the product of a row depends on nothing but the row, so
    equal vectors are equally near wherever they stand. No thread is started.
    """
    found: list[Floats] = [np.vecdot(part.vectors, query) for part in parts]
    return found[0] if len(found) == 1 else np.concatenate(found)


def centring(parts: list[Part], pool: Mask) -> Centring:
    """Return the centring around the mean of the records of `pool`; zero if fewer than two.

    Args:
        parts: The records.
        pool: Which of them are live and embedded, bool, over all parts in order.
    """
    count = int(np.count_nonzero(pool))
    total, drift = parts[0].total, parts[0].drift
    if len(parts) > 1 or count < np.count_nonzero(parts[0].embedded):
        total, drift = _total(parts, pool), None
    mean = mean_of(total, count)
    square = np.float32(np.vecdot(mean, mean))
    if drift is None:
        drift = products(parts, mean)
    squares = np.concatenate([part.norms for part in parts])
    squares -= 2 * drift
    squares += square
    apart = np.concatenate([part.embedded for part in parts])
    apart &= squares > _NOISE
    np.sqrt(np.maximum(squares, _NOISE, out=squares), out=squares)
    return Centring(mean, square, drift, np.divide(apart, squares, dtype=np.float32))


def mean_of(total: NDArray[np.float64], count: int) -> Floats:
    """Return the centre of so many vectors from their sum; zero if fewer than two.

    Args:
        total: The sum, float64, shape (d,).
        count: How many they are.
    """
    return (total / count if count > 1 else total * 0.0).astype(np.float32)


def _total(parts: list[Part], pool: Mask) -> NDArray[np.float64]:
    """Return the sum of the vectors of a pool."""
    total = np.zeros(parts[0].vectors.shape[1], dtype=np.float64)
    start = 0
    for part in parts:
        here = pool[start : start + len(part)]
        start += len(part)
        if here.any():
            missing = np.flatnonzero(part.embedded & ~here)
            total += part.total
            total -= part.vectors[missing].sum(axis=0, dtype=np.float64)
    return total
