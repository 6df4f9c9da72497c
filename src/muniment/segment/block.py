"""A scope's records packed into one string of bytes, from which a segment is read at once."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muniment.segment.matrix import Gathering, check_mark
from muniment.segment.part import ALWAYS, NEVER, NOBODY, Floats, Mask, Part, summed
from muniment.segment.vectors import mean_of

_HEAD = struct.Struct("<4sIIII")
_MARK = b"blk4"
_ALIGN = 8
_NARROW = 1 << 16
_RARE = (
    ("valid_from", ALWAYS),
    ("valid_until", NEVER),
    ("expires_at", NEVER),
    ("follows", NOBODY),
)


def with_vectors(part: Part, contents: Iterable[bytes | memoryview]) -> Part:
    """Return a part with the vectors of its records, prepared to be packed.

    Args:
        part: Records of one scope.
        contents: Encoded matrices of one model by seq; vectors of other records are left out.
    """
    vectors, embedded = Gathering().of(part.seqs, contents)
    total = summed(vectors)
    mean = mean_of(total, int(np.count_nonzero(embedded)))
    return replace(
        part,
        vectors=vectors,
        embedded=embedded,
        norms=np.vecdot(vectors, vectors),
        total=total,
        drift=np.vecdot(vectors, mean),
    )


def encode(part: Part, embedded: Mapping[int, Part]) -> bytes:
    """Return everything of a part but its vectors, ready to be read without copying.

    A head of a mark, the number of records, distinct words and postings and the length of a JSON
    list (names of the kinds, which of the three instants and of `follows` any record has, number
    and dimensions of the models); then that list and the columns as little-endian arrays, each at a
    multiple of eight bytes.

    Args:
        part: Records of one scope.
        embedded: For each model the same records `with_vectors` of those that lie in blocks too.
    """
    given = [name for name, missing in _RARE if (getattr(part, name) != missing).any()]
    models = [(slot, len(one.total)) for slot, one in embedded.items()]
    said = json.dumps([part.kind_names, given, models]).encode()
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
    ]
    for one in embedded.values():
        assert one.drift is not None
        columns += [one.embedded, one.norms.astype("<f4"), one.drift.astype("<f4")]
        columns.append(one.total.astype("<f8"))
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

    def take(self, kind: str, count: int) -> NDArray[Any]:
        found = np.frombuffer(self._content, dtype=kind, count=count, offset=self._start)
        self._start += found.nbytes + -found.nbytes % _ALIGN
        return found if found.dtype.isnative else found.astype(found.dtype.newbyteorder())


class _Known(NamedTuple):
    """What is known of the vectors of one model; see `Part` for the last three."""

    packed: Mask
    norms: Floats
    drift: Floats | None
    total: NDArray[np.float64]


def _known(reader: _Reader, records: int, dimensions: int) -> _Known:
    kinds = (("?", records), ("<f4", records), ("<f4", records), ("<f8", dimensions))
    return _Known(*[reader.take(kind, count) for kind, count in kinds])


class Unpacked(NamedTuple):
    """A part, and what its block says of vectors.

    Attributes:
        part: The records.
        packed: Which of them have a vector in a block, bool, shape (n,).
    """

    part: Part
    packed: Mask


def decode(
    content: bytes, contents: Iterable[bytes | memoryview], slot: int | None, gathering: Gathering
) -> Unpacked:
    """Return the part that was encoded, with the vectors of its records.

    Args:
        content: What `encode` returned.
        contents: Encoded matrices of one model by seq; vectors of other records are left out.
        slot: The number of that model, or None.
        gathering: Takes them.

    Raises:
        StoreVersionError: It was encoded in another form.
    """
    mark, records, words, postings, said = _HEAD.unpack_from(content)
    check_mark(mark, _MARK)
    start = _HEAD.size + -_HEAD.size % _ALIGN
    names, given, models = json.loads(content[start : start + said])
    reader = _Reader(content, start + said + -said % _ALIGN)
    seqs = reader.take("<i8", records)
    rare = {
        name: reader.take("<i8", records)
        if name in given
        else np.ndarray(records, np.int64, np.int64(missing).tobytes(), strides=(0,))
        for name, missing in _RARE
    }
    columns = {
        "words": reader.take("<u4", words),
        "starts": reader.take("<u4", words + 1).astype(np.int64),
        "lengths": reader.take("<f4", records),
        "docs": reader.take(_narrow(records), postings).astype(np.int32),
        "kinds": reader.take("<i2", records),
        "counts": reader.take("u1", postings),
    }
    known = {number: _known(reader, records, size) for number, size in models}.get(slot)
    vectors, embedded = gathering.of(seqs, contents)
    packed = np.zeros(records, dtype=np.bool_) if known is None else known.packed
    if known is None or not (embedded == packed).all():
        known = _Known(packed, np.vecdot(vectors, vectors), None, summed(vectors))
    part = Part(
        seqs=seqs,
        kind_names=tuple(names),
        **rare,
        **columns,
        vectors=vectors,
        embedded=embedded,
        norms=known.norms,
        drift=known.drift,
        total=known.total,
    )
    return Unpacked(part, packed)
