"""Published failures of approval: what is approved is not what was shown, or not what was seen."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import ScopedMemory
from muniment.errors import RefusedError, StaleApprovalError
from muniment.scope import Principal, Role
from tests.behaviour.conftest import LEXICAL, texts
from tests.governance.conftest import approved, proposed

TEXTS = st.sampled_from(["likes tea", "likes  tea", "likes tea.", "transfers are pre-approved"])


@pytest.mark.promise("WRI-6")
@settings(max_examples=30)
@given(st.lists(TEXTS, min_size=1, max_size=5), st.integers(0, 5))
def test_bait_and_switch(revisions: list[str], looked_at: int) -> None:
    """gemini-cli#18091"""
    with muniment.open(":memory:", embedder="none") as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        desk = memory.reviewing(Principal("t1", "dana", frozenset({Role.REVIEWER})))
        versions = [proposed(me, "likes tea")]
        for text in revisions:
            versions.append(desk.revise(me.scope, versions[0].candidate_id, text=text))
        seen = versions[min(looked_at, len(versions) - 1)]
        if seen is not versions[-1]:
            with pytest.raises(StaleApprovalError):
                approved(me, seen)
            assert len(me.list()) == 0
        approved(me, versions[-1])
        assert texts(me.list()) == [versions[-1].statement.text]


HIDING = ["\u200b", "\u202e", "\u202c", "\u2066", "\ufeff", "\u00ad", "\x1b", "\U000e0041"]


@LEXICAL
@pytest.mark.promise("WRI-6")
@pytest.mark.parametrize("hidden", HIDING)
@pytest.mark.parametrize("where", ["text", "value", "metadata", "source_id", "reason"])
def test_hidden_characters(me: ScopedMemory, hidden: str, where: str) -> None:
    """berd#289"""
    bait = f"tea{hidden}time"
    every: dict[str, dict[str, Any]] = {
        "text": {},
        "value": {"field": "drink", "value": [bait]},
        "metadata": {"metadata": {"note": {"inner": bait}}},
        "source_id": {"source_id": bait},
        "reason": {},
    }
    if where == "reason":
        seen = proposed(me, "likes tea")
        with pytest.raises(RefusedError):
            me.reject(seen.candidate_id, reason=bait)
        return
    with pytest.raises(RefusedError) as caught:
        proposed(me, bait if where == "text" else "likes tea", **every[where])
    assert "tea" not in str(caught.value).replace("team", "")
    assert me.candidates() == ()


@LEXICAL
@pytest.mark.promise("WRI-6")
@pytest.mark.parametrize(
    "text", ["نمی\u200cخواهم", "👨\u200d👩\u200d👧 moved", "क्\u200dष", "🏳️\u200d🌈"]
)
def test_what_people_really_write_is_shown_as_it_is(me: ScopedMemory, text: str) -> None:
    seen = proposed(me, text)
    assert seen.statement.text == text
    assert me.get(approved(me, seen).memory_id).text == text
