"""What the application observed: kept word for word, and a failure is shown as one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import ScopedMemory
from muniment.records import Authority, JSONValue, WritePath
from muniment.results import Outcome
from tests.behaviour.conftest import LEXICAL, House, said, texts
from tests.governance.conftest import code_of
from tests.governance.test_conflicts import POLICY

RAN: dict[str, Any] = {"succeeded": True, "actions": ["run"]}


@LEXICAL
@pytest.mark.promise("WRI-3")
def test_an_outcome_says_who_observed_what_and_how(me: ScopedMemory) -> None:
    written = me.record_outcome(
        "The import ran.",
        source_id="run-1",
        succeeded=True,
        actions=["read", "load"],
        field="rows",
        value=1200,
        metadata={"host": "h1"},
    )
    record = me.get(written.memory_id)
    assert (record.kind, record.actor) == ("outcome", "application")
    assert (record.authority, record.source.path) == (
        Authority.VERIFIED_OUTCOME,
        WritePath.OUTCOME,
    )
    assert record.metadata == {"host": "h1", "succeeded": True, "actions": ["read", "load"]}
    again = me.record_outcome(
        "The import ran.", source_id="run-1", succeeded=True, actions=["read", "load"],
        field="rows", value=1200, metadata={"host": "h1"},
    )  # fmt: skip
    assert (again.memory_id, again.outcome) == (written.memory_id, Outcome.REPEATED)


LEAVES: st.SearchStrategy[JSONValue] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e6, 1e6),
    st.sampled_from(["", " a ", "B", "نمی\u200cخواهم", "0012", "1e3"]),
)
JSON: st.SearchStrategy[JSONValue] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner),
    max_leaves=8,
)


@pytest.mark.promise("WRI-3")
@settings(max_examples=50)
@given(JSON)
def test_a_value_is_kept_verbatim(value: JSONValue) -> None:
    with muniment.open(":memory:", embedder="none") as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        written = me.record_outcome("It ran.", source_id="s", field="f", value=value, **RAN)
        kept = me.get(written.memory_id).value
        assert json.dumps(kept, sort_keys=True) == json.dumps(value, sort_keys=True)


@LEXICAL
@pytest.mark.promise("WRI-12")
def test_a_failed_attempt_is_shown_as_failed(me: ScopedMemory) -> None:
    me.record_outcome("Deploy by script.", source_id="a", succeeded=False, actions=["run script"])
    me.record_outcome("Deploy by hand.", source_id="b", succeeded=True, actions=["click"])
    said(me, "Deploys on Fridays.")
    packet = me.recall("deploy", minimum_score=-1).packet
    shown = [json.loads(line) for line in packet.text.splitlines() if line.startswith("{")]
    assert {one["text"]: one.get("succeeded") for one in shown} == {
        "Deploy by script.": False,
        "Deploy by hand.": True,
        "Deploys on Fridays.": None,
    }
    assert {one["kind"] for one in shown if "succeeded" in one} == {"outcome"}


@LEXICAL
@pytest.mark.promise("WRI-12")
@pytest.mark.parametrize("said_so", [None, 1, "yes"])
def test_success_is_said_and_not_guessed(me: ScopedMemory, said_so: Any) -> None:  # noqa: ANN401
    more: dict[str, Any] = {"source_id": "s", "actions": ["run"]}
    assert code_of(lambda: me.record_outcome("It ran.", succeeded=said_so, **more)) == (
        "invalid_input"
    )
    payload: dict[str, JSONValue] = {"succeeded": True, "actions": ["none"]}
    me.record_outcome(
        "It failed.", source_id="t", succeeded=False, actions=["run"], metadata=payload
    )
    (record,) = me.list()
    assert record.metadata == {"succeeded": False, "actions": ["run"]}


@LEXICAL
@pytest.mark.promise("CON-1", "WRI-2")
def test_a_system_of_record_outranks_what_the_person_says(house: House) -> None:
    memory = house.open(policy=POLICY)
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    shown = {"kind": "outcome", "field": "balance", "metadata": RAN}
    mine = said(me, "Owes nothing.", value=0, **shown)
    seen = me.record_outcome("Owes 5.", source_id="s", field="balance", value=5, **RAN)
    assert (seen.outcome, seen.memory_id) == (Outcome.CONTESTED, mine.memory_id)
    read = me.record_outcome(
        "Owes 7.", source_id="t", field="balance", value=7, reference="ledger:42", **RAN
    )
    record = me.get(read.memory_id)
    assert (record.authority, record.reference) == (Authority.SYSTEM_OF_RECORD, "ledger:42")
    assert read.superseded == mine.memory_id
    again = said(me, "Owes nothing, really.", value=0, **shown)
    assert (again.outcome, again.memory_id) == (Outcome.CONTESTED, read.memory_id)
    assert texts(me.list()) == ["Owes 7."]


@LEXICAL
@pytest.mark.promise("WRI-4", "CON-5")
def test_an_outcome_passes_the_same_gate(me: ScopedMemory) -> None:
    kept = said(me, "Likes tea.").memory_id
    me.correct(kept, text="Likes rye.")
    assert code_of(lambda: me.record_outcome("likes TEA.", source_id="s", **RAN)) == "tombstoned"
    card = "Paid with 4111 1111 1111 1111."
    assert code_of(lambda: me.record_outcome(card, source_id="t", **RAN)) == "refused"
    assert [one.action for one in me.audit()][-2:] == ["refused", "refused"]
