"""Recalling: what is found, in which order, up to where, and what the trace says about it."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import InvalidInputError, Memory, ProviderError, Recall, ScopedMemory, Statement
from muniment.errors import FilterError, UnknownKindError
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.trace import Degraded, Reason
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope, texts

WORDS = ["tea", "milk", "rye", "jam", "plum", "چای", "茶"]
KINDS = ["preference", "verified_fact", "feedback"]
TIMES = [None, "2029-12-31T23:00:00Z", "2030-01-01T00:00:00Z", "2030-01-02T00:00:00Z"]
STATEMENTS = st.lists(
    st.builds(
        lambda words, kind, expires, begins, tag: Statement(
            kind,
            " ".join(words),
            "",
            expires_at=expires,
            valid_from=begins,
            metadata={} if tag is None else {"tag": tag},
        ),
        st.lists(st.sampled_from(WORDS), min_size=1, max_size=4),
        st.sampled_from(KINDS),
        st.sampled_from(TIMES),
        st.sampled_from(TIMES),
        st.sampled_from([None, "a", "b"]),
    ),
    max_size=8,
)
QUESTIONS = st.fixed_dictionaries(
    {
        "query": st.sampled_from([*WORDS, "tea rye", "What do you know about me?", "", "nothing"]),
        "limit": st.integers(0, 9),
        "minimum_score": st.sampled_from([-1.0, 0.0, 0.25, 0.6, 1.0]),
        "kinds": st.none() | st.lists(st.sampled_from(KINDS), max_size=2),
        "filters": st.sampled_from([None, {"metadata.tag": "a"}, {"metadata.tag": {"ne": "a"}}]),
        "budget": st.none() | st.integers(0, 400),
    }
)


def numbered(statements: list[Statement]) -> list[Statement]:
    numbers = count()
    return [
        Statement(**{**one.to_dict(), "source_id": f"s{next(numbers)}"})  # type: ignore[arg-type]
        for one in statements
    ]


def total(found: Recall, *reasons: Reason) -> int:
    return sum(found.trace.rejected.get(reason, 0) for reason in reasons)


class TestTheTrace:
    @pytest.mark.promise("REC-1", "REC-3", "REC-5")
    @settings(max_examples=60)
    @given(STATEMENTS, QUESTIONS, st.booleans())
    def test_its_numbers_add_up_and_the_packet_keeps_every_limit(
        self, statements: list[Statement], question: dict[str, Any], embed: bool
    ) -> None:
        embedder = FakeEmbedder() if embed else None
        with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            me.remember_many(numbered(statements), approved=True)
            found = me.recall(**question)
            assert me.recall(**question) == found
        trace = found.trace
        late = total(found, Reason.EXPIRED, Reason.NOT_YET_VALID, Reason.NO_LONGER_VALID)
        assert trace.records == len(statements)
        assert trace.records == trace.considered + late + total(found, Reason.KIND, Reason.FILTER)
        left = total(found, Reason.SCORE, Reason.LIMIT, Reason.BUDGET)
        assert trace.considered == len(trace.hits) + left
        assert len(trace.budget_rejected) == total(found, Reason.BUDGET)
        assert all(trace.rejected.values())
        assert [hit.memory_id for hit in trace.hits] == ids(found)
        assert [hit.score for hit in trace.hits] == [item.score for item in found]
        assert len(found) <= question["limit"]
        assert question["budget"] is None or found.packet.tokens <= question["budget"]
        assert all(item.score >= question["minimum_score"] - 1e-6 for item in found)
        for item in found:
            assert question["kinds"] is None or item.record.kind in question["kinds"]
            assert item.record.text not in json.dumps(trace.to_dict(), ensure_ascii=False)

    @pytest.mark.promise("REC-5")
    def test_it_says_why_each_record_was_left_out(self, me: ScopedMemory) -> None:
        said(me, "tea one", expires_at="2029-01-01T00:00:00Z")
        said(me, "tea two", valid_from="2031-01-01T00:00:00Z")
        said(me, "tea three", valid_until="2029-01-01T00:00:00Z")
        said(me, "tea four", kind="verified_fact")
        said(me, "tea five", metadata={"tag": "x"})
        said(me, "unrelated")
        said(me, "tea " * 300)
        said(me, "green tea")
        for _ in range(2):
            said(me, "tea")
        found = me.recall(
            "tea",
            kinds=["preference"],
            filters={"metadata.tag": {"exists": False}},
            limit=2,
            budget=300,
            minimum_score=0.01,
        )
        assert found.trace.rejected == {
            Reason.EXPIRED: 1,
            Reason.NOT_YET_VALID: 1,
            Reason.NO_LONGER_VALID: 1,
            Reason.KIND: 1,
            Reason.FILTER: 1,
            Reason.SCORE: 1,
            Reason.LIMIT: 1,
            Reason.DUPLICATE: 1,
            Reason.BUDGET: 1,
        }
        assert (found.trace.records, found.trace.considered, len(found)) == (10, 5, 1)

    @pytest.mark.promise("REC-5")
    def test_it_names_what_did_not_fit_the_budget(self, me: ScopedMemory) -> None:
        long = said(me, "tea " * 300)
        short = said(me, "tea")
        found = me.recall("tea", budget=300, minimum_score=0)
        assert ids(found) == [short.memory_id]
        assert found.trace.budget_rejected == (long.memory_id,)
        assert found.trace.rejected == {Reason.BUDGET: 1}

    @LEXICAL
    @pytest.mark.promise("REC-5")
    def test_it_says_that_there_is_no_embedder(self, me: ScopedMemory) -> None:
        said(me, "Likes tea.")
        trace = me.recall("tea").trace
        assert trace.channels == ("exact", "lexical")
        assert (trace.degraded, trace.embedder) == ((Degraded.NO_EMBEDDER,), None)
        assert trace.hits[0].semantic is None

    @HYBRID
    @pytest.mark.promise("REC-5")
    def test_it_says_what_each_channel_found(self, me: ScopedMemory) -> None:
        said(me, "Likes green tea.")
        trace = me.recall("green tea").trace
        assert trace.channels == ("exact", "lexical", "semantic")
        assert (trace.degraded, trace.embedder) == ((), "fake")
        (hit,) = trace.hits
        assert hit.semantic is not None
        assert hit.semantic > 0.7
        assert 0 < hit.lexical <= 1
        assert not hit.exact

    def test_a_scope_that_holds_nothing_says_so(self, me: ScopedMemory, memory: Memory) -> None:
        said(me, "Likes tea.")
        typo = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1_typo")
        trace = typo.recall("tea", minimum_score=-1).trace
        assert (trace.records, trace.considered, trace.version, trace.hits) == (0, 0, 0, ())


class TestOrderAndLimits:
    @pytest.mark.promise("REC-1")
    def test_kinds_and_filters_apply_before_the_limit(self, me: ScopedMemory) -> None:
        for number in range(10):
            said(me, f"alpha note {number}", metadata={"tag": "home"})
        wanted = [
            said(me, f"alpha item {number} with much more to say", kind="decision").memory_id
            for number in range(3)
        ]
        for narrowing in ({"kinds": ["decision"]}, {"filters": {"kind": "decision"}}):
            found = me.recall("alpha note", limit=3, minimum_score=-1, **narrowing)
            assert set(ids(found)) == set(wanted)

    @pytest.mark.promise("REC-2")
    def test_a_named_field_value_or_text_comes_first(self, me: ScopedMemory) -> None:
        said(me, "seat preference of a friend: the seat at the window of the aisle")
        kept = said(me, "Sits at the side.", field="seat_preference", value="aisle")
        for query in ("seat preference", "Seat_Preference", "aisle", "sits at the side."):
            best = next(iter(me.recall(query)))
            assert (best.record.memory_id, best.score) == (kept.memory_id, 1.0)

    @pytest.mark.promise("REC-2")
    def test_a_limit_of_nothing_gives_nothing(self, me: ScopedMemory) -> None:
        said(me, "Likes tea.")
        found = me.recall("tea", limit=0)
        assert (list(found), found.trace.rejected) == ([], {Reason.LIMIT: 1})

    @pytest.mark.promise("REC-11")
    @pytest.mark.parametrize("question", ["What do you know about me?", "چه چیزی از من می‌دانی؟"])
    def test_a_question_without_content_lists_the_newest(
        self, me: ScopedMemory, question: str
    ) -> None:
        for number in range(7):
            said(me, f"Statement {number}.")
        said(me, "Gone.", expires_at="2029-01-01T00:00:00Z")
        assert texts(me.recall(question, limit=3)) == [f"Statement {n}." for n in (6, 5, 4)]

    @pytest.mark.promise("REC-2")
    @pytest.mark.parametrize(
        "options",
        [
            {"limit": -1},
            {"limit": 10_001},
            {"limit": 2.0},
            {"limit": "5"},
            {"limit": True},
            {"limit": None},
            {"budget": -1},
            {"budget": 1.5},
            {"budget": True},
            {"minimum_score": 1.01},
            {"minimum_score": -1.01},
            {"minimum_score": float("nan")},
            {"minimum_score": "0.5"},
            {"minimum_score": True},
            {"query": None},
            {"query": b"tea"},
            {"query": 5},
        ],
    )
    def test_an_argument_out_of_range_is_refused(
        self, me: ScopedMemory, options: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            me.recall(**({"query": "tea"} | options))

    @pytest.mark.promise("REC-9")
    def test_an_unknown_kind_or_filter_is_an_error_and_not_an_empty_result(
        self, me: ScopedMemory
    ) -> None:
        for kinds in (["rumour"], [None]):
            with pytest.raises(UnknownKindError):
                me.recall("tea", kinds=kinds)  # type: ignore[arg-type]
        with pytest.raises(InvalidInputError, match="kinds must be a list"):
            me.recall("tea", kinds="preference")
        with pytest.raises(FilterError):
            me.recall("tea", filters={"color": "red"})
        assert len(me.recall("tea", kinds=["fact"], filters={"metadata.color": "red"})) == 0


class TestBudget:
    @pytest.mark.promise("REC-3")
    @pytest.mark.parametrize("count_tokens", [len, lambda text: len(text.split())])
    def test_the_callers_own_counter_is_kept_to(
        self, house: House, me: ScopedMemory, count_tokens: Callable[[str], int]
    ) -> None:
        for number in range(6):
            said(me, f"tea number {number} " + "leaf " * number)
        mine = same_scope(house.open(count_tokens=count_tokens), me)
        for budget in range(0, 1200, 67):
            packet = mine.recall("tea", budget=budget, limit=6, minimum_score=-1).packet
            assert packet.tokens <= budget
            assert packet.tokens == count_tokens(packet.text)

    @pytest.mark.promise("REC-3")
    def test_without_a_budget_everything_fits(self, me: ScopedMemory) -> None:
        said(me, "tea " * 20_000)
        assert len(me.recall("tea", budget=None, minimum_score=-1)) == 1

    @pytest.mark.promise("REC-4")
    def test_the_packet_shows_each_record_with_its_papers(self, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.", source_id="form 7")
        packet = me.recall("tea").packet
        shown = json.loads(packet.text.splitlines()[-2])
        assert shown["memory_id"] == kept.memory_id
        assert (shown["text"], shown["source_id"]) == ("Likes tea.", "form 7")
        assert (shown["status"], shown["date"]) == ("active", "2030-01-01T00:00:00Z")
        assert str(packet) == packet.text


class TestReading:
    def test_a_recall_changes_nothing(self, me: ScopedMemory) -> None:
        said(me, "Likes tea.")
        before = (me.audit(), me.counts(), me.list())
        found = me.recall("tea")
        me.recall("What do you know about me?")
        assert (me.audit(), me.counts(), me.list()) == before
        assert me.recall("tea") == found

    def test_the_same_store_answers_the_same_after_reopening(
        self, house: House, me: ScopedMemory
    ) -> None:
        for number in range(30):
            said(me, f"tea {WORDS[number % 5]} {number % 3}")
        found = me.recall("tea plum", limit=20)
        again = same_scope(house.open(), me).recall("tea plum", limit=20)
        assert again.packet == found.packet

    @HYBRID
    def test_a_strict_recall_fails_with_the_embedder(
        self, me: ScopedMemory, embedder: FakeEmbedder
    ) -> None:
        said(me, "Likes tea.")
        embedder.fail = True
        with pytest.raises(ProviderError):
            me.recall("tea", strict=True)
        assert me.recall("tea").trace.degraded == (Degraded.EMBEDDER_FAILED,)
        assert len(me.recall("What do you know about me?", strict=True)) == 1
