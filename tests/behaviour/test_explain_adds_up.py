"""Whatever a scope holds and whatever is asked: the numbers of an explanation add up."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import ScopedMemory
from muniment.rules.ranking import EXACT_BONUS
from muniment.scope import Principal, Role, Space, SpaceType
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.trace import Reason, Recall

TEAM = Space("t1", SpaceType.PROJECT, "apollo")
WORDS = st.sampled_from(["tea", "lake", "seat", "چای", "咖啡", "C++", "may", "2029-05-10"])
TEXT = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
TIMES = ["2029-05-10T00:00:00Z", "2029-12-31T00:00:00Z", "2030-01-01T00:00:20Z"]
RECORD = st.fixed_dictionaries(
    {"text": TEXT, "kind": st.sampled_from(["preference", "procedure", "context"])},
    optional={
        "field": st.sampled_from(["tea", "seat"]),
        "metadata": st.sampled_from([{"tag": "x"}, {"tag": "y"}]),
        "valid_from": st.sampled_from(TIMES),
        "expires_at": st.just("2030-01-01T00:00:10Z"),
        "before": st.integers(1, 3),
        "shared": st.just(True),
    },
)
ASKED = st.fixed_dictionaries(
    {
        "query": TEXT | st.sampled_from(["tea last May", "What do you know?", "", "?!"]),
        "limit": st.sampled_from([0, 1, 3, 50]),
        "minimum_score": st.sampled_from([-1, 0, 0.25, 0.6]),
        "budget": st.sampled_from([None, 0, 90, 400]),
    },
    optional={
        "kinds": st.sampled_from([["preference"], ["procedure", "context"]]),
        "filters": st.sampled_from([{"metadata.tag": "x"}, {"field": {"exists": False}}]),
        "as_of": st.just("2030-01-01T00:00:12Z"),
    },
)
LAPSED = {Reason.EXPIRED, Reason.NOT_YET_VALID, Reason.NO_LONGER_VALID}
LEFT_OUT = {*LAPSED, Reason.KIND, Reason.READER, Reason.FILTER, Reason.OVERRULED}


def write(memory: muniment.Memory, me: ScopedMemory, number: int, drawn: dict[str, Any]) -> None:
    parts = {"source_id": f"s{number}", **drawn}
    before = parts.pop("before", None)
    if not parts.pop("shared", False):
        follows = f"s{number - before}" if before else None
        me.remember(parts.pop("text"), approved=True, follows=follows, **parts)
        return
    parts |= {"kind": "procedure", "space": TEAM, "proposer": f"p{number}"}
    parts.pop("expires_at", None)
    shown = me.propose(parts.pop("text"), **parts)
    memory.reviewing(Principal("t1", "dana", frozenset({Role.REVIEWER}))).approve(
        TEAM, shown.candidate_id, version=shown.version, content_hash=shown.content_hash
    )


def check(found: Recall, asked: dict[str, Any]) -> None:
    trace, counts = found.trace, Counter(found.trace.rejected)
    left_out = sum(counts[reason] for reason in LEFT_OUT)
    assert trace.records - left_out == trace.considered
    assert trace.considered == len(found) + counts.total() - left_out
    scores = [hit.score for hit in trace.hits]
    assert scores == sorted(scores, reverse=True)
    assert all(max(0, asked["minimum_score"] - 1e-6) <= score <= 1 for score in scores)
    assert {one.memory_id for one in trace.explained if one.reason is None} == {
        hit.memory_id for hit in trace.hits
    }
    told = Counter(one.reason for one in trace.explained if one.reason)
    del told[Reason.SUPERSEDED]
    assert told <= counts
    for one in trace.explained:
        votes = one.lexical_vote + one.semantic_vote + one.thread_vote + one.time_vote
        whole = 1.0 if trace.channels == ("listing",) else votes + EXACT_BONUS * one.exact
        assert one.rank == pytest.approx(whole, abs=1e-4)


@pytest.mark.promise("REC-5")
@settings(max_examples=30)
@given(st.lists(RECORD, max_size=12), st.lists(ASKED, min_size=1, max_size=4), st.booleans())
def test_every_record_is_shown_or_left_out_for_a_reason_and_votes_make_its_rank(
    records: list[dict[str, Any]], questions: list[dict[str, Any]], embed: bool
) -> None:
    clock, embedder = FrozenClock(), FakeEmbedder() if embed else "none"
    with muniment.open(":memory:", embedder=embedder, clock=clock) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1").with_spaces(TEAM)
        for number, drawn in enumerate(records):
            write(memory, me, number, drawn)
            clock.advance(seconds=1)
        clock.set("2030-01-01T00:00:30Z")
        for asked in questions:
            plain, found = me.recall(**asked), me.recall(explain=True, **asked)
            check(found, asked)
            assert (plain.packet, plain.trace.hits) == (found.packet, found.trace.hits)
