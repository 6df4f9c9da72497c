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


class Gathering:
    """Brings the vectors of a scope's records into one array, block by block.

    A block that is read into `room` is not copied: its vectors come to lie where they belong,
    behind those of the block before. Its head covers the end of those until it was looked at.

    Args:
        dimensions: Length of a vector; 0 without a model, or where the blocks tell.
    """

    def __init__(self, dimensions: int = 0) -> None:
        self._dimensions = dimensions
        self._seqs = np.zeros(0, dtype=np.int64)
        self._memory = np.zeros(0, dtype=np.uint8)
        self._filled = 0
        self._room: memoryview | None = None
        self._under: tuple[slice, NDArray[np.uint8]] | None = None

    def room(self, size: int) -> memoryview:
        """Return the memory for the next block, of so many bytes."""
        self._vectors()
        row = 4 * self._dimensions
        head = size - (size - _HEAD.size) // (8 + row) * row
        start = self._lead + self._filled * row - head
        if not 0 <= start <= len(self._memory) - size:
            return memoryview(bytearray(size))
        place = slice(start, start + head)
        self._under = place, self._memory[place].copy()
        self._room = self._memory[start : start + size].data
        return self._room

    def of(
        self, seqs: NDArray[np.int64], contents: Iterable[bytes | memoryview]
    ) -> tuple[Floats, Mask]:
        """Return the vectors of records in their order, and which of them have one.

        Args:
            seqs: The records in order, int64, shape (n,).
            contents: Encoded matrices by seq, perhaps with vectors of other records too.
        """
        self._seqs = seqs
        embedded = np.zeros(len(seqs), dtype=np.bool_)
        for content in contents:
            one = decode(content)
            self._dimensions = one.vectors.shape[1]
            here = slice(self._filled, self._filled + len(one))
            fits = len(one) == len(seqs[here]) and bool((one.seqs == seqs[here]).all())
            if fits and len(one) == len(seqs):
                return one.vectors, np.ones(len(seqs), dtype=np.bool_)
            is_there = content is self._room
            places, vectors = (here, one.vectors) if fits else self._belonging(one)
            self._uncover()
            if not fits or not is_there:
                self._vectors()[places] = vectors
            embedded[places] = True
            filled = np.flatnonzero(embedded)
            self._filled = int(filled[-1]) + 1 if len(filled) else 0
        vectors = self._vectors()
        vectors[~embedded] = 0
        return vectors, embedded

    def _uncover(self) -> None:
        """Bring back what the head of the block that was read last covers."""
        if self._under is not None:
            place, covered = self._under
            self._memory[place] = covered
            self._under = None

    def _belonging(self, one: Matrix) -> tuple[NDArray[np.intp], Floats]:
        """Return the places of those records that are wanted, and a copy of their vectors."""
        known = np.isin(one.seqs, self._seqs)
        return self._seqs.searchsorted(one.seqs[known]), one.vectors[known]

    @property
    def _lead(self) -> int:
        return _HEAD.size + self._seqs.nbytes

    def _vectors(self) -> Floats:
        """Return the array, which is made when the first vectors come."""
        if not len(self._memory):
            whole = 4 * len(self._seqs) * self._dimensions
            self._memory = np.empty(self._lead + whole, dtype=np.uint8)
        vectors: Floats = self._memory[self._lead :].view("<f4")
        return vectors.reshape(len(self._seqs), self._dimensions)


def encode(matrix: Matrix) -> bytes:
    """Return a matrix as bytes, ready to be read without copying.

    A head: a mark, the number of records, the dimensions and the seqs; then the vectors. Arrays are
    little-endian.
    """
    return b"".join(
        (
            _HEAD.pack(_MARK, *matrix.vectors.shape),
            matrix.seqs.astype("<i8").tobytes(),
            matrix.vectors.astype("<f4", copy=False).tobytes(),
        )
    )


def decode(content: bytes | memoryview) -> Matrix:
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
