"""What a system of record holds now is shown beside what is stored, and writes nothing."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muniment import ProviderError, ScopedMemory, Statement
from muniment.records import JSONValue
from muniment.tools import MemoryTools
from muniment.trace import Degraded
from tests.behaviour.conftest import House, said
from tests.tools.conftest import told

QUERY = "Which seat is booked?"
SEAT = "crm://bookings/7/seat"


class System:
    """A system of record that notes what it is asked; fails when told to."""

    def __init__(self, **holds: JSONValue) -> None:
        self.holds: dict[str, JSONValue] = {SEAT: "14C", **holds}
        self.asked: list[str] = []
        self.fail = False

    def __call__(self, reference: str) -> JSONValue:
        self.asked.append(reference)
        if self.fail:
            raise RuntimeError(reference)
        return self.holds.get(reference)


def opened(house: House, system: System) -> ScopedMemory:
    memory = house.open(resolver=system)
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


def booked(me: ScopedMemory, reference: str = SEAT) -> None:
    me.record_outcome(
        "The seat 12A is booked.",
        succeeded=True,
        actions=["booked"],
        source_id=f"booking {reference}",
        field="seat",
        value="12A",
        reference=reference,
    )


def shown(me: ScopedMemory) -> list[dict[str, JSONValue]]:
    lines = str(me.recall(QUERY).packet).splitlines()
    return [json.loads(one) for one in lines if one.startswith("{")]


@pytest.mark.promise("WRI-2")
def test_the_live_value_is_shown_beside_the_stored_one_and_nothing_is_written(
    house: House,
) -> None:
    system = System()
    me = opened(house, system)
    booked(me)
    said(me, "The seat by the window is liked.")
    before = me.counts()
    values = {one.get("field"): (one.get("value"), one.get("live_value")) for one in shown(me)}
    assert values == {"seat": ("12A", "14C"), None: (None, None)}
    assert system.asked == [SEAT]
    system.holds[SEAT] = "<2B>"
    assert [item.live for item in me.recall(QUERY).packet if item.record.field] == ["<2B>"]
    assert "<2B>" not in me.recall(QUERY).packet.text
    assert me.counts() == before


@pytest.mark.promise("WRI-2")
@pytest.mark.parametrize("kind", ["outcome", "preference"])
def test_a_tool_gives_the_live_value(house: House, kind: str) -> None:
    me = opened(house, System())
    if kind == "outcome":
        booked(me)
    else:
        wish = Statement("preference", "Sits in 12A.", "s", "seat", "12A", reference=SEAT)
        me.remember_many([wish], approved=True)
    answer = told(MemoryTools(me).call("recall_fact", {"key": "seat"}))
    assert [fact["value"] for fact in answer["facts"]] == ["14C"]


@pytest.mark.promise("WRI-2")
def test_a_system_that_has_none_or_fails_leaves_the_stored_value(house: House) -> None:
    system = System()
    me = opened(house, system)
    booked(me, "crm://bookings/8/seat")
    assert ["live_value" in one for one in shown(me)] == [False]
    system.fail = True
    found = me.recall(QUERY)
    assert [item.record.value for item in found.packet] == ["12A"]
    assert found.trace.degraded[-1] is Degraded.RESOLVER_FAILED
    with pytest.raises(ProviderError, match=r"The resolver failed: RuntimeError\.") as caught:
        me.recall(QUERY, strict=True)
    assert "crm" not in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [object(), b"14C", float("nan"), float("inf"), "seat \ud800", ["a", "\0"], {1: 2}],
    ids=["object", "bytes", "NaN", "infinite", "surrogate", "NUL", "number as name"],
)
def test_an_answer_that_is_no_json_is_a_failure(house: House, answer: Any) -> None:  # noqa: ANN401
    system = System()
    me = opened(house, system)
    booked(me)
    system.holds[SEAT] = answer
    (line,) = shown(me)
    assert (line["value"], line.get("live_value")) == ("12A", None)
    me.recall(QUERY).packet.text.encode()
    assert Degraded.RESOLVER_FAILED in me.recall(QUERY).trace.degraded


def test_what_was_believed_then_asks_nobody(house: House) -> None:
    system = System()
    me = opened(house, system)
    booked(me)
    assert len(me.recall(QUERY, as_of=me.list().records[0].created_at)) == 1
    assert system.asked == []
