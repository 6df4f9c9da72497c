"""Failures of isolation: one person's memory shown to, mixed with or wiped for another."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import combinations, permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import InvalidInputError, Memory, NotFoundError, Scope, ScopedMemory, ScopeError
from muniment.errors import CursorError
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import LEXICAL, House, ids, said, same_scope, texts

PAIRS = [
    pytest.param(("team", "alpha_x", "p"), ("team_alpha", "x", "p"), id="memanto#1317 underscore"),
    pytest.param(("t:1", "u", "a"), ("t", "1:u", "a"), id="memanto#1317 colon"),
    pytest.param(("t/1", "u", "a"), ("t", "1/u", "a"), id="memanto#1317 slash"),
    pytest.param(("t|1", "u", "a"), ("t", "1|u", "a"), id="memanto#1317 bar"),
    pytest.param(("t.1", "u", "a"), ("t", "1.u", "a"), id="memanto#1317 dot"),
    pytest.param(("t1", "u1", "a1"), ("t1", "u1", "a1 "), id="trailing space"),
    pytest.param(("acme", "u1", "a1"), ("acme-corp", "u1", "a1"), id="CVE-2026-71433 tenant"),
    pytest.param(("acme", "u1", "a1"), ("acme", "u10", "a1"), id="CVE-2026-71433 user"),
    pytest.param(("acme", "u1", "a1"), ("acme", "u1", "a11"), id="CVE-2026-71433 agent"),
    pytest.param(("t1", "u_1", "a1"), ("t1", "uX1", "a1"), id="CloudBot#24 underscore"),
    pytest.param(("t1", "u%", "a1"), ("t1", "u1", "a1"), id="CloudBot#24 percent"),
    pytest.param(("t1", "u*", "a1"), ("t1", "u1", "a1"), id="star inside"),
    pytest.param(("t1", "?", "a1"), ("t1", "u", "a1"), id="question mark"),
    pytest.param(("t1", "[a-z]", "a1"), ("t1", "b", "a1"), id="character class"),
    pytest.param(("t1", "0", "a1"), ("t1", "00", "a1"), id="class:id-types zero"),
    pytest.param(("t1", "u1", "a1"), ("t1", " u1", "a1"), id="class:id-types space"),
    pytest.param(("t1", "u1", "a1"), ("t1", "U1", "a1"), id="class:id-types case"),
    pytest.param(("t1", "1", "a1"), ("t1", "1.0", "a1"), id="number"),
    pytest.param(("t1", "josé", "a1"), ("t1", "jose\u0301", "a1"), id="openclaw#150968 nfc"),
    pytest.param(("t1", "straße", "a1"), ("t1", "strasse", "a1"), id="case folding"),
    pytest.param(("t1", "ﬁ", "a1"), ("t1", "fi", "a1"), id="compatibility form"),
    pytest.param(("t1", "علی", "a1"), ("t1", "علي", "a1"), id="letter variant"),
    pytest.param(("t1", "u\u200c1", "a1"), ("t1", "u1", "a1"), id="joiner"),
    pytest.param(("a", "b", "c"), ("b", "a", "c"), id="swapped"),
    pytest.param(("t1", "u1", "a1"), ("t1", "u1", "a1_typo"), id="MemWal#416 typo"),
    pytest.param(("t1", "'; --", "a1"), ("t1", "u1", "a1"), id="quote"),
]
Parts = tuple[str, str, str]


def scope_of(memory: Memory, parts: Parts) -> ScopedMemory:
    tenant_id, user_id, agent_id = parts
    return memory.scoped(tenant_id=tenant_id, user_id=user_id, agent_id=agent_id)


@pytest.mark.promise("SCO-1", "SCO-4")
@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_two_scopes_that_look_alike_share_nothing(memory: Memory, one: Parts, other: Parts) -> None:
    here, there = scope_of(memory, one), scope_of(memory, other)
    mine = said(here, "Likes tea.", source_id="s1", field="drink", value="tea")
    theirs = said(there, "Likes milk.", source_id="s1", field="drink", value="milk")
    assert theirs.superseded is None
    for scoped, kept in ((here, mine), (there, theirs)):
        assert ids(scoped.list(superseded=True)) == [kept.memory_id]
        assert ids(scoped.recall("likes tea milk", minimum_score=-1)) == [kept.memory_id]
        assert len(scoped.audit()) == 1
    here.forget(mine.memory_id)
    assert len(here.list()) == 0
    assert ids(there.list()) == [theirs.memory_id]


PART = st.text(st.sampled_from("ab_:/|.-%* \u200c\u0301é'\"\\;"), min_size=1, max_size=4)
SCOPES = st.tuples(PART, PART, PART).filter(
    lambda parts: all(part.strip() and part != "*" for part in parts)
)


@pytest.mark.promise("SCO-4")
@settings(max_examples=40)
@given(st.lists(SCOPES, min_size=2, max_size=5, unique=True))
def test_as_many_scopes_as_ids_whatever_the_ids_are(scopes: list[Parts]) -> None:
    with muniment.open(":memory:", embedder="none", clock=FrozenClock()) as memory:
        for number, parts in enumerate(scopes):
            said(scope_of(memory, parts), f"Statement {number}.", source_id="s1")
        assert memory.health().scopes == len(scopes)
        for number, parts in enumerate(scopes):
            assert texts(scope_of(memory, parts).list()) == [f"Statement {number}."]


@pytest.mark.promise("SCO-4")
def test_parts_are_never_normalised() -> None:
    spellings = ["josé", unicodedata.normalize("NFD", "josé"), "JOSÉ", " josé", "josé "]
    scopes = {Scope("t1", spelling, "a1") for spelling in spellings}
    assert len(scopes) == len(spellings)
    assert [Scope("t1", spelling, "a1").user_id for spelling in spellings] == spellings


@pytest.mark.promise("SCO-4")
def test_no_two_scopes_share_a_key_for_words_or_cursors(memory: Memory) -> None:
    keys = memory._store.keys
    scopes = [Scope("t:1", "u", "a"), Scope("t", "1:u", "a"), Scope("t", "u", "1:a")]
    for key in (keys.words, keys.cursor, keys.tombstone):
        assert key(Scope("t1", "u", "a")) != key(Scope("t2", "u", "a"))
    assert len({key(scope) for scope in scopes for key in (keys.words, keys.cursor)}) == 6


UNFIT = [None, "", " ", "\t\n", "\u2003", "*", 0, 1, True, b"u1", ["u1"], {"id": "u1"}, 1.0]
UNFIT += ["a\x00b", "a\nb", "\x7f", "a\ud800", "x" * 257]


@pytest.mark.promise("SCO-2")
@pytest.mark.parametrize("bad", UNFIT)
@pytest.mark.parametrize("part", ["tenant_id", "user_id", "agent_id"])
def test_an_incomplete_scope_is_an_error_and_not_everybody(
    memory: Memory, me: ScopedMemory, part: str, bad: object
) -> None:
    said(me, "Likes tea.")
    parts: dict[str, Any] = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1", part: bad}
    with pytest.raises(ScopeError, match=part):
        memory.scoped(**parts)
    assert me.counts().active == 1


@pytest.mark.promise("SCO-2")
@pytest.mark.parametrize("missing", ["tenant_id", "user_id", "agent_id"])
def test_no_part_of_a_scope_has_a_default(memory: Memory, missing: str) -> None:
    parts = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1"}
    del parts[missing]
    with pytest.raises(TypeError, match=missing):
        memory.scoped(**parts)


@pytest.mark.promise("SCO-2")
def test_nothing_but_a_scoped_memory_reads_or_writes(memory: Memory, me: ScopedMemory) -> None:
    verbs = {"remember", "recall", "list", "get", "history", "forget", "answer", "audit"}
    assert verbs <= {name for name in dir(me) if not name.startswith("_")}
    assert not verbs & {name for name in dir(memory) if not name.startswith("_")}
    with pytest.raises(AttributeError):
        me.scope.user_id = "u2"  # type: ignore[misc]


@LEXICAL
class TestForeignIds:
    @pytest.mark.promise("SCO-3")
    def test_a_foreign_id_looks_like_one_that_never_was(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        kept = said(me, "Likes tea.")
        for stranger in (other_user, other_tenant):
            said(stranger, "Likes milk.")
            for name in ("get", "history", "forget"):
                verb: Callable[[str], object] = getattr(stranger, name)
                with pytest.raises(NotFoundError) as foreign:
                    verb(kept.memory_id)
                with pytest.raises(NotFoundError) as invented:
                    verb("mem_" + "0" * 32)
                assert foreign.value.to_dict() == invented.value.to_dict()
        assert me.get(kept.memory_id).text == "Likes tea."

    @pytest.mark.promise("SCO-3")
    def test_no_filter_reaches_into_another_scope(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        kept = said(me, "Likes tea.", source_id="s1", metadata={"user_id": "u2"})
        every: list[dict[str, Any]] = [
            {"source_id": "s1"},
            {"metadata.user_id": "u2"},
            {"source_id": {"not_in": []}},
            {"kind": {"ne": "x"}},
        ]
        for filters in every:
            assert ids(me.list(filters=filters)) == [kept.memory_id]
            for stranger in (other_user, other_tenant):
                assert len(stranger.list(filters=filters)) == 0
                assert len(stranger.recall("tea", filters=filters, minimum_score=-1)) == 0

    @pytest.mark.promise("SCO-3")
    def test_a_foreign_cursor_opens_nothing(
        self, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        for number in range(3):
            said(other_user, f"Statement {number}.")
        cursor = other_user.list(limit=1).cursor
        with pytest.raises(CursorError):
            me.list(limit=1, cursor=cursor)


@LEXICAL
@pytest.mark.promise("SCO-1")
def test_every_read_applies_the_same_filter(me: ScopedMemory) -> None:
    """hermes#115499, memoria#212: a second path forgot the filter of the first."""
    work = said(me, "A work note.", metadata={"tag": "work"}, kind="decision")
    said(me, "A home note.", metadata={"tag": "home"})
    said(me, "A note.")
    narrowings: list[dict[str, Any]] = [
        {"filters": {"metadata.tag": "work"}},
        {"filters": {"kind": "decision"}},
        {"filters": {"metadata.tag": {"in": ["work", "play"]}}},
        {"kinds": ["decision"]},
    ]
    for narrowing in narrowings:
        assert ids(me.list(**narrowing)) == [work.memory_id]
        for query in ("note", "What do you know about me?"):
            assert ids(me.recall(query, minimum_score=-1, **narrowing)) == [work.memory_id]


@LEXICAL
def test_a_positive_filter_never_matches_a_record_without_the_value(me: ScopedMemory) -> None:
    """hermes#113805: `any` returned rows that had no tags at all."""
    tagged = said(me, "Tagged.", metadata={"tags": ["x"]})
    said(me, "Untagged.")
    said(me, "Otherwise tagged.", metadata={"tags": ["y"]})
    filters = {"metadata.tags": {"any": ["x"]}}
    assert ids(me.recall("tagged", filters=filters, minimum_score=-1)) == [tagged.memory_id]


@LEXICAL
@pytest.mark.promise("SCO-1", "SCO-3")
def test_upkeep_of_one_scope_leaves_the_others_alone(memory: Memory) -> None:
    """remnic#557, cognee#2732, mem0#3928: work on one scope changed another."""
    scopes = [
        scope_of(memory, (t, u, a))
        for t in ("t1", "t2")
        for u in ("u1", "u2")
        for a in ("a1", "a2")
    ]
    cities = ["Bern", "Rome", "Oslo", "Lima", "Kyiv", "Pune", "Bonn", "Cali"]
    for scoped, city in zip(scopes, cities, strict=True):
        said(scoped, "Same words.", source_id="same")
        said(scoped, f"The office is in {city}.", field="office", value=city)
    first = scopes[0]
    first.forget(first.list().records[1].memory_id)
    said(first, "The office is in Graz.", field="office", value="Graz")
    memory.compact()
    for scoped, city in zip(scopes[1:], cities[1:], strict=True):
        assert texts(scoped.list(superseded=True)) == [f"The office is in {city}.", "Same words."]
        assert texts(scoped.recall("same words")) == ["Same words."]


@LEXICAL
def test_permuted_ids_are_six_scopes(memory: Memory) -> None:
    for number, (tenant, user, agent) in enumerate(permutations(("a", "b", "c"))):
        said(scope_of(memory, (tenant, user, agent)), f"Statement {number}.", source_id="s1")
    assert memory.health().scopes == 6


@pytest.mark.promise("SCO-1")
def test_foreign_words_and_vectors_do_not_move_a_score(
    house: House, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
) -> None:
    for text in ("Likes green tea.", "Drives a red van.", "Works with tea and vans."):
        said(me, text)
    before = me.recall("green tea", minimum_score=-1)
    for number in range(30):
        said(other_user, f"green tea number {number}")
        said(other_tenant, f"green tea number {number}")
    for again in (me, same_scope(house.open(), me)):
        assert again.recall("green tea", minimum_score=-1) == before


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), max_size=15))
def test_four_scopes_behave_as_four_separate_stores(writes: list[tuple[int, int]]) -> None:
    owners = [("t1", "u1", "a1"), ("t1", "u1", "a2"), ("t1", "u2", "a1"), ("t2", "u1", "a1")]
    with muniment.open(":memory:", embedder=FakeEmbedder(), clock=FrozenClock()) as shared:
        kept: dict[int, list[str]] = {0: [], 1: [], 2: [], 3: []}
        for owner, number in writes:
            text = f"Statement {number} of {owner}."
            said(scope_of(shared, owners[owner]), text, source_id=f"s{number}")
            if text not in kept[owner]:
                kept[owner].append(text)
        for owner, parts in enumerate(owners):
            assert texts(scope_of(shared, parts).list())[::-1] == kept[owner]
            found = texts(scope_of(shared, parts).recall("statement", minimum_score=-1, limit=50))
            assert sorted(found) == sorted(kept[owner])


def test_a_scope_is_equal_to_itself_only() -> None:
    scopes = [Scope(*parts) for parts in permutations(("a", "b", "c"))]
    assert all(one != other for one, other in combinations(scopes, 2))
    with pytest.raises(InvalidInputError):
        Scope("a", "b", "*")
