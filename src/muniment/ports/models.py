"""Models and detectors that the core may call: embedders, language models, screeners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from muniment.errors import InvalidInputError
from muniment.records import JSONValue, WritePath
from muniment.results import Finding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Which model made a vector. Vectors of two models are never compared.

    Attributes:
        name: The model's name.
        version: Its revision, weights hash or whatever else changes its vectors.
        dimensions: Length of a vector.
    """

    name: str
    version: str
    dimensions: int


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a model's cosine becomes a published score.

    Attributes:
        low: Cosine of unrelated texts; it and everything below becomes 0.
        high: Cosine of a question and the text that answers it word for word; becomes 1.

    Raises:
        InvalidInputError: `low` is not below `high`, or one is not finite.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        """Refuse levels between which nothing lies."""
        if not (isfinite(self.high - self.low) and self.low < self.high):
            raise InvalidInputError("The low of a calibration must be a number below its high.")


class Embedder(Protocol):
    """Turns texts into unit vectors of one model.

    Implementations may be called from several threads at once. A failure of any sort is a
    `ProviderError`; no vector is ever invented.
    """

    @property
    def model(self) -> EmbeddingModel:
        """The model. May load or ask for it on first use; raises `ProviderError`."""
        ...

    @property
    def calibration(self) -> Calibration:
        """How this model's cosines are published as scores."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions), for texts to be found.

        Texts are not blank. Text beyond the model's window is embedded in parts, not cut.

        Raises:
            ProviderError: The model failed, or gave vectors of the wrong number, length or value.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector, shape (dimensions,), of a question.

        Raises:
            ProviderError: The model failed.
        """
        ...


class Reranker(Protocol):
    """Reads a question beside each of a few texts, and says how well each answers it.

    It may be called from several threads at once, and is shown only what recall found in the scope.
    """

    @property
    def name(self) -> str:
        """What the trace calls it."""
        ...

    @property
    def depth(self) -> int:
        """How many of the best records it is shown at a recall, at most."""
        ...

    def rerank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """Return one finite number a text, in order; higher is better.

        Raises:
            ProviderError: It failed, or did not say something of every text.
        """
        ...


class Resolver(Protocol):
    """Asks systems of record what they hold now.

    It may be called from several threads at once, and is asked only for records that a recall is
    about to show.
    """

    def resolve(self, reference: str) -> JSONValue:
        """Return the live value under a record's reference, or None when the system has none.

        Raises:
            ProviderError: It failed, or its answer is no JSON.
        """
        ...


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a language model said.

    Attributes:
        text: Its answer.
        model: The model that answered, as the endpoint named it.
    """

    text: str
    model: str


class LanguageModel(Protocol):
    """Answers one prompt. Nothing is stored at the provider."""

    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        """Return the model's answer.

        Args:
            instructions: Rules of the application.
            prompt: The user's turn: quoted records and the question.

        Raises:
            ProviderError: The endpoint failed or answered with nothing.
        """
        ...


@runtime_checkable
class Screener(Protocol):
    """Looks at a text before it is stored."""

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        """Return what was seen, in order of position; an empty sequence when all is well.

        Args:
            text: The text as it would be stored.
            path: The door it comes through.
        """
        ...
