"""What the policy says of a kind holds on every path: who may propose and read it, how it ends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import PolicyError, RefusedError
from muniment.memory import open as open_memory
from muniment.scope import Principal, Role
from muniment.testing import FrozenClock
from muniment.trace import Reason
from tests.behaviour.conftest import LEXICAL, House, said, texts
from tests.governance.conftest import TEAM, code_of, decided, proposed

BUILT_IN = (Path(__file__).parents[2] / "src/muniment/rules/policy.toml").read_text("utf-8")
TASTE = """
version = 1
candidate_days = 2
[kinds.taste]
family = "semantic"
purpose = "What the person likes."
readers = ["subject"]
model = MODEL
sensitivity = "personal"
lifetime = 1
longest = 2
boundary = "user"
"""


def opened(house: House, model: str) -> ScopedMemory:
    memory = house.open(policy=TASTE.replace("MODEL", model))
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


@LEXICAL
@pytest.mark.promise("SCO-6")
def test_a_kind_that_no_model_may_read_is_not_recalled(house: House) -> None:
    me = opened(house, '["propose"]')
    kept = said(me, "Likes tea.", kind="taste").memory_id
    for found in (
        me.recall("tea", minimum_score=-1),
        me.recall("tea", minimum_score=-1, kinds=["taste"]),
        me.recall("What do you know about me?", minimum_score=-1),
    ):
        assert len(found) == 0
        assert found.trace.rejected == {Reason.KIND: 1}
    assert (me.get(kept).text, texts(me.list())) == ("Likes tea.", ["Likes tea."])


@LEXICAL
@pytest.mark.promise("SCO-6")
def test_a_kind_that_no_model_may_propose_is_refused_and_audited(house: House) -> None:
    me = opened(house, '["read"]')
    with pytest.raises(RefusedError, match="taste"):
        proposed(me, "Likes tea.", kind="taste")
    assert me.candidates() == ()
    assert [entry.reason for entry in me.audit()] == ["propose: kind"]
    said(me, "Likes tea.", kind="taste")
    assert texts(me.recall("tea")) == ["Likes tea."]


@LEXICAL
@pytest.mark.promise("TIM-2")
def test_the_lifetime_of_a_candidates_record_starts_at_its_approval(
    house: House, clock: FrozenClock
) -> None:
    me = opened(house, '["propose", "read"]')
    seen = proposed(me, "Likes tea.", kind="taste")
    clock.advance(seconds=86_400)
    desk = house.opened[0].reviewing(Principal("t1", "dana", frozenset({Role.REVIEWER})))
    written = decided(desk, seen)
    clock.advance(seconds=86_399)
    assert me.get(written.memory_id).text == "Likes tea."
    clock.advance(seconds=1)
    assert code_of(lambda: me.get(written.memory_id)) == "not_found"


@pytest.mark.promise("WRI-12", "SCO-6")
@pytest.mark.parametrize(
    "key", ["purpose", "readers", "model", "sensitivity", "lifetime", "longest", "boundary"]
)
def test_a_policy_that_leaves_something_unsaid_opens_nothing(tmp_path: Path, key: str) -> None:
    lines = [line for line in BUILT_IN.splitlines() if not line.startswith(f"{key} =")]
    with pytest.raises(PolicyError, match=key):
        open_memory(tmp_path / "m.db", embedder="none", policy="\n".join(lines))
    assert not (tmp_path / "m.db").exists()


@LEXICAL
@pytest.mark.promise("WRI-1", "SCO-6")
def test_a_kind_that_the_policy_dropped_can_still_be_rejected_and_not_approved(
    house: House, memory: Memory, me: ScopedMemory
) -> None:
    seen = proposed(me, "Likes tea.", field="drink", value="tea")
    again = opened(house, '["propose", "read"]')
    desk = house.opened[-1].reviewing(Principal("t1", "dana", frozenset({Role.REVIEWER})))
    assert code_of(lambda: decided(desk, seen)) == "unknown_kind"
    desk.reject(me.scope, seen.candidate_id, reason="no such kind")
    assert again.candidates() == ()
    assert code_of(lambda: proposed(me, "Likes tea.")) == "tombstoned"


@LEXICAL
@pytest.mark.promise("SCO-6", "WRI-7")
def test_the_built_in_kinds_go_where_they_say(memory: Memory, me: ScopedMemory) -> None:
    face = me.with_spaces(TEAM)
    more: dict[str, Any] = {
        "space": TEAM,
        "metadata": {"owner": "ann"},
        "expires_at": "2030-02-01T00:00:00Z",
    }
    refused = set()
    for kind, rule in memory.policy.kinds.items():
        if "propose" not in rule.model:
            continue
        try:
            proposed(face, f"A {kind} of the team.", kind=kind, **more)
        except RefusedError:
            refused.add(kind)
    users = {kind for kind, rule in memory.policy.kinds.items() if rule.boundary == "user"}
    assert refused == users
