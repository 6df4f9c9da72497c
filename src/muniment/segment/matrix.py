"""The vectors of many records of one scope, by one model, as one string of bytes."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muniment.segment.part import Floats, Mask, summed

_HEAD = struct.Struct("<4sIIxxxx")
_MARK = b"vec1"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of n records, ordered by seq.

    Attributes:
        seqs: Whose they are, int64, shape (n,).
        vectors: Unit embeddings, float32, shape (n, d).
        norms: Squared length of each, float32, shape (n,).
        total: Their sum, float64, shape (d,).
    """

    seqs: NDArray[np.int64]
    vectors: Floats
    norms: Floats
    total: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.seqs)

    def kept(self, keep: Mask) -> Matrix:
        """Return the matrix of some of the records; `keep` is bool, shape (n,)."""
        return of(self.seqs[keep], self.vectors[keep])

    def stored(self) -> list[tuple[int, bytes]]:
        """Return each record's seq and its vector as a row holds it."""
        rows = (row.tobytes() for row in self.vectors.astype("<f4", copy=False))
        return list(zip(self.seqs.tolist(), rows, strict=True))


def of(seqs: NDArray[np.int64], vectors: Floats) -> Matrix:
    """Return the matrix of records in order; see `Matrix` for the shapes."""
    return Matrix(seqs, vectors, np.vecdot(vectors, vectors), summed(vectors))


def from_rows(rows: Sequence[tuple[int, bytes]]) -> Matrix:
    """Return the matrix of vectors as rows hold them, ordered by seq.

    Args:
        rows: Seq and little-endian float32 vector of each, at least one.
    """
    seqs, blobs = zip(*rows, strict=True)
    found = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(rows), -1)
    return of(np.array(seqs, dtype=np.int64), found.astype(np.float32, copy=False))


def joined(matrices: Sequence[Matrix]) -> Matrix:
    """Return several matrices as one, ordered by seq; at least one of equal dimensions."""
    if len(matrices) == 1:
        return matrices[0]
    seqs = np.concatenate([one.seqs for one in matrices])
    vectors = np.concatenate([one.vectors for one in matrices])
    norms = np.concatenate([one.norms for one in matrices])
    total: NDArray[np.float64] = np.sum([one.total for one in matrices], axis=0)
    if (seqs[1:] > seqs[:-1]).all():
        return Matrix(seqs, vectors, norms, total)
    order = np.argsort(seqs, kind="stable")
    return Matrix(seqs[order], vectors[order], norms[order], total)


def encode(matrix: Matrix) -> bytes:
    """Return a matrix as bytes, ready to be read without copying.

    A head of a mark, the number of records and the dimensions; then seqs, sum, squared lengths and
    vectors as little-endian arrays, each at a multiple of eight bytes.
    """
    count, dimensions = matrix.vectors.shape
    norms = matrix.norms.astype("<f4").tobytes()
    return b"".join(
        (
            _HEAD.pack(_MARK, count, dimensions),
            matrix.seqs.astype("<i8").tobytes(),
            matrix.total.astype("<f8").tobytes(),
            norms + bytes(len(norms) % 8),
            matrix.vectors.astype("<f4", copy=False).tobytes(),
        )
    )


def decode(content: bytes) -> Matrix:
    """Return the matrix that was encoded; its arrays lie in `content`."""
    _, count, dimensions = _HEAD.unpack_from(content)
    place = _HEAD.size
    seqs = np.frombuffer(content, "<i8", count, place)
    place += 8 * count
    total = np.frombuffer(content, "<f8", dimensions, place)
    place += 8 * dimensions
    norms = np.frombuffer(content, "<f4", count, place)
    place += 4 * (count + count % 2)
    vectors = np.frombuffer(content, "<f4", count * dimensions, place)
    return Matrix(
        seqs.astype(np.int64, copy=False),
        vectors.reshape(count, dimensions).astype(np.float32, copy=False),
        norms.astype(np.float32, copy=False),
        total.astype(np.float64, copy=False),
    )


def without(content: bytes, seqs: AbstractSet[int]) -> bytes | None:
    """Return an encoded matrix without some records; None when none is left."""
    matrix = decode(content)
    keep = ~np.isin(matrix.seqs, np.fromiter(seqs, np.int64, len(seqs)))
    if keep.all():
        return content
    return encode(matrix.kept(keep)) if keep.any() else None
