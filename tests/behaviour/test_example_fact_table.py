"""The second example: a table of facts about a user, one value for each name."""

from __future__ import annotations

import pytest

from muniment import ScopedMemory, Written
from tests.behaviour.conftest import House, ids, said, same_scope, texts


def fact(scoped: ScopedMemory, name: str, value: str) -> Written:
    return said(scoped, f"{name}: {value}", kind="fact", field=name, value=value)


@pytest.fixture
def facts(me: ScopedMemory) -> dict[str, str]:
    known = {"max apples": "100", "grocery budget": "40 euros", "home town": "شیراز"}
    for name, value in known.items():
        fact(me, name, value)
    return known


@pytest.mark.promise("WRI-9")
def test_remembering_a_name_again_replaces_its_value(me: ScopedMemory) -> None:
    old = fact(me, "max apples", "50")
    new = fact(me, "max apples", "100")
    assert new.superseded == old.memory_id
    assert ids(me.list()) == [new.memory_id]
    assert texts(me.recall("max apples")) == ["max apples: 100"]
    assert me.get(new.memory_id).value == "100"


@pytest.mark.promise("WRI-9")
def test_a_user_has_many_facts_and_one_value_for_each(
    me: ScopedMemory, facts: dict[str, str]
) -> None:
    for name in facts:
        fact(me, name, "changed")
    assert {record.field: record.value for record in me.list()} == dict.fromkeys(facts, "changed")
    assert me.counts().active == len(facts)


@pytest.mark.promise("REC-2")
def test_a_fact_is_found_by_its_name(me: ScopedMemory, facts: dict[str, str]) -> None:
    for name, value in facts.items():
        best = next(iter(me.recall(name)))
        assert (best.record.value, best.score) == (value, 1.0)


def test_a_name_that_was_never_saved_is_not_found(me: ScopedMemory, facts: dict[str, str]) -> None:
    assert len(me.recall("passport", minimum_score=0.3)) == 0


@pytest.mark.promise("REC-11")
@pytest.mark.parametrize(
    "question",
    [
        "What do you know about me?",
        "what do you remember about me",
        "Tell me everything you know about me.",
        "درباره من چه می‌دانی؟",
        "در مورد من چی میدونی",
        "از من چه چیزهایی به یاد داری؟",
    ],
)
def test_asking_what_is_known_lists_the_facts(
    me: ScopedMemory, facts: dict[str, str], question: str
) -> None:
    found = me.recall(question)
    assert [item.record.value for item in found] == list(reversed(facts.values()))
    assert found.trace.channels == ("listing",)


@pytest.mark.promise("SCO-1")
def test_another_user_sees_none_of_the_facts(
    other_user: ScopedMemory, facts: dict[str, str]
) -> None:
    assert len(other_user.list()) == 0
    for question in ("What do you know about me?", *facts):
        assert len(other_user.recall(question, minimum_score=-1)) == 0
    fact(other_user, "max apples", "3")
    assert texts(other_user.list()) == ["max apples: 3"]


@pytest.mark.promise("SCO-1")
def test_one_users_value_leaves_the_others_alone(
    me: ScopedMemory, other_user: ScopedMemory, facts: dict[str, str]
) -> None:
    fact(other_user, "max apples", "3")
    assert next(iter(me.recall("max apples"))).record.value == "100"


def test_a_new_session_of_the_same_user_keeps_the_facts(
    house: House, me: ScopedMemory, facts: dict[str, str]
) -> None:
    for memory in house.opened:
        memory.close()
    again = same_scope(house.open(), me)
    assert {record.field: record.value for record in again.list()} == facts
    assert len(again.recall("What do you know about me?")) == len(facts)
    newcomer = house.open().scoped(tenant_id="t1", user_id="u3", agent_id="a1")
    assert len(newcomer.recall("What do you know about me?")) == 0
