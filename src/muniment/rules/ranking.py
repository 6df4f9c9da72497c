"""Fuses the channels, publishes a score and orders the hits; ties always fall the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
Places = NDArray[np.int64]

SEMANTIC_WEIGHT = 1 / 5
THREAD_WEIGHT = 0.15
EXACT_BONUS = 100.0
_FLAT = 1e-7
_BLOCK = 16
_MANY = 4096
_PIECE = 8192


class Scores(Protocol):
    """Published scores, read like an array of float32."""

    def __getitem__(self, places: Places | slice, /) -> Floats:
        """Return the scores at places."""


class Ranking(NamedTuple):
    """Records in the order in which they would reach the packet.

    Attributes:
        order: Places in the channels, best first, only those above the minimum score.
        rank: Fused score of each place in `order`, never rising.
        score: Published score of each place in `order`, in [0, 1], never rising.
        below: How many chosen records the minimum score kept out.
    """

    order: NDArray[np.int64]
    rank: Floats
    score: Floats
    below: int

    def at(self, places: NDArray[np.int64]) -> Ranking:
        """Return the records at places of the order."""
        return Ranking(self.order[places], self.rank[places], self.score[places], self.below)

    def then(self, other: Ranking) -> Ranking:
        """Return these records and after them those of another ranking, with no higher score."""
        score = np.concatenate([self.score, other.score])
        return Ranking(
            np.concatenate([self.order, other.order]),
            np.concatenate([self.rank, other.rank]),
            np.minimum.accumulate(score) if len(score) else score,
            self.below,
        )


def reordered(ranking: Ranking, places: Sequence[int], score: Scores) -> Ranking:
    """Return a ranking in another order, its scores lowered so that they never rise.

    Args:
        ranking: The records.
        places: Places of its order, in the new order.
        score: Published score of each record of the channels.
    """
    moved = ranking.at(np.array(places, dtype=np.int64))
    own = score[moved.order]
    published = np.minimum.accumulate(own) if len(own) else own
    return Ranking(moved.order, moved.rank, published, moved.below)


def fuse(
    lexical: Floats, centred: Floats, voice: Floats | None, pool: Mask | None, exact: Places
) -> Floats:
    """Return one number a record by which to order them.

    The words' weight plus a fifth of the standard score of the centred cosine, taken over the
    embedded live records, times what the record's vector may say. A record that is named exactly
    comes first.

    Args:
        lexical: The words' weight, float32, shape (n,).
        centred: Centred cosine, float32, shape (n,).
        voice: How much that counts, float32, shape (n,). None: all of it, of every record.
        pool: Which records are live and embedded, bool, shape (n,). None: all are.
        exact: Which are named exactly.
    """
    close = centred if pool is None else centred * pool
    count = (len(centred) if pool is None else np.count_nonzero(pool)) or 1
    close = close - np.float32(np.add.reduce(close, dtype=np.float64) / count)
    if pool is not None:
        close *= pool
    spread = (_square(close) / count) ** 0.5
    close *= np.float32(SEMANTIC_WEIGHT / spread if spread > _FLAT else 0)
    if voice is not None:
        close *= voice
    close += lexical
    if len(exact):
        close[exact] += np.float32(EXACT_BONUS)
    return close


def _square(values: Floats) -> float:
    """Return the squared length of a vector, piece by piece, since BLAS starts threads on more."""
    pieces = [values[start : start + _PIECE] for start in range(0, len(values), _PIECE)]
    return sum([float(np.vecdot(piece, piece)) for piece in pieces])


def overheard(
    lexical: Floats,
    chosen: Mask,
    hears: NDArray[np.int64],
    speaks: NDArray[np.int64],
    shares: Floats,
) -> Floats:
    """Return what each record gains from the words of those beside it in its thread.

    An answer need not repeat the words of its question: 0.15 of what the words of one weigh counts
    for the other. A record that was not chosen says nothing.

    Args:
        lexical: Weight of the matched words of each record, shape (n,).
        chosen: Which records are live and pass kinds and filters, shape (n,).
        hears: Places of the records that gain, shape (m,).
        speaks: Places of the records beside them, shape (m,).
        shares: How much of that counts, in (0, 1], shape (m,).
    """
    said = lexical.take(speaks)
    said *= chosen.take(speaks)
    said *= shares
    said *= np.float32(THREAD_WEIGHT)
    return np.bincount(hears, said, len(lexical)).astype(np.float32)


def publish(
    coverage: Floats,
    cosine: Floats,
    embedded: Mask | None,
    exact: Mask | None,
    low: float,
    high: float,
) -> Floats:
    """Return the score in [0, 1] that `minimum_score` applies to.

    It does not depend on how many records the scope has: the cosine between the model's `low`
    (unrelated) and `high` (word for word) and the words' coverage of the question each count as one
    chance of being relevant.

    Args:
        coverage: How much of the question the words cover, float32, shape (n,).
        cosine: Cosine to the question, float32, shape (n,).
        embedded: Which records have an embedding, bool, shape (n,). None: all have.
        exact: Which are named exactly, bool, shape (n,). None: none are.
        low: Cosine of what is unrelated.
        high: Cosine of what is word for word the same.
    """
    apart = np.float32(high) - cosine
    apart /= np.float32(high - low)
    np.maximum(apart, 0, out=apart)
    np.minimum(apart, 1, out=apart)
    if embedded is not None:
        apart[~embedded] = 1
    apart *= 1 - coverage
    if exact is not None:
        apart[exact] = 0
    score: Floats = np.subtract(1, apart, out=apart)
    return score


def arrange(
    chosen: Mask,
    fused: Floats,
    score: Scores,
    seqs: NDArray[np.int64],
    minimum: float,
    limit: int | None,
) -> Ranking:
    """Order the chosen records by fused score, then newest first, and cut at the limit.

    A smaller limit gives a prefix of a larger one. The published score is lowered where needed so
    that it never rises down the list. Scores are read of all records only if one could be below the
    minimum.
    """
    passing, considered = chosen, int(np.count_nonzero(chosen))
    if minimum > 0:
        passing = score[:] >= np.float32(minimum)
        passing &= chosen
    count = int(np.count_nonzero(passing))
    if count == len(fused):
        places = _leading(fused, limit)
    else:
        places = passing.nonzero()[0]
        places = places[_leading(fused[places], limit)]
    best = np.lexsort((-seqs[places], -fused[places]))[:limit]
    order = places[best]
    return Ranking(order, fused[order], np.minimum.accumulate(score[order]), considered - count)


def _leading(ranks: Floats, limit: int | None) -> Places:
    """Return the places of the best ranks, ascending: at least `limit`, and not many more.

    Of many ranks the best of each block tell a number that enough of them reach, so that all are
    looked through once and none are sorted: as many blocks as the limit have a best that reaches
    the limit's best of those bests.
    """
    if limit is None or not 0 < limit < len(ranks):
        return np.arange(len(ranks))
    blocks = len(ranks) // _BLOCK
    if len(ranks) > _MANY and blocks > limit:
        bests = ranks[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
    else:
        bests = ranks.copy()
    found = len(bests) - limit
    bests.partition(found)
    places: Places = (ranks >= bests[found]).nonzero()[0]
    return places


def share(ranking: Ranking, owners: NDArray[np.int64], limit: int) -> Ranking:
    """Cut a ranking over several owners so that shared spaces cannot crowd out own memory.

    Spaces together get half of the limit, and at least one place; each gets an equal part of it,
    and at least one place while there is one. What own memory or a space leaves free goes to the
    best of the rest.

    Args:
        ranking: Everything above the minimum score, best first.
        owners: Number of each channel place's owner, int64; 0 is own memory.
        limit: Most records to keep.
    """
    together = max(1, limit // 2)
    quota = max(1, together // max(1, int(owners.max(initial=0))))
    taken: dict[int, int] = {}
    first: list[int] = []
    later: list[int] = []
    for number, owner in enumerate(owners[ranking.order].tolist()):
        within = owner == 0 or (taken.get(owner, 0) < quota and sum(taken.values()) < together)
        if within and owner:
            taken[owner] = taken.get(owner, 0) + 1
        (first if within else later).append(number)
    kept = sorted([*first[:limit], *later[: max(0, limit - len(first))]])
    return ranking.at(np.array(kept, dtype=np.int64))
