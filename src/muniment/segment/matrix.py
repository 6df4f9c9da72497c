"""The vectors of many records of one scope, by one model, as one string of bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from muniment.errors import StoreVersionError
from muniment.segment.part import Floats, Mask

_HEAD = struct.Struct("<4sIIxxxx")
_MARK = b"vec2"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of n records, ordered by seq.

    Attributes:
        seqs: Whose they are, int64, shape (n,).
        vectors: Unit embeddings, float32, shape (n, d).
    """

    seqs: NDArray[np.int64]
    vectors: Floats

    def __len__(self) -> int:
        """Return the number of records."""
        return len(self.seqs)

    def kept(self, keep: Mask) -> Matrix:
        """Return the matrix of some of the records; `keep` is bool, shape (n,)."""
        return Matrix(self.seqs[keep], self.vectors[keep])

    def stored(self) -> list[tuple[int, bytes]]:
        """Return each record's seq and its vector as a row holds it."""
        rows = (row.tobytes() for row in self.vectors.astype("<f4", copy=False))
        return list(zip(self.seqs.tolist(), rows, strict=True))


def from_rows(rows: Sequence[tuple[int, bytes]]) -> Matrix:
    """Return the matrix of vectors as rows hold them, ordered by seq.

    Args:
        rows: Seq and little-endian float32 vector of each, at least one.
    """
    seqs, blobs = zip(*rows, strict=True)
    found = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(rows), -1)
    return Matrix(np.array(seqs, dtype=np.int64), found.astype(np.float32, copy=False))


def joined(matrices: Sequence[Matrix]) -> Matrix:
    """Return several matrices as one, ordered by seq; at least one of equal dimensions."""
    seqs = np.concatenate([one.seqs for one in matrices])
    vectors = np.concatenate([one.vectors for one in matrices])
    order = np.argsort(seqs, kind="stable")
    return Matrix(seqs[order], vectors[order])


def gathered(
    seqs: NDArray[np.int64], matrices: Iterable[Matrix], dimensions: int = 0
) -> tuple[Floats, Mask]:
    """Return the vectors of records in their order, and which of them have one.

    Args:
        seqs: The records in order, int64, shape (n,).
        matrices: Their vectors, and perhaps those of other records; gone through once.
        dimensions: Length of a vector where there is none.
    """
    vectors, embedded = None, np.zeros(len(seqs), dtype=np.bool_)
    for one in matrices:
        if len(one) == len(seqs) and (one.seqs == seqs).all():
            return one.vectors, np.ones(len(seqs), dtype=np.bool_)
        if vectors is None:
            vectors = np.zeros((len(seqs), one.vectors.shape[1]), dtype=np.float32)
        begin, end = seqs.searchsorted([one.seqs[0], one.seqs[-1] + 1])
        if np.array_equal(one.seqs, seqs[begin:end]):
            vectors[begin:end] = one.vectors
            embedded[begin:end] = True
        else:
            here = np.isin(seqs[begin:end], one.seqs)
            places = begin + np.flatnonzero(here)
            vectors[places] = one.vectors[one.seqs.searchsorted(seqs[places])]
            embedded[places] = True
    if vectors is None:
        vectors = np.zeros((len(seqs), dimensions), dtype=np.float32)
    return vectors, embedded


def encode(matrix: Matrix) -> bytes:
    """Return a matrix as bytes, ready to be read without copying.

    A head of a mark, the number of records and the dimensions; then seqs and vectors as
    little-endian arrays.
    """
    return b"".join(
        (
            _HEAD.pack(_MARK, *matrix.vectors.shape),
            matrix.seqs.astype("<i8").tobytes(),
            matrix.vectors.astype("<f4", copy=False).tobytes(),
        )
    )


def decode(content: bytes) -> Matrix:
    """Return the matrix that was encoded; its arrays lie in `content`.

    Raises:
        StoreVersionError: It was encoded in another form.
    """
    mark, count, dimensions = _HEAD.unpack_from(content)
    check_mark(mark, _MARK)
    seqs = np.frombuffer(content, "<i8", count, _HEAD.size)
    vectors = np.frombuffer(content, "<f4", count * dimensions, _HEAD.size + seqs.nbytes)
    return Matrix(
        seqs.astype(np.int64, copy=False),
        vectors.reshape(count, dimensions).astype(np.float32, copy=False),
    )


def check_mark(found: bytes, known: bytes) -> None:
    """Refuse a block that begins with another mark than the one that is known.

    Raises:
        StoreVersionError: It does.
    """
    if found != known:
        raise StoreVersionError(
            "Packed records of this store have a form that this muniment does not know; use the "
            "version that wrote them, or export with it and import here."
        )


def without(content: bytes, seqs: AbstractSet[int]) -> bytes | None:
    """Return an encoded matrix without some records; None when none is left."""
    matrix = decode(content)
    keep = ~np.isin(matrix.seqs, np.fromiter(seqs, np.int64, len(seqs)))
    if keep.all():
        return content
    return encode(matrix.kept(keep)) if keep.any() else None
