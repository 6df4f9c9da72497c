"""Generated statements and a cheap, deterministic embedder, so that memory itself is timed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from muniment.ports import Calibration, EmbeddingModel
from muniment.records import Statement

DIMENSIONS = 384
_SYLLABLES = ("ba", "de", "fi", "go", "hu", "ka", "le", "mi", "no", "pu", "ra", "se", "ti", "vo")
_WORDS = 5000


class RandomEmbedder:
    """Gives each text a random unit vector that depends on the text alone."""

    model = EmbeddingModel("random", "1", DIMENSIONS)
    calibration = Calibration(low=0.0, high=1.0)

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one vector a text."""
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
        vector = np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32)
        unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
        return unit


class PreparedEmbedder(RandomEmbedder):
    """Remembers every vector, so that a text that was seen before costs a look into a mapping."""

    def __init__(self) -> None:
        self._known: dict[str, NDArray[np.float32]] = {}

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Return the vector of a text."""
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = super().embed_query(text)
        return known


def vocabulary() -> list[str]:
    """Return the made-up words of all samples; the first ones are the commonest."""
    source = random.Random(1)
    return ["".join(source.choices(_SYLLABLES, k=source.randint(2, 4))) for _ in range(_WORDS)]


def sentences(seed: int, count: int) -> Iterator[str]:
    """Yield made-up sentences of 8 to 24 words, common words more often."""
    source = random.Random(seed)
    words = vocabulary()
    for _ in range(count):
        size = source.randint(8, 24)
        yield " ".join(words[min(int(source.expovariate(0.003)), _WORDS - 1)] for _ in range(size))


def statements(seed: int, count: int) -> list[Statement]:
    """Return made-up statements."""
    return [
        Statement(kind="preference", text=text, source_id=f"{seed}-{place}")
        for place, text in enumerate(sentences(seed, count))
    ]
