"""Precedence: who may replace whom, as a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.records import Authority, JSONValue, canonical_json
from muniment.rules.precedence import Claim, Decision, decide

VALUES: st.SearchStrategy[JSONValue] = st.sampled_from(
    [None, True, False, 0, 1, "1", "Rome", "Oslo", ["Rome"], {"city": "Rome"}]
)
CLAIMS = st.builds(Claim, st.sampled_from(Authority), st.sampled_from(["subject", "job"]), VALUES)


def claim(authority: Authority, actor: str = "subject", value: JSONValue = "Rome") -> Claim:
    return Claim(authority, actor, value)


@pytest.mark.promise("CON-1")
def test_the_ranks_are_in_the_agreed_order() -> None:
    assert sorted(Authority, reverse=True) == [
        Authority.SYSTEM_OF_RECORD,
        Authority.EXPLICIT,
        Authority.APPROVED_SHARED,
        Authority.DELEGATED,
        Authority.VERIFIED_OUTCOME,
        Authority.INFERRED,
        Authority.SUMMARY,
    ]


@pytest.mark.promise("CON-1")
@given(CLAIMS, CLAIMS)
def test_rank_decides_before_anything_else(active: Claim, incoming: Claim) -> None:
    decision = decide(active, incoming)
    if incoming.authority > active.authority:
        assert decision is Decision.SUPERSEDE
    elif incoming.authority < active.authority:
        same = canonical_json(incoming.value) == canonical_json(active.value)
        assert decision is (Decision.KEEP if same else Decision.CONFLICT)
    elif incoming.actor == active.actor:
        assert decision is Decision.SUPERSEDE


@pytest.mark.promise("CON-1")
@given(CLAIMS, CLAIMS)
def test_two_claims_never_supersede_each_other_across_ranks(one: Claim, other: Claim) -> None:
    both = {decide(one, other), decide(other, one)}
    if one.authority != other.authority:
        assert len(both) == 2
        assert Decision.SUPERSEDE in both
    else:
        assert len(both) == 1


@pytest.mark.promise("CON-1")
@pytest.mark.parametrize(
    ("one", "other", "decision"),
    [
        ("Rome", "Rome", Decision.SUPERSEDE),
        ("Rome", "Oslo", Decision.CONFLICT),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, Decision.SUPERSEDE),
        (True, 1, Decision.CONFLICT),
        ("1", 1, Decision.CONFLICT),
        ([True], [1], Decision.CONFLICT),
        ("C", "C++", Decision.CONFLICT),
    ],
)
def test_two_people_of_one_rank_agree_or_conflict(
    one: JSONValue, other: JSONValue, decision: Decision
) -> None:
    active = claim(Authority.EXPLICIT, "subject", one)
    assert decide(active, claim(Authority.EXPLICIT, "operator", other)) is decision


@pytest.mark.promise("CON-1")
def test_no_time_takes_part_in_the_decision() -> None:
    assert set(Claim.__slots__) == {"authority", "actor", "value"}
