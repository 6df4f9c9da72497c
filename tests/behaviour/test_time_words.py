"""A question that names a time finds first what is from that time, and leaves nothing out."""

from __future__ import annotations

import pytest

from muniment import ScopedMemory
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, said, texts

TRIPS = {
    "Went to the lake with Ada.": "2029-05-10T10:00:00Z",
    "Went to the lake with Bob.": "2029-07-10T10:00:00Z",
    "Went to the lake with Cem.": "2028-02-10T10:00:00Z",
    "Went to the lake with Dana.": "2029-12-31T10:00:00Z",
}


@pytest.fixture
def trips(me: ScopedMemory) -> ScopedMemory:
    for text, at in TRIPS.items():
        said(me, text, valid_from=at)
    return me


@LEXICAL
@pytest.mark.promise("REC-14")
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Who was at the lake last May?", "Ada"),
        ("Who was at the lake in July 2029?", "Bob"),
        ("Who was at the lake in 2028?", "Cem"),
        ("Who was at the lake yesterday?", "Dana"),
        ("lake در اردیبهشت ۱۴۰۸", "Ada"),
        ("lake دیروز", "Dana"),
    ],
)
def test_what_is_from_the_time_in_question_comes_first(
    trips: ScopedMemory, question: str, first: str
) -> None:
    found = texts(trips.recall(question, minimum_score=-1))
    assert found[0] == f"Went to the lake with {first}."
    assert sorted(found) == sorted(TRIPS)


@pytest.mark.promise("REC-14")
def test_a_record_without_a_time_of_its_own_has_that_of_its_writing(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    said(me, "The lake was cold.")
    clock.advance(seconds=40 * 86_400)
    said(me, "The lake was warm.")
    clock.advance(seconds=86_400)
    assert texts(me.recall("How was the lake yesterday?"))[0] == "The lake was warm."
    assert texts(me.recall("How was the lake in January?"))[0] == "The lake was cold."


@LEXICAL
@pytest.mark.promise("REC-14", "REC-5")
def test_the_rank_holds_the_vote_and_the_explanation_says_so(trips: ScopedMemory) -> None:
    said(trips, "The lake lake lake.", valid_from="2028-01-01T00:00:00Z")
    found = trips.recall("lake last May", limit=2, minimum_score=-1, explain=True)
    first, *rest = found.trace.explained
    assert first.time_vote == 0.5
    assert {one.time_vote for one in rest} == {0.0}
    assert first.rank == pytest.approx(first.lexical_vote + 0.5)
    ranks = [hit.rank for hit in found.trace.hits]
    assert ranks == sorted(ranks, reverse=True) == [one.rank for one in found.trace.explained[:2]]


@pytest.mark.promise("REC-14", "REC-9")
def test_only_a_filter_leaves_out_what_is_from_another_time(trips: ScopedMemory) -> None:
    within = {"valid_from": {"gte": "2029-05-01T00:00:00Z", "lt": "2029-06-01T00:00:00Z"}}
    assert texts(trips.recall("lake", filters=within)) == ["Went to the lake with Ada."]


@pytest.mark.promise("REC-3")
def test_a_smaller_limit_still_gives_the_beginning_of_a_larger_one(trips: ScopedMemory) -> None:
    question = "Who was at the lake last May?"
    whole = texts(trips.recall(question, minimum_score=-1))
    for limit in range(5):
        assert texts(trips.recall(question, limit=limit, minimum_score=-1)) == whole[:limit]
