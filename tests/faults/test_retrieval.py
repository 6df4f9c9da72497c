"""Failures of finding: rows hidden, cut, reversed or drowned."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import InvalidInputError, Memory, ScopedMemory, Statement
from muniment.testing import FakeEmbedder, FrozenClock
from muniment.trace import Reason
from tests.behaviour.conftest import LEXICAL, ids, said, texts


def fill(me: ScopedMemory, pattern: str, number: int) -> list[str]:
    batch = [Statement("preference", pattern.format(n), f"s{n}") for n in range(number)]
    return [written.memory_id for written in me.remember_many(batch, approved=True)]


@pytest.mark.promise("SCO-1", "REC-1")
@pytest.mark.parametrize("limit", [1, 5])
def test_nearer_rows_of_others_take_no_place(
    me: ScopedMemory, other_user: ScopedMemory, limit: int
) -> None:
    """sqlite-vec#152: a filter after the nearest-neighbour search left nothing."""
    fill(other_user, "llama facts variant {}", 200)
    kept = said(me, "A llama note.")
    for filters in (None, {"kind": "preference"}):
        found = me.recall("llama facts", limit=limit, filters=filters, minimum_score=0.1)
        assert ids(found) == [kept.memory_id]


@pytest.mark.promise("REC-2")
def test_a_smaller_limit_is_the_beginning_of_a_larger_one(me: ScopedMemory) -> None:
    """sqlite-vec#152, chroma#4275"""
    fill(me, "tea fact {} about the topic", 40)
    whole = ids(me.recall("tea fact 7 topic", limit=40, minimum_score=-1, budget=None))
    assert len(whole) == 40
    for limit in range(1, 40, 3):
        found = me.recall("tea fact 7 topic", limit=limit, minimum_score=-1, budget=None)
        assert ids(found) == whole[:limit]


@pytest.mark.promise("REC-2")
@settings(max_examples=15)
@given(st.sets(st.integers(0, 99), max_size=70), st.booleans())
def test_after_deletions_each_record_is_found_by_its_own_text(gone: set[int], embed: bool) -> None:
    """chroma#4275: deletions made live rows unreachable."""
    embedder = FakeEmbedder() if embed else None
    with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        written = fill(me, "fact number {0} about topic {0}", 100)
        me.recall("topic")
        for number in gone:
            me.forget(written[number])
        for number in range(0, 100, 3):
            found = me.recall(f"fact number {number} about topic {number}", limit=3)
            assert (ids(found)[:1] == [written[number]]) is (number not in gone)
            assert not {written[one] for one in gone} & set(ids(found))


@pytest.mark.promise("REC-5")
def test_a_scope_that_holds_nothing_says_so_and_nothing_about_others(
    memory: Memory, me: ScopedMemory
) -> None:
    """MemWal#416, letta#401"""
    nobody = memory.scoped(tenant_id="new", user_id="new", agent_id="new")
    for _ in range(2):
        found = nobody.recall("anything", minimum_score=-1)
        assert (list(found), found.trace.records, found.trace.rejected) == ([], 0, {})
        assert (len(nobody.list()), nobody.list().cursor) == (0, None)
        assert (nobody.audit(), nobody.counts().active) == ((), 0)
        said(me, "Something of mine.")


@LEXICAL
@pytest.mark.promise("REC-2")
def test_a_limit_is_kept_refused_or_declared_but_never_silently_cut(me: ScopedMemory) -> None:
    """sqlite-vec#157"""
    written = fill(me, "note {}", 4200)
    found = me.recall("note", limit=4200, minimum_score=-1, budget=None)
    assert set(ids(found)) == set(written)
    assert len(me.recall("note", limit=10_000, minimum_score=-1, budget=None)) == 4200
    cut = me.recall("note", limit=10, minimum_score=-1)
    assert cut.trace.rejected[Reason.LIMIT] == 4190
    assert len(me.recall("note", limit=0)) == 0
    for limit in (-1, 10_001, 100_000, 10**30):
        with pytest.raises(InvalidInputError, match="limit"):
            me.recall("note", limit=limit)


@pytest.mark.promise("REC-2", "REC-3")
def test_one_shared_word_does_not_pour_the_store_into_the_prompt(me: ScopedMemory) -> None:
    """adk-go#1526"""
    fill(me, "the project {} is in the city", 300)
    found = me.recall("the project 42")
    assert len(found) <= 5
    assert texts(found)[0] == "the project 42 is in the city"
    small = me.recall("the project 42", budget=200)
    assert small.packet.tokens <= 200
    assert texts(small)[0] == "the project 42 is in the city"


@pytest.mark.promise("REC-2")
def test_the_same_words_score_highest_and_higher_is_better(me: ScopedMemory) -> None:
    """mem0#4453, marm#113"""
    same = said(me, "the cat sat on the mat")
    said(me, "quarterly tax filing deadline")
    strict = me.recall("the cat sat on the mat", minimum_score=0.8)
    assert ids(strict) == [same.memory_id]
    assert next(iter(strict)).score > 0.95
    both = list(me.recall("the cat sat on the mat", minimum_score=-1, limit=2))
    assert both[0].record.memory_id == same.memory_id
    assert 1 >= both[0].score > both[1].score >= 0
    assert len(me.recall("quantum soup recipe", minimum_score=0.3)) == 0
    assert ids(me.recall("where did the cat sit", minimum_score=0.3)) == [same.memory_id]


@pytest.mark.promise("REC-2")
def test_a_score_does_not_depend_on_how_much_else_is_there(me: ScopedMemory) -> None:
    """marm#113: a threshold was compared with a number that rank fusion made."""
    said(me, "the deploy region is eu-west")
    alone = next(iter(me.recall("deploy region"))).score
    fill(me, "unrelated remark {} on something", 200)
    among = next(iter(me.recall("deploy region"))).score
    assert among == pytest.approx(alone, abs=0.05)


@LEXICAL
def test_every_page_together_is_the_whole_list(me: ScopedMemory) -> None:
    """nowledge#422"""
    written = fill(me, "m {}", 257)
    found: list[str] = []
    page = me.list(limit=50)
    while True:
        found += ids(page)
        if page.cursor is None:
            break
        page = me.list(limit=50, cursor=page.cursor)
    assert sorted(found) == sorted(written)
    assert (len(me.list(limit=1000)), me.list(limit=1000).cursor) == (257, None)
    assert me.list().cursor is not None


@pytest.mark.promise("REC-2")
def test_asking_for_more_than_there_is_gives_what_there_is(me: ScopedMemory) -> None:
    """chroma#342"""
    kept = said(me, "only one")
    assert ids(me.recall("one", limit=10)) == [kept.memory_id]
    assert len(me.recall("one", limit=10, filters={"kind": "decision"}, minimum_score=-1)) == 0


def test_every_way_of_reading_agrees_on_what_is_there(me: ScopedMemory) -> None:
    """nowledge#81b"""
    written = fill(me, "m {}", 60)
    me.forget(written.pop(7))
    listed = ids(me.list(limit=1000))
    recalled = ids(me.recall("m", limit=1000, minimum_score=-1, budget=None))
    asked = ids(me.recall("What do you know about me?", limit=1000, budget=None))
    assert sorted(listed) == sorted(recalled) == sorted(asked) == sorted(written)
    assert me.counts().active == 59
    assert [me.get(memory_id).memory_id for memory_id in listed] == listed


@LEXICAL
@pytest.mark.promise("REC-7")
@pytest.mark.parametrize(
    "words",
    [
        20,
        100,
        400,
        4000,
    ],
)
def test_a_long_record_is_found_by_a_word_of_it(me: ScopedMemory, words: int) -> None:
    filler = " ".join(f"filler{number}" for number in range(words))
    kept = said(me, f"{filler} zebra")
    said(me, "Something else.")
    assert ids(me.recall("zebra", budget=None)) == [kept.memory_id]
