"""An embedder that a program brings itself: what it answers is checked before it is stored."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import muniment
from muniment import InvalidInputError, ProviderError, ScopedMemory
from muniment.ports import Calibration, EmbeddingModel
from muniment.records import EmbeddingState
from muniment.testing import FrozenClock
from muniment.trace import Degraded
from tests.behaviour.conftest import ids, said

SECRET = "The vault opens at nine."
Answer = Callable[[Sequence[str]], Any]


class Own:
    """An embedder of somebody else's, which answers texts and questions as it was told to."""

    model = EmbeddingModel("own", "1", 3)
    calibration = Calibration(0.2, 0.8)

    def __init__(self, passages: Answer, query: Answer | None = None) -> None:
        self.passages = passages
        self.query = query or passages

    def embed_passages(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - whatever it was told
        return self.passages(texts)

    def embed_query(self, text: str) -> Any:  # noqa: ANN401 - whatever it was told
        return self.query([text])[0]


def right(texts: Sequence[str]) -> list[list[float]]:
    """Return a vector a text, as lists of Python numbers of any length."""
    return [[3.0 * len(text), 4.0, 0.0] for text in texts]


def failing(texts: Sequence[str]) -> object:
    raise LookupError(f"cannot embed {texts}")


WRONG: dict[str, Answer] = {
    "raises": failing,
    "NaN": lambda texts: np.full((len(texts), 3), np.nan),
    "infinite": lambda texts: np.full((len(texts), 3), np.inf),
    "zero": lambda texts: np.zeros((len(texts), 3)),
    "too few": lambda texts: np.ones((len(texts), 3))[1:],
    "too long": lambda texts: np.ones((len(texts), 4)),
    "nested": lambda texts: np.ones((len(texts), 1, 3)),
    "None": lambda texts: [None] * len(texts),
    "words": lambda texts: [["a", "b", "c"]] * len(texts),
}


@contextmanager
def scoped(embedder: object) -> Iterator[ScopedMemory]:
    with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as memory:
        yield memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


def test_lists_of_numbers_of_any_length_become_unit_vectors() -> None:
    with scoped(Own(right)) as me:
        kept = said(me, SECRET)
        assert kept.embedding is EmbeddingState.READY
        found = me.recall(SECRET, minimum_score=-1)
        assert found.trace.degraded == ()
        assert found.trace.hits[0].semantic == pytest.approx(1)


def test_an_embedder_may_use_its_memory_for_the_next_text() -> None:
    room = np.zeros((1, 3), dtype=np.float32)

    def answered(texts: Sequence[str]) -> object:
        room[:] = [[1, 0, 0] if "tea" in texts[0] else [0, 1, 0]]
        return room

    with scoped(Own(answered)) as me:
        tea, jam = (said(me, text).memory_id for text in ("Likes tea.", "Likes jam."))
        for question, nearest in (("tea", tea), ("jam", jam), ("tea", tea)):
            hits = me.recall(question, minimum_score=-1).trace.hits
            assert {one.memory_id: one.semantic for one in hits}[nearest] == pytest.approx(1)


@pytest.mark.promise("REC-8")
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_wrong_vector_is_never_stored(wrong: Answer) -> None:
    own = Own(wrong, right)
    with scoped(own) as me:
        kept = [said(me, SECRET), said(me, "Likes green tea.")]
        assert {one.embedding for one in kept} == {EmbeddingState.PENDING}
        own.passages = right
        kept.append(said(me, "Likes black coffee."))
        found = me.recall("black coffee", minimum_score=-1)
        assert set(ids(found)) == {one.memory_id for one in kept}
        assert ids(found)[0] == kept[-1].memory_id
        assert found.trace.degraded == (Degraded.EMBEDDING_PENDING,)


@pytest.mark.promise("REC-8")
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_question_without_a_vector_goes_by_words(wrong: Answer) -> None:
    with scoped(Own(right, wrong)) as me:
        kept = said(me, SECRET)
        found = me.recall("vault")
        assert ids(found) == [kept.memory_id]
        assert found.trace.degraded == (Degraded.EMBEDDER_FAILED,)
        with pytest.raises(ProviderError, match="Own") as caught:
            me.recall("vault", strict=True)
        assert "vault" not in str(caught.value)
        assert caught.value.__cause__ is None


def test_half_an_embedder_is_refused() -> None:
    class Half:
        def embed_passages(self, texts: Sequence[str]) -> object:
            return right(texts)

    with pytest.raises(InvalidInputError, match="not an embedder"):
        muniment.open(":memory:", embedder=Half())


@pytest.mark.parametrize(
    "levels", [(0.5, 0.5), (0.8, 0.2), (math.nan, 0.8), (0.2, math.inf), (-math.inf, math.inf)]
)
def test_levels_between_which_nothing_lies_are_refused(levels: tuple[float, float]) -> None:
    with pytest.raises(InvalidInputError, match="below its high"):
        Calibration(*levels)
