"""The formulas of search once more, slowly and without arrays."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

from muniment.rules.ranking import THREAD_WEIGHT
from muniment.segment.beside import BRIEF
from muniment.segment.rows import IndexRow
from muniment.segment.search import IMAGINED, Query
from muniment.segment.view import DAMPING, SPARE

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Scores:
    """What search should say about one live record."""

    lexical: float
    coverage: float
    exact: bool
    cosine: float
    centred: float
    heard: float = 0.0


def words_of(row: IndexRow) -> dict[int, int]:
    return dict(struct.iter_unpack("<IB", row.words))


def vector_of(blob: bytes) -> Vector:
    return struct.unpack(f"<{len(blob) // 4}f", blob)


def live(rows: Sequence[IndexRow], now: int) -> list[IndexRow]:
    return [
        row
        for row in rows
        if (row.valid_from is None or row.valid_from <= now)
        and (row.valid_until is None or row.valid_until > now)
        and (row.expires_at is None or row.expires_at > now)
    ]


def search(rows: Sequence[IndexRow], query: Query, now: int) -> dict[int, Scores]:
    """Score every live row, by seq."""
    here = live(rows, now)
    seen = {word: sum(words_of(row).get(word, 0) > 0 for row in here) for word in query.words}
    weights = {word: _weight(n, len(here)) for word, n in seen.items()}
    length = math.sqrt(sum(weights[word] ** 2 for word, n in seen.items() if n))
    whole = math.sqrt(sum(weight**2 for weight in weights.values()))
    covering = math.sqrt(sum(weights.values()) * whole)
    asked = None if query.vector is None else tuple(map(float, query.vector))
    centre = _centre([vector_of(row.vector) for row in here if row.vector is not None])
    scores = {}
    for row in here:
        lexical, coverage = _matched(words_of(row), weights)
        cosine, centred = _cosines(row, asked, centre)
        scores[row.seq] = Scores(
            lexical=lexical / (length or 1),
            coverage=min(1, coverage / (covering or 1)),
            exact=query.exact in words_of(row),
            cosine=cosine,
            centred=centred,
        )
    return {seq: replace(one, heard=_heard(seq, rows, scores)) for seq, one in scores.items()}


def _heard(seq: int, rows: Sequence[IndexRow], scores: dict[int, Scores]) -> float:
    brevity = {row.seq: BRIEF / max(sum(words_of(row).values()), BRIEF) for row in rows}
    follows = {row.seq: row.follows for row in rows if row.follows in brevity}
    after = [other for other, before in follows.items() if before == seq]
    voices = [(other, 1 / len(after)) for other in after]
    if (before := follows.get(seq)) is not None:
        voices.append((before, 1.0))
    return sum(
        THREAD_WEIGHT * brevity[seq] * brevity[other] * share * scores[other].lexical
        for other, share in voices
        if other in scores
    )


def _weight(found: int, total: int) -> float:
    return math.log(1 + (total + IMAGINED - found + 0.5) / (found + 1.5))


def _matched(words: dict[int, int], weights: dict[int, float]) -> tuple[float, float]:
    size = sum(words.values())
    spare = math.sqrt(max(size - len(weights), 0))
    found = [(weight, words[word]) for word, weight in weights.items() if words.get(word)]
    return (
        sum(weight * n / (n + DAMPING * size) for weight, n in found),
        sum(weight * n / (n + SPARE * spare) for weight, n in found),
    )


def _centre(vectors: list[Vector]) -> Vector | None:
    if len(vectors) < 2:
        return None
    return tuple(sum(column) / len(vectors) for column in zip(*vectors, strict=True))


def _cosines(row: IndexRow, asked: Vector | None, centre: Vector | None) -> tuple[float, float]:
    if row.vector is None or asked is None:
        return 0.0, 0.0
    vector = vector_of(row.vector)
    mean = centre or (0.0,) * len(vector)
    one = [a - m for a, m in zip(vector, mean, strict=True)]
    other = [a - m for a, m in zip(asked, mean, strict=True)]
    sizes = _dot(one, one), _dot(other, other)
    centred = 0.0 if min(sizes) < 1e-5 else _dot(one, other) / math.sqrt(sizes[0] * sizes[1])
    return _dot(vector, asked), centred


def _dot(one: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))
