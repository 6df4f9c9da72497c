"""A scope's records packed into one string of bytes, from which a segment is read at once."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from muniment.segment.matrix import Matrix
from muniment.segment.part import ALWAYS, NEVER, Floats, Mask, Part, placed

_HEAD = struct.Struct("<4sIIII")
_MARK = b"blk2"
_ALIGN = 8
_NARROW = 1 << 16
_INSTANTS = (("valid_from", ALWAYS), ("valid_until", NEVER), ("expires_at", NEVER))


def encode(part: Part, packed: Mapping[int, Mask]) -> bytes:
    """Return everything of a part but its vectors, ready to be read without copying.

    A head of a mark, the number of records, distinct words and postings and the length of a JSON
    list (names of the kinds, which of the three instants any record has, numbers of the models);
    then that list and the columns as little-endian arrays, each at a multiple of eight bytes.

    Args:
        part: Records of one scope.
        packed: For each model the records whose vectors lie in blocks too, bool, shape (n,).
    """
    given = [name for name, missing in _INSTANTS if (getattr(part, name) != missing).any()]
    said = json.dumps([part.kind_names, given, list(packed)]).encode()
    head = _HEAD.pack(_MARK, len(part), len(part.words), len(part.docs), len(said))
    columns = [
        part.seqs.astype("<i8"),
        *(getattr(part, name).astype("<i8") for name in given),
        part.words.astype("<u4"),
        part.starts.astype("<u4"),
        part.lengths.astype("<f4"),
        part.docs.astype(_narrow(len(part))),
        part.kinds.astype("<i2"),
        part.counts,
        *packed.values(),
    ]
    return b"".join(_padded(one) for one in (head, said, *(c.tobytes() for c in columns)))


def _narrow(records: int) -> str:
    return "<u2" if records <= _NARROW else "<u4"


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGN)


class _Reader:
    """Takes one array after the other from a block."""

    def __init__(self, content: bytes, start: int) -> None:
        self._content = content
        self._start = start

    def take(self, kind: str, count: int) -> NDArray[np.generic]:
        found = np.frombuffer(self._content, dtype=kind, count=count, offset=self._start)
        self._start += found.nbytes + -found.nbytes % _ALIGN
        return found


class Unpacked(NamedTuple):
    """A part, and what its block says of vectors.

    Attributes:
        part: The records.
        packed: Which of them have a vector in a block, bool, shape (n,).
    """

    part: Part
    packed: Mask


def decode(content: bytes, matrix: Matrix | None, dimensions: int, slot: int | None) -> Unpacked:
    """Return the part that was encoded, with the vectors of its records.

    Args:
        content: What `encode` returned.
        matrix: Vectors by one model; those of other records are left out.
        dimensions: Length of an embedding; 0 without an embedder.
        slot: The number of that model, or None.
    """
    _, records, words, postings, said = _HEAD.unpack_from(content)
    start = _HEAD.size + -_HEAD.size % _ALIGN
    names, given, slots = json.loads(content[start : start + said])
    reader = _Reader(content, start + said + -said % _ALIGN)
    seqs = reader.take("<i8", records).astype(np.int64, copy=False)
    instants = {
        name: reader.take("<i8", records).astype(np.int64, copy=False)
        if name in given
        else np.full(records, missing, dtype=np.int64)
        for name, missing in _INSTANTS
    }
    vectors, embedded, norms, total = _aligned(seqs, matrix, dimensions)
    part = placed(
        seqs=seqs,
        kind_names=tuple(names),
        **instants,
        words=reader.take("<u4", words).astype(np.uint32, copy=False),
        starts=reader.take("<u4", words + 1).astype(np.int64),
        lengths=reader.take("<f4", records).astype(np.float32, copy=False),
        docs=reader.take(_narrow(records), postings).astype(np.int32),
        kinds=reader.take("<i2", records).astype(np.int16, copy=False),
        counts=reader.take("u1", postings).astype(np.uint8, copy=False),
        vectors=vectors,
        embedded=embedded,
        norms=norms,
        total=total,
    )
    packed = {number: reader.take("?", records).astype(np.bool_, copy=False) for number in slots}
    return Unpacked(part, packed.get(slot, np.zeros(records, dtype=np.bool_)))


def _aligned(
    seqs: NDArray[np.int64], matrix: Matrix | None, dimensions: int
) -> tuple[Floats, Mask, Floats | None, NDArray[np.float64] | None]:
    """Return the vectors of records, which have one, and norms and sum as far as they are known."""
    if matrix is None:
        empty = np.zeros((len(seqs), dimensions), dtype=np.float32)
        return empty, np.zeros(len(seqs), dtype=np.bool_), None, None
    if np.array_equal(matrix.seqs, seqs):
        return matrix.vectors, np.ones(len(seqs), dtype=np.bool_), matrix.norms, matrix.total
    vectors = np.zeros((len(seqs), dimensions), dtype=np.float32)
    embedded = np.isin(seqs, matrix.seqs)
    vectors[embedded] = matrix.vectors[np.searchsorted(matrix.seqs, seqs[embedded])]
    return vectors, embedded, None, None
