"""What every embedder checks: the texts it is given and the vectors that come back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard

import numpy as np

from muniment.errors import InvalidInputError, ProviderError

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ROUNDING = 1e-5


def refuse_blank(texts: Sequence[str]) -> None:
    """Refuse what cannot be embedded.

    Raises:
        InvalidInputError: The texts are one string, or one of them is blank or not a string.
    """
    if isinstance(texts, str):
        raise InvalidInputError("Texts to embed must be a sequence of strings, not one string.")
    given: Sequence[object] = texts
    for index, text in enumerate(given):
        if not isinstance(text, str) or not text.strip():
            raise InvalidInputError(
                f"Text {index} of {len(texts)} is blank or not a string; "
                "there is nothing in it to embed.",
                index=index,
            )


def unit_vectors(
    rows: object, count: int, dimensions: int | None, provider: str
) -> NDArray[np.float32]:
    """Return what a provider answered as unit vectors, shape (count, dimensions), in own memory.

    Args:
        rows: Anything NumPy reads as a matrix of numbers.
        count: Number of texts that were sent.
        dimensions: Length that every vector must have, or None if it is not known yet.
        provider: Who answered, for the error.

    Raises:
        ProviderError: The vectors are of the wrong number or length, or one is not finite or zero.
    """
    if _are_units(rows, count, dimensions):
        return rows.copy()
    matrix = _matrix(rows, provider)
    if matrix.ndim != 2 or len(matrix) != count or not matrix.shape[1]:
        raise ProviderError(
            f"{provider} answered {count} texts with numbers of shape {matrix.shape}; "
            f"({count}, dimensions) was expected.",
            shape=list(matrix.shape),
        )
    if dimensions is not None and matrix.shape[1] != dimensions:
        raise ProviderError(
            f"{provider} answered with vectors of length {matrix.shape[1]}; its model has "
            f"{dimensions} dimensions. If the model was changed, open the memory anew with it.",
            dimensions=dimensions,
            length=matrix.shape[1],
        )
    if not np.isfinite(matrix).all():
        raise ProviderError(f"{provider} answered with a vector that has NaN or infinite parts.")
    peaks = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    if not peaks.all():
        raise ProviderError(f"{provider} answered with a vector of zeros only.")
    scaled = matrix / peaks
    units: NDArray[np.float32] = (scaled / np.linalg.norm(scaled, axis=1, keepdims=True)).astype(
        np.float32
    )
    return units


def _are_units(rows: object, count: int, dimensions: int | None) -> TypeGuard[NDArray[np.float32]]:
    """Whether there is nothing to change; a square that is not finite is not near 1."""
    if not isinstance(rows, np.ndarray) or rows.dtype != np.float32:
        return False
    if rows.shape != (count, dimensions):
        return False
    return bool((np.abs(np.vecdot(rows, rows) - 1) < _ROUNDING).all())


def _matrix(rows: object, provider: str) -> NDArray[np.float64]:
    try:
        return np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ProviderError(
            f"{provider} answered with something that is not a list of vectors of one length."
        ) from None


def mean_unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the unit vector in the direction of the mean of several, shape (dimensions,)."""
    if len(vectors) == 1:
        only: NDArray[np.float32] = vectors[0]
        return only
    mean = vectors.mean(axis=0, dtype=np.float64)
    unit: NDArray[np.float32] = (mean / np.linalg.norm(mean)).astype(np.float32)
    return unit
