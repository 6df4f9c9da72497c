"""The boundary around an embedder that a program brings itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from muniment.errors import MunimentError
from muniment.providers.failures import provider_failure
from muniment.providers.vectors import unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muniment.ports import Calibration, Embedder, EmbeddingModel

T = TypeVar("T")


class OwnEmbedder:
    """Asks another embedder and lets nothing through but unit vectors of its model.

    Whatever else it raises or answers is a `ProviderError`, so that a wrong vector is never stored.

    Args:
        embedder: Who is asked.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._label = f"The embedder {type(embedder).__name__}"

    @property
    def model(self) -> EmbeddingModel:
        """The model."""
        return self._asked(lambda: self._embedder.model)

    @property
    def calibration(self) -> Calibration:
        """How cosines are published as scores."""
        return self._asked(lambda: self._embedder.calibration)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions).

        Raises:
            ProviderError: The embedder failed or answered with unusable vectors.
        """
        rows = self._asked(lambda: self._embedder.embed_passages(texts))
        return unit_vectors(rows, len(texts), self.model.dimensions, self._label)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimensions,).

        Raises:
            ProviderError: The embedder failed or answered with an unusable vector.
        """
        row: object = self._asked(lambda: self._embedder.embed_query(text))
        rows = row[np.newaxis] if isinstance(row, np.ndarray) else [row]
        vector: NDArray[np.float32] = unit_vectors(rows, 1, self.model.dimensions, self._label)[0]
        return vector

    def _asked(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except MunimentError:
            raise
        except Exception as error:
            raise provider_failure(error, self._label) from None
