"""The ranking rule once more, by brute force in float64: what recall must agree with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from muniment.bench.sample import RandomEmbedder
from muniment.bench.stores import LIMIT, ask
from muniment.rules.ranking import EXACT_BONUS, SEMANTIC_WEIGHT
from muniment.rules.text import tokenise
from muniment.scoped import ScopedMemory
from muniment.segment.search import IMAGINED
from muniment.segment.view import DAMPING, LONG

Matrix = NDArray[np.float32]
_TIE = 1e-6


class BruteForce:
    """Ranks texts for a question without any of the product's data structures.

    Args:
        texts: The statements, oldest first.
        matrix: Their unit vectors, float32, shape (n, d).
    """

    def __init__(self, texts: Sequence[str], matrix: Matrix) -> None:
        self._texts = texts
        self._counts = [Counter(tokenise(text)) for text in texts]
        self._lengths = np.array([counts.total() for counts in self._counts], dtype=np.float64)
        self._matrix = matrix.astype(np.float64)
        self._mean = self._matrix.mean(axis=0)
        centred = self._matrix - self._mean
        self._centred = centred / np.linalg.norm(centred, axis=1, keepdims=True)

    def hybrid(self, query: str, vector: Matrix, limit: int) -> tuple[list[int], list[int]]:
        """Return the places of the best, and of all that no rounding tells apart from them."""
        return _best(self._fused(query, vector.astype(np.float64)), limit)

    def nearest(self, vector: Matrix, limit: int) -> tuple[list[int], list[int]]:
        """Return the same by cosine alone."""
        return _best(self._matrix @ vector.astype(np.float64), limit)

    def _fused(self, query: str, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        words = list(dict.fromkeys(tokenise(query)))
        counts = np.array([[one[word] for word in words] for one in self._counts], dtype=np.float64)
        counts = counts.reshape(len(self._counts), len(words))
        found = (counts > 0).sum(axis=0)
        idf = np.log1p((len(counts) + IMAGINED - found + 0.5) / (found + 1.5))
        length = float(np.linalg.norm(idf[found > 0])) or 1.0
        damped = counts / np.maximum(counts + DAMPING * self._lengths[:, None], 1e-9)
        asked = vector - self._mean
        close = self._centred @ (asked / np.linalg.norm(asked))
        standard = (
            (close - close.mean())
            / close.std()
            * np.minimum(1, LONG / np.maximum(self._lengths, 1))
        )
        exact = np.array([text == query for text in self._texts])
        fused: NDArray[np.float64] = damped @ (idf / length) + SEMANTIC_WEIGHT * standard
        return fused + EXACT_BONUS * exact


def _best(ranks: NDArray[np.float64], limit: int) -> tuple[list[int], list[int]]:
    order = np.lexsort((-np.arange(len(ranks)), -ranks))[:limit]
    least = ranks[order[-1]] if len(order) else 0.0
    return order.tolist(), np.flatnonzero(ranks >= least - _TIE).tolist()


def overlap(found: Sequence[int], best: tuple[list[int], list[int]]) -> float:
    """Return the share of the wanted records that were found, ties counting for each other."""
    wanted, as_good = best
    return sum(one in set(as_good) for one in found[: len(wanted)]) / max(1, len(wanted))


def agreement(
    me: ScopedMemory, rule: BruteForce, queries: Sequence[str], embedder: RandomEmbedder
) -> float:
    """Return the mean share of the best ten by the rule that recall returned.

    Args:
        me: A scope whose source ids end in the place of the text, as the bench writes them.
        rule: The rule over the same texts.
        queries: What to ask, at least one question.
        embedder: Makes the questions' vectors.
    """
    shares = [
        overlap(
            [int(one.rpartition("-")[2]) for one in ask(me, query)],
            rule.hybrid(query, embedder.embed_query(query), LIMIT),
        )
        for query in queries
    ]
    return round(sum(shares) / len(shares), 4)
