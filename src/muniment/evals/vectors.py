"""Vectors kept in a file, so that a repeated evaluation embeds nothing twice."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

import numpy as np

from muniment.errors import InvalidInputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muniment.ports import Calibration, Embedder, EmbeddingModel

_KEY_BYTES = 16


class KeptVectors:
    """An embedder that asks another one only for what its file does not hold.

    The file belongs to one model. Its first line names the model as JSON; after it every entry is
    a 16-byte hash of the text and its use, and the float32 vector. It is only ever added to, so a
    run that was stopped is continued.

    Args:
        embedder: Who is asked.
        path: The file; made if there is none.

    Raises:
        InvalidInputError: The file is not such a file, or another model's.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._model = embedder.model
        self._known: dict[bytes, NDArray[np.float32]] = {}
        if path.exists() and path.stat().st_size:
            self._load(path)
            self._file = path.open("ab")
        else:
            self._file = path.open("ab")
            self._file.write(self._head())

    def _head(self) -> bytes:
        model = self._model
        named = {"name": model.name, "version": model.version, "dimensions": model.dimensions}
        return json.dumps(named).encode() + b"\n"

    def _load(self, path: Path) -> None:
        head = self._head()
        with path.open("rb") as file:
            if file.readline() != head:
                raise InvalidInputError(
                    f"{path.name} holds no vectors of this model; name another file."
                )
            body = file.read()
        entry = np.dtype([("key", f"V{_KEY_BYTES}"), ("vector", "<f4", self._model.dimensions)])
        whole = len(body) // entry.itemsize
        if whole * entry.itemsize < len(body):
            with path.open("r+b") as file:
                file.truncate(len(head) + whole * entry.itemsize)
        entries = np.frombuffer(body, dtype=entry, count=whole)
        keys = (bytes(key) for key in entries["key"])
        self._known = dict(zip(keys, entries["vector"].astype(np.float32), strict=True))

    @property
    def model(self) -> EmbeddingModel:
        """The model of the one that is asked."""
        return self._model

    @property
    def calibration(self) -> Calibration:
        """How its cosines are published as scores."""
        return self._embedder.calibration

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions).

        Raises:
            ProviderError: The model failed.
        """
        keys = [_key(b"passage", text) for text in texts]
        fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if fresh:
            rows = self._embedder.embed_passages(list(fresh.values()))
            for key, row in zip(fresh, rows, strict=True):
                self._keep(key, row)
        return np.stack([self._known[key] for key in keys])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimensions,).

        Raises:
            ProviderError: The model failed.
        """
        key = _key(b"query", text)
        if key not in self._known:
            self._keep(key, self._embedder.embed_query(text))
        return self._known[key]

    def _keep(self, key: bytes, row: NDArray[np.float32]) -> None:
        self._known[key] = row.astype(np.float32)
        self._file.write(key + row.astype("<f4").tobytes())

    def close(self) -> None:
        """Close the file. Closing twice is allowed."""
        self._file.close()

    def __enter__(self) -> Self:
        """Return the embedder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()


def _key(use: bytes, text: str) -> bytes:
    hashed = blake2b(digest_size=_KEY_BYTES, person=use)
    hashed.update(text.encode("utf-8", "surrogatepass"))
    return hashed.digest()
