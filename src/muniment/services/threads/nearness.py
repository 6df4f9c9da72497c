"""Embeddings of items, kept with them, and exact cosines to them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from muniment.errors import InvalidInputError
from muniment.services.threads.places import finite


@dataclass(frozen=True, slots=True)
class Vectors:
    """Unit vectors of one item, of one model.

    Attributes:
        model: The model.
        dimensions: Numbers in each.
        raw: Them all, one after the other: little-endian float32.
        paths: What each embeds.
    """

    model: str
    dimensions: int
    raw: bytes
    paths: tuple[str, ...]

    @classmethod
    def of(cls, vectors: Mapping[str, Sequence[float]], model: str) -> Vectors:
        """Return vectors by path as they are kept.

        Raises:
            InvalidInputError: One is no list of finite numbers, or they differ in length.
        """
        import numpy as np

        if not vectors:
            return cls(model, 0, b"", ())
        rows = [finite("vectors", vector) for vector in vectors.values()]
        if len({len(row) for row in rows}) > 1:
            raise InvalidInputError("The vectors of an item must have one length.")
        matrix = np.asarray(rows, dtype=np.float64)
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        units = np.divide(matrix, lengths, out=np.zeros_like(matrix), where=lengths > 0)
        return cls(model, matrix.shape[1], units.astype("<f4").tobytes(), tuple(vectors))

    def packed(self) -> bytes:
        """Return them as bytes; empty when there are none."""
        if not self.paths:
            return b""
        head = json.dumps([self.model, self.dimensions, list(self.paths)], ensure_ascii=False)
        return head.encode("utf-8", "surrogatepass") + b"\n" + self.raw


def cosines(vector: Sequence[float], model: str, labels: Sequence[bytes]) -> list[float | None]:
    """Return the best cosine of a vector to each item's; None for an item without one.

    Vectors of another model or length are not compared.

    Raises:
        InvalidInputError: The vector is no list of finite numbers.
    """
    import numpy as np

    query = np.asarray(finite("vector", vector), dtype=np.float64)
    length = float(np.linalg.norm(query))
    unit = (query / length if length else query).astype(np.float32)
    wanted, places, rows = [model, len(unit)], [], []
    for place, label in enumerate(labels):
        head, _, raw = label.partition(b"\n")
        if raw and json.loads(head)[:2] == wanted:
            matrix = np.frombuffer(raw, dtype="<f4").reshape(-1, len(unit))
            places += [place] * len(matrix)
            rows.append(matrix)
    best: list[float | None] = [None] * len(labels)
    found = np.concatenate(rows) @ unit if rows else ()
    for place, score in zip(places, found, strict=True):
        best[place] = max(float(score), best[place] if best[place] is not None else -2.0)  # type: ignore[type-var]
    return best
