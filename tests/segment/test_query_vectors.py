"""The vectors of questions are kept by hash, so that a repeated question is embedded once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from muniment.errors import ProviderError
from muniment.services.vectors import QueryVectors
from muniment.testing import FakeEmbedder


class Counted(FakeEmbedder):
    """Counts what it embeds, and fails on request."""

    def __init__(self, version: str = "1") -> None:
        super().__init__(version=version)
        self.seen: list[str] = []
        self.broken = False

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.seen.append(text)
        if self.broken:
            raise ProviderError("The model failed.")
        return super().embed_query(text)


def test_a_repeated_question_is_embedded_once() -> None:
    embedder, vectors = Counted(), QueryVectors()
    first = vectors.embed(embedder, "Which region?")
    assert vectors.embed(embedder, "Which region?") is first
    assert vectors.embed(embedder, "Which seat?") is not first
    assert embedder.seen == ["Which region?", "Which seat?"]


def test_another_model_embeds_anew() -> None:
    vectors, one, other = QueryVectors(), Counted("1"), Counted("2")
    vectors.embed(one, "Which region?")
    vectors.embed(other, "Which region?")
    assert (len(one.seen), len(other.seen)) == (1, 1)


def test_a_failure_is_not_kept() -> None:
    embedder, vectors = Counted(), QueryVectors()
    embedder.broken = True
    with pytest.raises(ProviderError):
        vectors.embed(embedder, "Which region?")
    embedder.broken = False
    assert vectors.embed(embedder, "Which region?").shape == (embedder.model.dimensions,)


def test_only_the_last_questions_are_kept() -> None:
    embedder, vectors = Counted(), QueryVectors()
    for number in range(257):
        vectors.embed(embedder, f"Question {number}?")
    vectors.embed(embedder, "Question 256?")
    assert len(embedder.seen) == 257
    vectors.embed(embedder, "Question 0?")
    assert len(embedder.seen) == 258
