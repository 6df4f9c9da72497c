"""The frame of every embedder that asks someone else for vectors, and the one around a function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np

from muniment.errors import InvalidInputError, ProviderError
from muniment.ports import Calibration, EmbeddingModel
from muniment.providers.failures import provider_failure
from muniment.providers.vectors import mean_unit, refuse_blank, unit_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

_PROBE = "dimensions"


class Answered(NamedTuple):
    """What a provider answered: one row a text, and the version of the model that made them."""

    rows: object
    version: str


Ask: TypeAlias = Callable[[list[str]], Answered]


class EmbedderOptions(TypedDict, total=False):
    """What can be said about any embedder that is asked through a call.

    Attributes:
        version: What identifies the vectors beside the model's name. A given one is taken as it is;
            change it whenever the vectors change (weights, prefixes, quantisation).
        dimensions: Length of a vector; otherwise learned from the first answer.
        query_prefix: Put in front of a question.
        passage_prefix: Put in front of a text to be found.
        batch_size: Most texts in one call; 64.
        max_characters: Longer texts are embedded in parts; None for no limit.
        calibration: How the model's cosines are published as scores; 0.2 to 0.75.
    """

    version: str | None
    dimensions: int | None
    query_prefix: str
    passage_prefix: str
    batch_size: int
    max_characters: int | None
    calibration: Calibration


class CheckedEmbedder:
    """Prefixes, splits, batches, checks and normalises; a subclass only says how to ask.

    Threads may share it. The model's version and dimensions are learned from the first answer
    where they were not given, and every later answer must agree with them.
    """

    def __init__(
        self, name: str, ask: Ask, options: EmbedderOptions, *, ask_query: Ask | None = None
    ) -> None:
        """Set what all embedders have in common.

        Args:
            name: The model's name.
            ask: Returns one row a text; whatever it raises becomes a `ProviderError`.
            options: What else is known.
            ask_query: How to ask for a question's vector, if it is another way.

        Raises:
            InvalidInputError: The name or version is blank, or a number is not positive.
        """
        self._name = name
        self._ask_by = {True: ask_query or ask, False: ask}
        self._version = options.get("version")
        self._dimensions = options.get("dimensions")
        self._prefixes = {
            True: options.get("query_prefix", ""),
            False: options.get("passage_prefix", ""),
        }
        self._batch_size = options.get("batch_size", 64)
        self._max_characters = options.get("max_characters")
        self._calibration = options.get("calibration", Calibration(0.2, 0.75))
        self._learned: dict[str, EmbeddingModel] = {}
        self._refuse_nonsense()
        if self._version is not None and self._dimensions is not None:
            self._learn(self._version, self._dimensions)

    def _refuse_nonsense(self) -> None:
        for label, text in (("name", self._name), ("version", self._version)):
            if text is not None and not text.strip():
                raise InvalidInputError(f"The {label} of an embedding model must not be blank.")
        for label, number in (
            ("dimensions", self._dimensions),
            ("batch_size", self._batch_size),
            ("max_characters", self._max_characters),
        ):
            if number is not None and number < 1:
                raise InvalidInputError(f"{label} must be at least 1.")

    @property
    def model(self) -> EmbeddingModel:
        """The model. Embeds one word to learn it, unless it is known."""
        if "model" not in self._learned:
            self._embedded([_PROBE], query=False)
        return self._learned["model"]

    @property
    def calibration(self) -> Calibration:
        """How cosines are published as scores."""
        return self._calibration

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions).

        Raises:
            InvalidInputError: A text is blank.
            ProviderError: The provider failed or answered with unusable vectors.
        """
        refuse_blank(texts)
        if not texts:
            return np.zeros((0, self.model.dimensions), np.float32)
        return self._embedded(texts, query=False)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimensions,).

        Raises:
            InvalidInputError: The text is blank.
            ProviderError: The provider failed or answered with unusable vectors.
        """
        refuse_blank([text])
        vector: NDArray[np.float32] = self._embedded([text], query=True)[0]
        return vector

    def _embedded(self, texts: Sequence[str], *, query: bool) -> NDArray[np.float32]:
        prefix = self._prefixes[query]
        parts = [list(_parts(text, self._max_characters)) for text in texts]
        flat = [prefix + part for text_parts in parts for part in text_parts]
        batches = [
            self._batch(flat[start : start + self._batch_size], query=query)
            for start in range(0, len(flat), self._batch_size)
        ]
        vectors = np.concatenate(batches)
        if len(flat) == len(texts):
            return vectors
        bounds = np.cumsum([len(text_parts) for text_parts in parts])[:-1]
        return np.stack([mean_unit(each) for each in np.split(vectors, bounds)])

    def _batch(self, texts: list[str], *, query: bool) -> NDArray[np.float32]:
        try:
            answered = self._ask_by[query](texts)
        except ProviderError:
            raise
        except Exception as error:
            raise provider_failure(error, f"The embedder {self._name}") from None
        known = self._learned.get("model")
        dimensions = known.dimensions if known else self._dimensions
        provider = f"The embedder {self._name}"
        vectors = unit_vectors(answered.rows, len(texts), dimensions, provider)
        self._learn(self._version or answered.version, vectors.shape[1])
        return vectors

    def _learn(self, version: str, dimensions: int) -> None:
        seen = EmbeddingModel(self._name, version, dimensions)
        known = self._learned.setdefault("model", seen)
        if seen != known:
            raise ProviderError(
                f"The embedder {self._name} now answers as version {version} with {dimensions} "
                f"dimensions, not as {known.version} with {known.dimensions}. Vectors of two "
                "models are never mixed; open the memory anew to change the model.",
                version=version,
                dimensions=dimensions,
            )


def _parts(text: str, limit: int | None) -> Iterator[str]:
    """Yield a text in parts of at most `limit` characters, cut at spaces where there are any."""
    while limit is not None and len(text) > limit:
        space = text.rfind(" ", limit // 2, limit)
        stop = limit if space < 0 else space + 1
        if text[:stop].strip():
            yield text[:stop]
        text = text[stop:]
    if text.strip():
        yield text


class CallableEmbedder(CheckedEmbedder):
    """An embedder around any function from texts to vectors."""

    def __init__(
        self,
        function: Callable[[Sequence[str]], object],
        *,
        name: str,
        query_function: Callable[[Sequence[str]], object] | None = None,
        **options: Unpack[EmbedderOptions],
    ) -> None:
        """Wrap a function.

        Args:
            function: Takes a list of texts and returns as many vectors of one length. It may be
                called from several threads at once.
            name: The model's name.
            query_function: What embeds questions, if it is not the same function.
            **options: See `EmbedderOptions`; `version` must be given.

        Raises:
            InvalidInputError: The name or version is missing, or a number is not positive.
        """
        version = options.get("version")
        if version is None:
            raise InvalidInputError("An embedding function needs the version of its model.")

        def asker(given: Callable[[Sequence[str]], object]) -> Ask:
            return lambda texts: Answered(given(texts), version)

        super().__init__(
            name, asker(function), options, ask_query=asker(query_function or function)
        )
