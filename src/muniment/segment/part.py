"""Columns of packed rows: the immutable building block of a segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from muniment.segment.rows import IndexRow

_ENTRY = np.dtype([("word", "<u4"), ("count", "u1")])
_TOGETHER = 16
ALWAYS = np.iinfo(np.int64).min
NOBODY = -1
NEVER = np.iinfo(np.int64).max

Mask = NDArray[np.bool_]
Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Part:
    """n records as columns, ordered by seq.

    Attributes:
        seqs: Place in the scope's order of writing, int64, shape (n,).
        kinds: Index into `kind_names`, int16, shape (n,).
        kind_names: The kinds that occur.
        valid_from: First instant of truth, microseconds, int64, shape (n,).
        valid_until: First instant after truth, microseconds, int64, shape (n,).
        expires_at: First instant after keeping, microseconds, int64, shape (n,).
        follows: The seq of the record before it in its thread, int64, shape (n,); -1 for none.
        lengths: Number of content tokens, float32, shape (n,).
        words: The distinct word hashes, sorted, uint32, shape (v,).
        starts: Where each word's postings begin, int64, shape (v + 1,).
        docs: Record of each posting, int32, shape (p,).
        counts: Occurrences in that record, uint8, shape (p,); 0 marks an exact name.
        vectors: Unit embeddings, float32, shape (n, d); zero where there is none.
        embedded: Which records have an embedding, bool, shape (n,).
        norms: Squared length of each embedding, float32, shape (n,).
        total: Sum of the embeddings, float64, shape (d,).
        drift: Inner product of each embedding with the mean of all, float32, shape (n,), if known.
    """

    seqs: NDArray[np.int64]
    kinds: NDArray[np.int16]
    kind_names: tuple[str, ...]
    valid_from: NDArray[np.int64]
    valid_until: NDArray[np.int64]
    expires_at: NDArray[np.int64]
    follows: NDArray[np.int64]
    lengths: Floats
    words: NDArray[np.uint32]
    starts: NDArray[np.int64]
    docs: NDArray[np.int32]
    counts: NDArray[np.uint8]
    vectors: Floats
    embedded: Mask
    norms: Floats
    total: NDArray[np.float64]
    drift: Floats | None

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.seqs)

    @property
    def nbytes(self) -> int:
        """Bytes the columns take in memory."""
        columns = [getattr(self, name) for name in self.__slots__ if name != "kind_names"]
        return sum([column.nbytes for column in columns if column is not None])

    def postings(self, words: NDArray[np.uint32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where in `docs` and `counts` the postings of each word hash begin and end.

        Args:
            words: Word hashes, shape (k,).

        Returns:
            Begins and ends, int64, shape (k,); equal for an unknown word.
        """
        if not len(self.words):
            nowhere = np.zeros(len(words), dtype=np.int64)
            return nowhere, nowhere
        found = self.words.searchsorted(words)
        begins = self.starts.take(found)
        return begins, self.starts.take(found + (self.words.take(found, mode="clip") == words))


def build(rows: Sequence[IndexRow], dimensions: int) -> Part:
    """Pack rows into columns.

    Args:
        rows: Active records, ordered by seq.
        dimensions: Length of an embedding; 0 without an embedder.
    """
    if not rows:
        return _empty(dimensions)
    seqs, kinds, begins, ends, expires_at, words, vectors, follows = zip(*rows, strict=True)
    entries = np.frombuffer(b"".join(words), dtype=_ENTRY)
    sizes = np.fromiter(map(len, words), np.int64, len(rows)) // _ENTRY.itemsize
    names = {name: number for number, name in enumerate(dict.fromkeys(kinds))}
    return _with_postings(
        words=entries["word"],
        docs=np.repeat(np.arange(len(rows), dtype=np.int32), sizes),
        counts=entries["count"],
        seqs=np.array(seqs, dtype=np.int64),
        kinds=np.fromiter(map(names.__getitem__, kinds), np.int16, len(rows)),
        kind_names=tuple(names),
        valid_from=_numbers(begins, ALWAYS),
        valid_until=_numbers(ends, NEVER),
        expires_at=_numbers(expires_at, NEVER),
        follows=_numbers(follows, NOBODY),
        vectors=_matrix(vectors, dimensions),
        embedded=_given(vectors),
    )


@cache
def _empty(dimensions: int) -> Part:
    instants = np.zeros(0, dtype=np.int64)
    return _with_postings(
        words=np.zeros(0, dtype=np.uint32),
        docs=np.zeros(0, dtype=np.int32),
        counts=np.zeros(0, dtype=np.uint8),
        seqs=instants,
        kinds=np.zeros(0, dtype=np.int16),
        kind_names=(),
        valid_from=instants,
        valid_until=instants,
        expires_at=instants,
        follows=instants,
        vectors=np.zeros((0, dimensions), dtype=np.float32),
        embedded=np.zeros(0, dtype=np.bool_),
    )


def merge(parts: Sequence[tuple[Part, Mask]]) -> Part:
    """Join the kept records of several parts into one, ordered by seq.

    Args:
        parts: Parts and which of their records to keep, bool, shape (n,).
    """
    seqs = np.concatenate([part.seqs[keep] for part, keep in parts])
    order = np.argsort(seqs, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    names = tuple(dict.fromkeys(name for part, _ in parts for name in part.kind_names))

    def column(name: str) -> NDArray[np.int64]:
        joined: NDArray[np.int64] = np.concatenate([getattr(p, name)[keep] for p, keep in parts])
        return joined[order]

    postings = _kept_postings(parts)
    return _with_postings(
        words=postings[0],
        docs=place[postings[1]],
        counts=postings[2],
        seqs=seqs[order],
        kinds=np.concatenate([_renamed(part, names)[keep] for part, keep in parts])[order],
        kind_names=names,
        valid_from=column("valid_from"),
        valid_until=column("valid_until"),
        expires_at=column("expires_at"),
        follows=column("follows"),
        vectors=np.concatenate([part.vectors[keep] for part, keep in parts])[order],
        embedded=np.concatenate([part.embedded[keep] for part, keep in parts])[order],
    )


def _kept_postings(
    parts: Sequence[tuple[Part, Mask]],
) -> tuple[NDArray[np.uint32], NDArray[np.int32], NDArray[np.uint8]]:
    words, docs, counts, offset = [], [], [], 0
    for part, keep in parts:
        kept = keep[part.docs]
        renumbered = np.cumsum(keep, dtype=np.int32) - 1 + np.int32(offset)
        words.append(np.repeat(part.words, np.diff(part.starts))[kept])
        docs.append(renumbered[part.docs[kept]])
        counts.append(part.counts[kept])
        offset += int(keep.sum())
    return np.concatenate(words), np.concatenate(docs), np.concatenate(counts)


def _renamed(part: Part, names: tuple[str, ...]) -> NDArray[np.int16]:
    numbers = np.array([names.index(name) for name in part.kind_names] or [0], dtype=np.int16)
    return numbers[part.kinds]


def _with_postings(
    *,
    words: NDArray[np.uint32],
    docs: NDArray[np.int32],
    counts: NDArray[np.uint8],
    seqs: NDArray[np.int64],
    kinds: NDArray[np.int16],
    kind_names: tuple[str, ...],
    valid_from: NDArray[np.int64],
    valid_until: NDArray[np.int64],
    expires_at: NDArray[np.int64],
    follows: NDArray[np.int64],
    vectors: Floats,
    embedded: Mask,
) -> Part:
    order, distinct, starts = _sorted(words)
    return Part(
        seqs=seqs,
        kinds=kinds,
        kind_names=kind_names,
        valid_from=valid_from,
        valid_until=valid_until,
        expires_at=expires_at,
        follows=follows,
        lengths=np.bincount(docs, weights=counts, minlength=len(seqs)).astype(np.float32),
        words=distinct,
        starts=starts,
        docs=docs[order],
        counts=counts[order],
        vectors=vectors,
        embedded=embedded,
        norms=np.vecdot(vectors, vectors),
        total=summed(vectors),
        drift=None,
    )


def summed(vectors: Floats) -> NDArray[np.float64]:
    """Return the sum of all vectors; sixteen at a time in float32, which is twice as fast."""
    whole = len(vectors) // _TOGETHER * _TOGETHER
    groups = vectors[:whole].reshape(whole // _TOGETHER, _TOGETHER, vectors.shape[1])
    total: NDArray[np.float64] = groups.sum(axis=1).sum(axis=0, dtype=np.float64)
    total += vectors[whole:].sum(axis=0, dtype=np.float64)
    return total


def _sorted(
    words: NDArray[np.uint32],
) -> tuple[NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]:
    """Return a stable order of the word hashes, the distinct ones, and where each begins."""
    keys = words.astype(np.uint64) << np.uint64(32)
    keys |= np.arange(len(words), dtype=np.uint64)
    keys.sort()
    ordered = (keys >> np.uint64(32)).astype(np.uint32)
    fresh = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    first = np.flatnonzero(fresh)
    order = (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return order, ordered[first], np.append(first, len(words))


def _numbers(values: Sequence[int | None], missing: int) -> NDArray[np.int64]:
    if values.count(None) == len(values):
        return np.full(len(values), missing, dtype=np.int64)
    return np.array([missing if value is None else value for value in values], dtype=np.int64)


def _given(blobs: Sequence[bytes | None]) -> Mask:
    if None not in blobs:
        return np.ones(len(blobs), dtype=np.bool_)
    return np.fromiter((blob is not None for blob in blobs), np.bool_, len(blobs))


def _matrix(blobs: Sequence[bytes | None], dimensions: int) -> Floats:
    empty = bytes(4 * dimensions)
    joined = b"".join([empty if blob is None else blob for blob in blobs])
    return np.frombuffer(joined, dtype="<f4").reshape(len(blobs), dimensions)
