"""Exact cosine of a question to every record of a scope, around the scope's own centre."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from muniment.segment.part import Floats, Mask, Part

CENTRING = 1.0
_NOISE = np.float32(1e-5)


@dataclass(frozen=True, slots=True)
class Cosines:
    """Similarities of a question to the records of a part, float32, shape (n,).

    Attributes:
        plain: Cosine to the question; 0 where there is no embedding.
        centred: The same after the scope's mean vector is taken off both sides. What all records
            of a scope share (its people, its subject) then no longer counts as similarity. 0
            where a side lies at the mean as far as float32 can tell, as equal texts do.
    """

    plain: Floats
    centred: Floats


def centre(parts: Sequence[tuple[Part, Mask]], dimensions: int) -> Floats:
    """Return the mean vector of the live, embedded records; zero when there are fewer than two."""
    total = np.zeros(dimensions, dtype=np.float64)
    count = 0
    for part, live in parts:
        here = live & part.embedded
        count += int(here.sum())
        missing = part.embedded & ~here
        total += part.total - part.vectors[missing].sum(axis=0, dtype=np.float64)
    return (total / count if count > 1 else total * 0.0).astype(np.float32)


def cosines(part: Part, query: Floats, mean: Floats) -> Cosines:
    """Compare a question with every record of a part in one pass over its matrix.

    Args:
        part: The records.
        query: The question's unit vector, shape (d,).
        mean: The scope's centre, shape (d,).
    """
    shift = np.float32(CENTRING) * mean
    both = part.vectors @ np.stack([query, shift], axis=1)
    plain, drift = both[:, 0], both[:, 1]
    spread = np.float32(shift @ shift)
    squares = part.norms - 2 * drift + spread
    square = np.float32(query @ query - 2 * (query @ shift) + spread)
    inner = plain - drift - np.float32(query @ shift) + spread
    centred = inner / np.sqrt(np.maximum(squares, _NOISE) * np.maximum(square, _NOISE))
    apart = part.embedded & (squares > _NOISE) & (square > _NOISE)
    return Cosines(plain, np.where(apart, centred, np.float32(0)))
