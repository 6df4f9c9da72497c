"""`recall(explain=True)`: a verdict on every record near the cut, and the same hits as without."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment.memory import Memory
from muniment.rules.ranking import EXACT_BONUS
from muniment.scoped import ScopedMemory
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.trace import Explained, Reason, Recall

QUERY = "Which region is preferred?"
WORDS = ("region", "prefer", "eu-west", "zone", "report", "seat")


@pytest.fixture(params=[None, "hybrid"])
def memory(request: pytest.FixtureRequest) -> Iterator[Memory]:
    embedder: object = FakeEmbedder() if request.param else "none"
    with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as opened:
        yield opened


def scope(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")


def say(me: ScopedMemory, text: str, **more: object) -> str:
    given: dict[str, object] = {"kind": "preference", "approved": True, "source_id": text, **more}
    return me.remember(text, **given).memory_id  # type: ignore[arg-type]


def verdicts(found: Recall) -> dict[str, Reason | None]:
    return {one.memory_id: one.reason for one in found.trace.explained}


@pytest.mark.promise("REC-5")
def test_every_record_near_the_cut_has_its_verdict(memory: Memory) -> None:
    me = scope(memory)
    text = "The preferred region is"
    expected: dict[str, Reason | None] = {
        say(me, f"{text} eu-west.", metadata={"tag": "work"}): None,
        say(me, f"{text} old.", valid_until="2029-06-01T00:00:00Z"): Reason.NO_LONGER_VALID,
        say(me, f"{text} soon.", valid_from="2031-01-01T00:00:00Z"): Reason.NOT_YET_VALID,
        say(me, f"{text} other.", kind="context"): Reason.KIND,
        say(me, f"{text} untagged."): Reason.FILTER,
        say(me, "Tea.", metadata={"tag": "work"}): Reason.SCORE,
    }
    old = say(me, f"{text} us-east.", field="region", value="us-east", metadata={"tag": "work"})
    new = say(me, f"{text} ap-east.", field="region", value="ap-east", metadata={"tag": "work"})
    expected |= {old: Reason.SUPERSEDED, new: None}
    found = me.recall(
        QUERY, kinds=["preference"], filters={"metadata.tag": "work"}, limit=5, explain=True
    )
    assert verdicts(found) == expected


@pytest.mark.promise("REC-5")
def test_what_expired_and_what_fell_to_limit_and_budget_is_told(memory: Memory) -> None:
    me = scope(memory)
    gone = say(me, "The preferred region was cn.", expires_at="2030-01-01T00:00:01Z")
    kept = [say(me, f"The preferred region is number {n}.") for n in range(4)]
    clock = memory._services.recalling._clock
    assert isinstance(clock, FrozenClock)
    clock.advance(seconds=1)
    found = me.recall(QUERY, limit=3, minimum_score=-1, budget=150, explain=True)
    told = verdicts(found)
    assert told[gone] is Reason.EXPIRED
    assert list(told.values()).count(Reason.LIMIT) == 1
    assert [told[one] for one in found.trace.budget_rejected] == [Reason.BUDGET] * len(
        found.trace.budget_rejected
    )
    assert {one for one, why in told.items() if why is None} == {
        hit.memory_id for hit in found.trace.hits
    }
    assert set(told) == {gone, *kept}


def _after(number: int) -> dict[str, str]:
    """Return how the second and the third of the statements follow the one before."""
    before = number - 1
    text = f"{WORDS[before]} {WORDS[(before * before) % 6]} is preferred."
    return {"follows": text} if number in (1, 2) else {}


def test_the_votes_add_up_to_the_rank(memory: Memory) -> None:
    me = scope(memory)
    for n in range(6):
        say(me, f"{WORDS[n]} {WORDS[(n * n) % 6]} is preferred.", **_after(n))

    def rest(one: Explained) -> float:
        return one.rank - one.lexical_vote - one.semantic_vote - one.thread_vote

    for query in (QUERY, f"{WORDS[1]} {WORDS[1]} is preferred."):
        found = me.recall(query, minimum_score=-1, explain=True)
        for one in found.trace.explained:
            assert rest(one) == pytest.approx(EXACT_BONUS if one.exact else 0.0, abs=1e-4)
            assert (one.semantic is None) == (memory.health().embedder is None)
            assert one.semantic is not None or one.semantic_vote == 0
        assert {one.thread_vote > 0 for one in found.trace.explained} == {True, False}


def test_without_explain_nothing_is_explained(memory: Memory) -> None:
    me = scope(memory)
    say(me, "The preferred region is eu-west.")
    assert me.recall(QUERY).trace.explained == ()
    assert scope(memory).recall("Anything at all?", explain=True).trace.version == 1


def test_an_empty_scope_has_nothing_to_explain(memory: Memory) -> None:
    assert scope(memory).recall(QUERY, explain=True).trace.explained == ()


@settings(max_examples=25)
@given(
    texts=st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), max_size=12),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    limit=st.integers(0, 6),
)
def test_explaining_changes_no_hit(texts: list[list[str]], query: list[str], limit: int) -> None:
    with muniment.open(":memory:", embedder=FakeEmbedder(), clock=FrozenClock()) as memory:
        me = scope(memory)
        for number, words in enumerate(texts):
            field = {"field": words[0], "value": number} if number % 3 == 0 else {}
            say(me, f"{' '.join(words)} {number}", **field)
        asked = {"limit": limit, "minimum_score": 0.0}
        plain = me.recall(" ".join(query), **asked)  # type: ignore[arg-type]
        explained = me.recall(" ".join(query), explain=True, **asked)  # type: ignore[arg-type]
        assert explained.packet == plain.packet
        assert explained.trace.hits == plain.trace.hits
        assert explained.trace.rejected == plain.trace.rejected
