"""A reranker orders the best of a recall anew, sees nothing of others and breaks nothing."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from muniment import ProviderError, ScopedMemory
from muniment.trace import Degraded, Reason
from tests.behaviour.conftest import House, ids, said, texts
from tests.governance.conftest import DANA, TEAM, published
from tests.scripted_endpoint import Asked, Reply, ScriptedEndpoint

QUERY = "Which region is preferred?"
NAMES = ("eu-west", "us-east", "ap-south", "sa-east", "me-north")


class Backwards:
    """Finds the last of what it is shown the best; fails when told to."""

    name = "backwards"

    def __init__(self, depth: int = 50) -> None:
        self.depth = depth
        self.shown: list[list[str]] = []
        self.fail = False

    def rerank(self, query: str, given: Sequence[str]) -> list[float]:
        assert query == QUERY
        self.shown.append(list(given))
        if self.fail:
            raise RuntimeError(given[0])
        return [float(place) for place in range(len(given))]


def opened(house: House, reranker: object, user: str = "u1") -> ScopedMemory:
    memory = house.open(reranker=reranker)
    return memory.scoped(tenant_id="t1", user_id=user, agent_id="a1")


def fill(me: ScopedMemory) -> None:
    for name in NAMES:
        said(me, f"The preferred region is {name}.")


@pytest.mark.promise("REC-1")
def test_it_orders_the_best_anew_and_the_trace_shows_what_it_said(house: House) -> None:
    reranker = Backwards()
    me, plain = opened(house, reranker), opened(house, None)
    fill(me)
    before = plain.recall(QUERY)
    after = me.recall(QUERY, explain=True)
    assert texts(after) == texts(before)[::-1]
    assert reranker.shown == [texts(before)]
    assert [hit.reranked for hit in after.trace.hits] == [4.0, 3.0, 2.0, 1.0, 0.0]
    assert {one.reranked for one in after.trace.explained} == {4.0, 3.0, 2.0, 1.0, 0.0}
    assert (after.trace.reranker, before.trace.reranker) == ("backwards", None)
    assert all(hit.reranked is None for hit in before.trace.hits)
    scores = [hit.score for hit in after.trace.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.promise("REC-1")
def test_it_may_bring_up_what_the_limit_would_have_cut(house: House) -> None:
    me = opened(house, Backwards())
    fill(me)
    found = me.recall(QUERY, limit=2, explain=True)
    assert [hit.reranked for hit in found.trace.hits] == [4.0, 3.0]
    assert found.trace.rejected == {Reason.LIMIT: 3}
    reasons = {one.memory_id: one.reason for one in found.trace.explained}
    assert sorted(map(str, reasons.values())) == ["None", "None", "limit", "limit", "limit"]
    assert texts(me.recall(QUERY, limit=0)) == []


def test_it_is_shown_no_more_than_its_depth_and_the_rest_keeps_its_order(house: House) -> None:
    reranker = Backwards(depth=2)
    me, plain = opened(house, reranker), opened(house, None)
    fill(me)
    first, second, *rest = texts(plain.recall(QUERY))
    assert texts(me.recall(QUERY)) == [second, first, *rest]
    assert reranker.shown == [[first, second]]


def test_what_is_named_exactly_stays_first(house: House) -> None:
    reranker = Backwards()
    me = opened(house, reranker)
    fill(me)
    said(me, QUERY)
    assert texts(me.recall(QUERY))[0] == QUERY
    assert QUERY not in reranker.shown[0]


@pytest.mark.promise("REC-1")
def test_it_sees_only_records_that_the_recall_may_show(house: House) -> None:
    reranker = Backwards()
    me, other = opened(house, reranker), opened(house, None, user="u2")
    fill(me)
    said(other, "The preferred region is theirs.")
    said(me, "The preferred region is old.", valid_until="2029-01-01T00:00:00Z")
    said(me, "The preferred region is a fact.", kind="verified_fact")
    me.recall(QUERY, kinds=["preference"])
    assert sorted(reranker.shown[0]) == sorted(f"The preferred region is {name}." for name in NAMES)


@pytest.mark.promise("REC-1")
def test_when_it_fails_recall_goes_on_without_it_and_says_so(house: House) -> None:
    reranker = Backwards()
    me, plain = opened(house, reranker), opened(house, None)
    fill(me)
    reranker.fail = True
    found = me.recall(QUERY)
    assert ids(found) == ids(plain.recall(QUERY))
    assert Degraded.RERANKER_FAILED in found.trace.degraded
    assert found.trace.reranker is None
    with pytest.raises(ProviderError, match="backwards failed: RuntimeError"):
        me.recall(QUERY, strict=True)


def test_a_question_without_content_is_not_reranked(house: House) -> None:
    reranker = Backwards()
    me = opened(house, reranker)
    fill(me)
    assert len(me.recall("What do you know about me?")) == 5
    assert reranker.shown == []


def test_an_endpoint_orders_a_recall(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def southern(asked: Asked) -> Reply:
        given = asked.body["documents"]
        rows = [
            {"index": n, "relevance_score": float("south" in text)} for n, text in enumerate(given)
        ]
        return Reply({"results": sorted(rows, key=lambda row: -row["relevance_score"])})

    with ScriptedEndpoint() as endpoint:
        endpoint.answer = southern
        monkeypatch.setenv("MUNIMENT_RERANKER_BASE_URL", endpoint.url)
        me = opened(house, "http:some-model")
        fill(me)
        assert texts(me.recall(QUERY, limit=1)) == ["The preferred region is ap-south."]
        (asked,) = endpoint.asked
        assert asked.body["query"] == QUERY


@pytest.mark.promise("REC-1")
def test_a_space_still_takes_no_more_than_its_share(house: House) -> None:
    memory = house.open(reranker=Backwards())
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    fill(me)
    for name in NAMES:
        text = f"The preferred region of all is {name}."
        published(memory.reviewing(DANA), me, text, proposer=name)
    found = me.with_spaces(TEAM).recall(QUERY, limit=4, minimum_score=-1)
    assert len([item for item in found if item.record.scope == TEAM]) == 2
    assert len(found) == 4
