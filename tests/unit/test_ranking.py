"""Ranking: one order for the same input, cut at a limit, published as a score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from muniment.rules.ranking import (
    EXACT_BONUS,
    THREAD_WEIGHT,
    Ranking,
    arrange,
    fuse,
    overheard,
    publish,
)

Floats = NDArray[np.float32]
NOWHERE = np.zeros(0, dtype=np.int64)
UNIT = st.floats(0, 1, width=32)
ROWS = st.lists(
    st.tuples(UNIT, st.floats(-1, 1, width=32), st.booleans(), st.booleans()), max_size=12
)


def floats(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float32)


def flags(values: list[bool]) -> NDArray[np.bool_]:
    return np.array(values, dtype=np.bool_)


def places(values: list[bool]) -> NDArray[np.int64]:
    return np.flatnonzero(flags(values))


def ranked(rows: list[tuple[float, float, bool, bool]], minimum: float, limit: int) -> Ranking:
    words, close, embedded, exact = (
        (list(column) for column in zip(*rows, strict=True)) if rows else ([], [], [], [])
    )
    named = places(exact)
    fused = fuse(floats(words), floats(close), floats([1] * len(rows)), flags(embedded), named)
    score = publish(floats(words), floats(close), flags(embedded), flags(exact), 0.2, 0.8)
    everything = np.ones(len(rows), dtype=np.bool_)
    return arrange(everything, fused, score, np.arange(len(rows), dtype=np.int64), minimum, limit)


@pytest.mark.promise("REC-2", "REC-3")
@given(ROWS, st.integers(0, 13), st.sampled_from([-1.0, 0.0, 0.3, 1.0]))
def test_a_smaller_limit_gives_the_beginning_of_a_larger_one(
    rows: list[tuple[float, float, bool, bool]], limit: int, minimum: float
) -> None:
    whole = ranked(rows, minimum, len(rows))
    cut = ranked(rows, minimum, limit)
    assert cut.order.tolist() == whole.order.tolist()[:limit]
    assert cut.score.tolist() == whole.score.tolist()[:limit]
    assert cut.below == whole.below == len(rows) - len(whole.order)


@pytest.mark.promise("REC-2")
@given(ROWS, st.sampled_from([-1.0, 0.0, 0.3, 1.0]))
def test_scores_lie_in_the_unit_interval_and_never_rise(
    rows: list[tuple[float, float, bool, bool]], minimum: float
) -> None:
    ranking = ranked(rows, minimum, len(rows))
    assert all(0 <= score <= 1 and score >= np.float32(minimum) for score in ranking.score)
    assert sorted(ranking.score, reverse=True) == ranking.score.tolist()
    assert sorted(ranking.rank, reverse=True) == ranking.rank.tolist()
    if minimum < 0:
        assert len(ranking.order) == len(rows)


@pytest.mark.promise("REC-3")
def test_the_newest_of_equals_comes_first() -> None:
    same = floats([0.5, 0.5, 0.5])
    ranking = arrange(flags([True, True, True]), same, same, np.array([7, 9, 8]), 0.0, 2)
    assert ranking.order.tolist() == [1, 2]


def test_what_is_not_chosen_is_not_ranked() -> None:
    same = floats([0.5, 0.9])
    ranking = arrange(flags([True, False]), same, same, np.array([1, 2]), 0.6, 5)
    assert (ranking.order.tolist(), ranking.below) == ([], 1)


@pytest.mark.promise("REC-2")
def test_a_record_named_exactly_comes_first_with_a_full_score() -> None:
    nothing, exact = flags([False, False]), flags([False, True])
    fused = fuse(floats([1, 0]), floats([0, 0]), floats([1, 1]), nothing, np.flatnonzero(exact))
    score = publish(floats([1, 0]), floats([0, 0]), nothing, exact, 0.0, 1.0)
    assert fused.tolist() == [1, EXACT_BONUS]
    assert score.tolist() == [1, 1]


@pytest.mark.promise("REC-2")
def test_no_likeness_is_rare_enough_to_come_before_a_record_named_exactly() -> None:
    close = np.zeros(100_000, dtype=np.float32)
    close[1] = 1
    fused = fuse(np.zeros_like(close), close, None, None, np.array([0]))
    assert fused.argmax() == 0


@pytest.mark.parametrize("close", [[0.4], [0.4, 0.4, 0.4]])
def test_without_any_spread_meaning_has_no_vote(close: list[float]) -> None:
    words = floats([0.1 * place for place in range(len(close))])
    here = flags([True] * len(close))
    voice = floats([1] * len(close))
    assert fuse(words, floats(close), voice, here, NOWHERE).tolist() == words.tolist()


def test_a_record_without_a_vector_keeps_its_words_vote() -> None:
    embedded = flags([True, True, False])
    votes = floats([0, 0, 0.2]), floats([0.9, 0.1, 0.0]), floats([1, 1, 1])
    fused = fuse(*votes, embedded, NOWHERE)
    assert fused[2] == np.float32(0.2)
    assert fused[0] > 0 > fused[1]


@pytest.mark.promise("REC-2")
@given(UNIT, UNIT, st.floats(0, 0.5, width=32))
def test_more_likeness_never_lowers_a_score(words: float, close: float, more: float) -> None:
    masks = flags([True]), flags([False])

    def score(words: float, close: float) -> float:
        return float(publish(floats([words]), floats([close]), *masks, 0.2, 0.8)[0])

    assert score(min(1.0, words + more), close) >= score(words, close)
    assert score(words, close + more) >= score(words, close)
    assert score(0, 0.2) == 0
    assert score(0, 0.8) == score(1, 0) == 1


def test_a_vector_that_says_half_as_much_votes_with_half_its_weight() -> None:
    close = floats([0.9, 0.1, 0.2])
    whole = fuse(floats([0, 0, 0]), close, floats([1, 1, 1]), None, NOWHERE)
    half = fuse(floats([0, 0, 0]), close, floats([0.5, 1, 1]), None, NOWHERE)
    assert half.tolist() == pytest.approx([whole[0] / 2, whole[1], whole[2]])


@pytest.mark.parametrize("pool", [[True, True, True], [True, False, True]])
def test_without_a_voice_every_vector_says_all(pool: list[bool]) -> None:
    close, words = floats([0.9, 0.1, 0.2]), floats([0.1, 0.3, 0.2])
    every = fuse(words, close, floats([1, 1, 1]), flags(pool), NOWHERE)
    assert fuse(words, close, None, flags(pool), NOWHERE).tolist() == every.tolist()


def test_without_a_pool_every_record_is_in_it() -> None:
    close, words = floats([0.9, 0.1, 0.2]), floats([0.1, 0.3, 0.2])
    every = fuse(words, close, None, flags([True, True, True]), NOWHERE)
    assert fuse(words, close, None, None, NOWHERE).tolist() == every.tolist()


@pytest.mark.parametrize("pool", [None, flags([place % 3 > 0 for place in range(20_000)])])
def test_of_many_records_meaning_votes_with_a_fifth_of_its_standard_score(
    pool: NDArray[np.bool_] | None,
) -> None:
    words, close = np.random.default_rng(5).normal(0.4, 0.1, (2, 20_000)).astype(np.float32)
    here = np.ones(20_000, dtype=np.bool_) if pool is None else pool
    standard = (close - close[here].mean(dtype=np.float64)) / close[here].std(dtype=np.float64)
    said = words + here * standard / 5
    assert fuse(words, close, None, pool, NOWHERE) == pytest.approx(said, abs=1e-6)


@pytest.mark.promise("REC-2")
@given(
    st.lists(st.tuples(UNIT, st.booleans()), min_size=2, max_size=8),
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), UNIT), max_size=12),
)
def test_a_record_gains_from_the_words_of_chosen_neighbours_and_from_nothing_else(
    rows: list[tuple[float, bool]], pairs: list[tuple[int, int, float]]
) -> None:
    words, chosen = zip(*rows, strict=True)
    expected = [0.0] * len(rows)
    drawn = [(hears % len(rows), speaks % len(rows), share) for hears, speaks, share in pairs]
    for one, other, share in drawn:
        expected[one] += THREAD_WEIGHT * words[other] * chosen[other] * share
    hears, speaks = (np.array([pair[n] for pair in drawn], dtype=np.int64) for n in (0, 1))
    shares = floats([share for *_, share in drawn])
    gained = overheard(floats([*words]), flags([*chosen]), hears, speaks, shares)
    assert gained.tolist() == pytest.approx(expected, abs=1e-5)
