"""Records that stand beside each other in a thread, and how much one may say of the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import NOBODY, Floats, Mask

BRIEF = 30


class Beside(NamedTuple):
    """Pairs of neighbours in a thread, each once in either direction.

    Attributes:
        hears: Places of the records that gain, int64, shape (m,).
        speaks: Places of the records beside them, int64, shape (m,).
        shares: How much of what is said for a neighbour counts, float32, shape (m,), in (0, 1].
    """

    hears: NDArray[np.int64]
    speaks: NDArray[np.int64]
    shares: Floats


def beside(
    seqs: NDArray[np.int64], follows: NDArray[np.int64], lengths: NDArray[np.int32], here: Mask
) -> Beside:
    """Return the neighbours among the records of one owner.

    A turn of a conversation is short and leaves to its neighbours what it is about; a long record
    says it itself. So each of a pair counts whole up to 30 content tokens, and in inverse
    proportion to them above.

    Args:
        seqs: Place of each record in the scope's order of writing, int64, shape (n,).
        follows: The seq of the record before it in its thread, int64, shape (n,); -1 for none.
        lengths: Number of content tokens of each, int32, shape (n,).
        here: Which of them the segment still has, bool, shape (n,).
    """
    later = np.flatnonzero(here & (follows != NOBODY))
    if not len(later):
        return NOTHING
    present = np.flatnonzero(here)
    present = present[np.argsort(seqs[present])]
    ordered = seqs[present]
    found = np.searchsorted(ordered, follows[later])
    is_there = ordered.take(found, mode="clip") == follows[later]
    later, earlier = later[is_there], present[found[is_there]]
    brevity = np.float32(BRIEF) / np.maximum(lengths, BRIEF).astype(np.float32)
    shares = brevity[later] * brevity[earlier]
    followers = np.bincount(earlier, minlength=len(seqs)).astype(np.float32)
    return Beside(
        np.concatenate([later, earlier]),
        np.concatenate([earlier, later]),
        np.concatenate([shares, shares / followers[earlier]]),
    )


NOTHING = Beside(
    np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
)
"""No two records are neighbours."""


def one_after_the_other(owners: Sequence[tuple[Beside, int]]) -> Beside:
    """Return the neighbours among the records of several owners, one owner after the other.

    Args:
        owners: The neighbours among each owner's records, and how many records it has.
    """
    start, moved = 0, []
    for own, size in owners:
        moved.append(Beside(own.hears + start, own.speaks + start, own.shares))
        start += size
    return Beside(*map(np.concatenate, zip(*moved, strict=True)))
