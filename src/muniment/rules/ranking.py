"""Fuses the channels, publishes a score and orders the hits; ties always fall the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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


def reordered(ranking: Ranking, places: Sequence[int], score: Floats) -> Ranking:
    """Return a ranking in another order, its scores lowered so that they never rise.

    Args:
        ranking: The records.
        places: Places of its order, in the new order.
        score: Published score of each record of the channels, float32.
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
    if pool is None:
        fused = _with_vote(lexical, centred, voice)
    else:
        heard = None if voice is None else voice[pool]
        fused = lexical.copy()
        fused[pool] = _with_vote(lexical[pool], centred[pool], heard)
    if len(exact):
        fused[exact] += np.float32(EXACT_BONUS)
    return fused


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


def _with_vote(lexical: Floats, centred: Floats, voice: Floats | None) -> Floats:
    close, count = centred.astype(np.float64), len(centred) or 1
    close -= np.add.reduce(close) / count
    spread = float(np.add.reduce(close * close) / count) ** 0.5
    close *= SEMANTIC_WEIGHT / spread if spread > _FLAT else 0.0
    if voice is not None:
        close *= voice
    close += lexical
    fused: Floats = close.astype(np.float32)
    return fused


def publish(
    coverage: Floats, cosine: Floats, unembedded: Places, exact: Places, low: float, high: float
) -> Floats:
    """Return the score in [0, 1] that `minimum_score` applies to.

    It does not depend on how many records the scope has: the cosine between the model's `low`
    (unrelated) and `high` (word for word) and the words' coverage of the question each count as one
    chance of being relevant.

    Args:
        coverage: How much of the question the words cover, float32, shape (n,).
        cosine: Cosine to the question, float32, shape (n,).
        unembedded: Which records have no embedding.
        exact: Which are named exactly.
        low: Cosine of what is unrelated.
        high: Cosine of what is word for word the same.
    """
    apart = np.float32(high) - cosine
    apart /= np.float32(high - low)
    np.maximum(apart, 0, out=apart)
    np.minimum(apart, 1, out=apart)
    if len(unembedded):
        apart[unembedded] = 1
    apart *= 1 - coverage
    score: Floats = np.subtract(1, apart, out=apart)
    if len(exact):
        score[exact] = 1
    return score


def arrange(
    chosen: Mask,
    fused: Floats,
    score: Floats,
    seqs: NDArray[np.int64],
    minimum: float,
    limit: int | None,
) -> Ranking:
    """Order the chosen records by fused score, then newest first, and cut at the limit.

    A smaller limit gives a prefix of a larger one. The published score is lowered where needed so
    that it never rises down the list.
    """
    passing = score >= np.float32(minimum)
    passing &= chosen
    count = int(np.count_nonzero(passing))
    below = int(np.count_nonzero(chosen)) - count
    if limit is not None and 0 < limit < count:
        ranks = fused if count == len(fused) else np.where(passing, fused, -np.float32(np.inf))
        passing &= ranks >= _floor(ranks, limit)
    places = passing.nonzero()[0]
    ranks = fused[places]
    best = np.lexsort((-seqs[places], -ranks))[:limit]
    order, ranks = places[best], ranks[best]
    return Ranking(order, ranks, np.minimum.accumulate(score[order]), below)


def _floor(ranks: Floats, limit: int) -> np.float32:
    """Return a number that at least `limit` ranks reach, and not many more.

    Of many ranks the best of each block tell it, so that all are looked through once and none are
    sorted: as many blocks as the limit have a best that reaches the limit's best of those bests.
    """
    blocks = len(ranks) // _BLOCK
    if len(ranks) > _MANY and blocks > limit:
        ranks = ranks[: blocks * _BLOCK].reshape(_BLOCK, blocks).max(axis=0)
    found = len(ranks) - limit
    sorted_there = ranks.copy()
    sorted_there.partition(found)
    least: np.float32 = sorted_there[found]
    return least


def share(ranking: Ranking, owners: NDArray[np.int64], limit: int) -> Ranking:
    """Cut a ranking over several owners so that shared spaces cannot crowd out own memory.

    Spaces together get half of the limit, each at least one place; what own memory or a space
    leaves free goes to the best of the rest.

    Args:
        ranking: Everything above the minimum score, best first.
        owners: Number of each channel place's owner, int64; 0 is own memory.
        limit: Most records to keep.
    """
    spaces = int(owners.max(initial=0))
    quota = max(1, limit // (2 * spaces)) if spaces else limit
    taken: dict[int, int] = {}
    first: list[int] = []
    later: list[int] = []
    for number, owner in enumerate(owners[ranking.order].tolist()):
        taken[owner] = taken.get(owner, 0) + 1
        (first if owner == 0 or taken[owner] <= quota else later).append(number)
    kept = sorted([*first[:limit], *later[: max(0, limit - len(first))]])
    return ranking.at(np.array(kept, dtype=np.int64))
