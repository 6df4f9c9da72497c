"""Stand-ins for what a test must not depend on: the time and the models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from muniment.clock import to_instant
from muniment.errors import ProviderError
from muniment.ports import Calibration, EmbeddingModel, ModelReply

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_SECOND = 1_000_000


class FrozenClock:
    """A clock that moves only when it is told to.

    Args:
        start: The first instant; an aware `datetime` or ISO-8601 text with an offset.

    Raises:
        InvalidInputError: The time is malformed or has no offset.
    """

    def __init__(self, start: datetime | str = "2030-01-01T00:00:00Z") -> None:
        self._now = to_instant("start", start)

    def now(self) -> int:
        """Return the present instant in microseconds since 1970, UTC."""
        return self._now

    def advance(self, *, seconds: float) -> None:
        """Move the clock by a number of seconds; the smallest step is 0.000001."""
        self._now += round(seconds * _SECOND)

    def set(self, moment: datetime | str) -> None:
        """Move the clock to an instant.

        Args:
            moment: An aware `datetime` or ISO-8601 text with an offset.

        Raises:
            InvalidInputError: The time is malformed or has no offset.
        """
        self._now = to_instant("moment", moment)


class FakeEmbedder:
    """An embedder without a model: texts are close as far as they share words.

    Each word of a text, normalised as for search, stands for a direction that depends on the
    word, the model's name and its version; a text is the unit vector of their sum. The same text
    gives the same vector in every process. Texts without a common word have a cosine near 0.

    Args:
        name: The model's name.
        version: The model's version; another one gives other vectors.
        dimensions: Length of a vector.

    Attributes:
        fail: While true, every embedding raises `ProviderError`.
        asked: Every text that was to be embedded, in order.
    """

    def __init__(self, name: str = "fake", version: str = "1", dimensions: int = 64) -> None:
        self._model = EmbeddingModel(name, version, dimensions)
        self.fail = False
        self.asked: list[str] = []

    @property
    def model(self) -> EmbeddingModel:
        """The model."""
        return self._model

    @property
    def calibration(self) -> Calibration:
        """How cosines are published: texts that share less than a third of their words score 0."""
        return Calibration(low=0.35, high=0.95)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector a text, shape (len(texts), dimensions).

        Raises:
            InvalidInputError: A text is blank.
            ProviderError: `fail` is true.
        """
        import numpy as np

        from muniment.providers.vectors import refuse_blank

        refuse_blank(texts)
        self.asked += texts
        if self.fail:
            raise ProviderError("The fake embedder fails because its `fail` is true.")
        rows = [self._vector(text) for text in texts]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self._model.dimensions)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the unit vector of a question, shape (dimensions,).

        Raises:
            InvalidInputError: The text is blank.
            ProviderError: `fail` is true.
        """
        vector: NDArray[np.float32] = self.embed_passages([text])[0]
        return vector

    def _vector(self, text: str) -> NDArray[np.float64]:
        import numpy as np

        from muniment.rules.text import tokenise

        words = tokenise(text) or [text.strip()]
        directions = np.array([self._direction(word) for word in words], dtype=np.float64)
        total: NDArray[np.float64] = directions.sum(axis=0)
        if not total.any():
            total = self._direction("\x00".join(words))
        unit: NDArray[np.float64] = np.asarray(total / np.linalg.norm(total), dtype=np.float64)
        return unit

    def _direction(self, word: str) -> NDArray[np.float64]:
        import numpy as np

        octets = b"".join(self._octets(word))[: self._model.dimensions]
        return np.frombuffer(octets, dtype=np.uint8).astype(np.float64) - 127.5

    def _octets(self, word: str) -> Iterator[bytes]:
        named = f"{self._model.name}\x00{self._model.version}\x00{word}"
        for block in range(0, self._model.dimensions, 64):
            salt = block.to_bytes(8, "little")
            yield blake2b(named.encode("utf-8", "surrogatepass"), salt=salt).digest()


class Asked(NamedTuple):
    """One question that a fake model was asked."""

    instructions: str
    prompt: str


class FakeModel:
    """A language model that gives scripted replies, in order.

    Args:
        *replies: What to answer; an exception is raised instead.
        name: The model's name.

    Attributes:
        asked: What it was asked, in order.
    """

    def __init__(self, *replies: str | Exception, name: str = "fake-model") -> None:
        self._replies = list(replies)
        self._name = name
        self.asked: list[Asked] = []

    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        """Return the next scripted reply.

        Raises:
            AssertionError: No reply is left: the code under test asked more often than expected.
        """
        self.asked.append(Asked(instructions, prompt))
        if not self._replies:
            raise AssertionError(f"FakeModel was asked {len(self.asked)} times; no reply is left.")
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return ModelReply(reply, self._name)
