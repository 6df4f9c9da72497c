"""What the policy says of a kind holds on every path: who may propose and read it, how it ends."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from muniment import Memory, ScopedMemory, Statement
from muniment.errors import PolicyError, RefusedError
from muniment.memory import open as open_memory
from muniment.records import Authority
from muniment.rules.kinds import Reader
from muniment.scope import Principal, Role
from muniment.scoped import ReviewDesk
from muniment.services.writes import DELEGATE
from muniment.testing import FrozenClock
from muniment.trace import Reason
from tests.behaviour.conftest import LEXICAL, House, said, texts
from tests.governance.conftest import DANA, TEAM, code_of, decided, proposed

BUILT_IN = (Path(__file__).parents[2] / "src/muniment/rules/policy.toml").read_text("utf-8")
TASTE = """
version = 1
candidate_days = 2
[kinds.taste]
family = "semantic"
purpose = "What the person likes."
readers = READERS
model = MODEL
sensitivity = "personal"
lifetime = 1
longest = 2
boundary = "user"
"""


def opened(house: House, model: str, readers: str = '["subject", "agent"]') -> ScopedMemory:
    memory = house.open(policy=TASTE.replace("MODEL", model).replace("READERS", readers))
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


@LEXICAL
@pytest.mark.promise("SCO-6")
@pytest.mark.parametrize(
    ("model", "readers"),
    [('["propose"]', '["subject", "agent"]'), ('["propose", "read"]', '["subject"]')],
)
def test_a_kind_that_agents_may_not_read_is_not_recalled(
    house: House, model: str, readers: str
) -> None:
    me = opened(house, model, readers)
    kept = said(me, "Likes tea.", kind="taste").memory_id
    for found in (
        me.recall("tea", minimum_score=-1),
        me.recall("tea", minimum_score=-1, kinds=["taste"]),
        me.recall("What do you know about me?", minimum_score=-1),
    ):
        assert len(found) == 0
        assert found.trace.rejected == {Reason.READER: 1}
    (verdict,) = me.recall("tea", explain=True).trace.explained
    assert (verdict.memory_id, verdict.reason) == (kept, Reason.READER)
    assert (me.get(kept).text, texts(me.list())) == ("Likes tea.", ["Likes tea."])


def shown_to(me: ScopedMemory, desk: ReviewDesk, kept: str, waiting: str) -> dict[str, list[bool]]:
    """Return for each reader whether each of its reads shows a record or candidate."""
    return {
        "subject": [
            code_of(lambda: me.get(kept)) == "",
            code_of(lambda: me.history(kept)) == "",
            code_of(lambda: me.candidate(waiting)) == "",
            len(me.list()) == 1,
            len(me.candidates()) == 1,
        ],
        "agent": [len(me.recall("tea")) == 1],
        "reviewer": [
            code_of(lambda: desk.record(me.scope, kept)) == "",
            code_of(lambda: desk.candidate(me.scope, waiting)) == "",
            code_of(lambda: desk.find(waiting)) == "",
            len(desk.candidates()) == 1,
        ],
    }


@LEXICAL
@pytest.mark.promise("SCO-6")
@pytest.mark.parametrize("reader", Reader)
def test_a_kind_is_shown_to_the_readers_that_the_policy_names_and_to_no_other(
    house: House, reader: Reader
) -> None:
    access = '["propose", "read"]'
    kept = said(opened(house, access), "Likes tea.", kind="taste").memory_id
    waiting = proposed(opened(house, access), "Likes jam.", kind="taste").candidate_id
    me = opened(house, access, f'["{reader}"]')
    seen = shown_to(me, house.opened[-1].reviewing(DANA), kept, waiting)
    assert seen == {name: [name == reader] * len(reads) for name, reads in seen.items()}
    assert me.export(StringIO()).records == 1


@LEXICAL
@pytest.mark.promise("SCO-6", "CON-3")
def test_a_conflict_about_a_withheld_kind_is_shown_to_nobody_it_is_withheld_from(
    house: House,
) -> None:
    me = opened(house, '["propose", "read"]')
    said(me, "Likes tea.", kind="taste", field="drink", value="tea")
    proposed(me, "Likes gin.", kind="taste", field="drink", value="gin")
    assert len(me.conflicts()) == 1
    me = opened(house, '["propose", "read"]', '["agent"]')
    assert me.conflicts() == house.opened[-1].reviewing(DANA).conflicts() == ()


@LEXICAL
@pytest.mark.promise("SCO-6")
def test_a_page_of_candidates_is_full_although_some_are_withheld(house: House) -> None:
    two = TASTE.replace("MODEL", '["propose"]') + TASTE[TASTE.index("[kinds") :].replace(
        "kinds.taste", "kinds.other"
    ).replace("MODEL", '["propose"]')
    memory = house.open(policy=two.replace("READERS", '["subject"]'))
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    for number in range(6):
        proposed(me, f"Number {number}.", kind=("taste", "other")[number % 2])
    half = two.replace("READERS", '["agent"]', 1).replace("READERS", '["subject"]')
    memory = house.open(policy=half)
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    page = me.candidates(limit=2)
    assert [one.statement.text for one in page] == ["Number 5.", "Number 3."]
    (last,) = me.candidates(limit=2, before=page[-1].seq)
    assert last.statement.text == "Number 1."


@LEXICAL
@pytest.mark.promise("SCO-6", "WRI-8")
@pytest.mark.parametrize("access", ['["write", "read"]', '["propose", "read"]'])
def test_an_agent_to_which_writing_is_delegated_writes_only_the_kinds_the_policy_lets_it(
    house: House, access: str
) -> None:
    me = opened(house, access)
    writes = me._services.writes
    statement = Statement("taste", "Likes tea.", "said-1")
    if "write" not in access:
        with pytest.raises(RefusedError, match="write the kind taste"):
            writes.remember(me.scope, statement, DELEGATE)
        assert [entry.reason for entry in me.audit()] == ["delegate: kind"]
        return
    record = me.get(writes.remember(me.scope, statement, DELEGATE).memory_id)
    assert (record.authority, record.actor) == (Authority.DELEGATED, "agent for subject")
    assert record.authority < Authority.EXPLICIT
    me.retract(record.memory_id)
    again = replace(statement, source_id="said-2")
    for author in (DELEGATE, replace(DELEGATE, override="the model insists")):
        assert code_of(partial(writes.remember, me.scope, again, author)) == "tombstoned"
    ill = Statement("taste", "He was diagnosed with diabetes.", "said-3")
    assert code_of(lambda: writes.remember(me.scope, ill, DELEGATE)) == "refused"


@LEXICAL
@pytest.mark.promise("SCO-6")
def test_a_kind_that_no_model_may_propose_is_refused_and_audited(house: House) -> None:
    me = opened(house, '["read"]')
    with pytest.raises(RefusedError, match="propose the kind taste"):
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
