"""The first example: an application keeps only facts that it approved, and checks the borders."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from muniment import (
    ConflictError,
    InvalidInputError,
    Memory,
    MunimentError,
    NotApprovedError,
    ScopedMemory,
    Written,
)
from muniment.errors import UnknownKindError
from muniment.testing import FakeModel
from tests.behaviour.conftest import House, ids, same_scope

TEXT = "Deployment examples should use the eu-west region."
PARTS: dict[str, Any] = {
    "kind": "preference",
    "source_id": "profile_2030_01_01",
    "approved": True,
}
QUERY = "preferred deployment region"


@pytest.fixture
def kept(me: ScopedMemory) -> Written:
    return me.remember(TEXT, **PARTS)


@pytest.mark.promise("WRI-2")
def test_a_retry_gives_the_same_record(me: ScopedMemory, kept: Written) -> None:
    retry = me.remember(TEXT, **PARTS)
    assert retry.memory_id == kept.memory_id
    assert len(me.list()) == 1


@pytest.mark.promise("SCO-1")
def test_the_same_scope_recalls_the_record_once(me: ScopedMemory, kept: Written) -> None:
    found = me.recall(QUERY, minimum_score=-1.0)
    assert sum(memory_id == kept.memory_id for memory_id in ids(found)) == 1


@pytest.mark.promise("SCO-1")
def test_another_tenant_recalls_nothing(other_tenant: ScopedMemory, kept: Written) -> None:
    assert list(other_tenant.recall(QUERY, minimum_score=-1.0)) == []


@pytest.mark.promise("TIM-1", "TIM-3")
def test_what_expired_a_minute_ago_in_a_far_zone_is_not_recalled(
    me: ScopedMemory, kept: Written, house: House
) -> None:
    now = datetime.fromtimestamp(house.clock.now() / 1_000_000, UTC)
    minute_ago = (now - timedelta(minutes=1)).astimezone(timezone(timedelta(hours=14)))
    expired = me.remember(
        "The rollout window for the old cluster is open.",
        kind="verified_fact",
        source_id="rollout_old",
        approved=True,
        expires_at=minute_ago.isoformat(),
    )
    found = ids(me.recall("rollout window", minimum_score=-1.0))
    assert found == [kept.memory_id]
    assert expired.memory_id not in found


def test_no_chat_message_is_ever_a_record(me: ScopedMemory, kept: Written) -> None:
    with pytest.raises(UnknownKindError):
        me.remember("Hello!", **{**PARTS, "kind": "session_message", "source_id": "m1"})
    kinds = {record.kind for record in me.list(limit=1000, superseded=True)}
    assert kinds == {"preference"}


@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"approved": False}, NotApprovedError),
        ({"approved": None}, NotApprovedError),
        ({"approved": "yes"}, NotApprovedError),
        ({"approved": 1}, NotApprovedError),
        ({"kind": "session_message"}, UnknownKindError),
        ({"kind": "rumour"}, UnknownKindError),
        ({"text": " \n"}, InvalidInputError),
        ({"source_id": "  "}, InvalidInputError),
        ({"expires_at": "2031-01-01T00:00:00"}, InvalidInputError),
        ({"expires_at": datetime(2031, 1, 1)}, InvalidInputError),  # noqa: DTZ001 - naive is meant
    ],
)
def test_what_is_not_fit_to_keep_is_refused(
    me: ScopedMemory, changes: dict[str, Any], error: type[MunimentError]
) -> None:
    parts = {"text": TEXT, **PARTS, **changes}
    with pytest.raises(error):
        me.remember(parts.pop("text"), **parts)
    assert len(me.list()) == 0
    assert me.audit() == ()


@pytest.mark.promise("WRI-2")
@pytest.mark.parametrize(
    "changes",
    [
        {"text": "Deployment examples should use the us-east region."},
        {"kind": "decision"},
        {"expires_at": "2031-01-01T00:00:00Z"},
    ],
)
def test_another_payload_under_a_source_id_is_refused(
    me: ScopedMemory, kept: Written, changes: dict[str, Any]
) -> None:
    parts = {"text": TEXT, **PARTS, **changes}
    with pytest.raises(ConflictError):
        me.remember(parts.pop("text"), **parts)
    assert ids(me.list()) == [kept.memory_id]
    assert me.get(kept.memory_id).text == TEXT


def test_approval_has_no_default(me: ScopedMemory) -> None:
    with pytest.raises(TypeError, match="approved"):
        me.remember(TEXT, kind="preference", source_id="s1")  # type: ignore[call-arg]


@pytest.mark.promise("ANS-1")
def test_an_answer_is_made_from_the_recalled_record(
    house: House, me: ScopedMemory, kept: Written
) -> None:
    model = FakeModel("eu-west")
    answer = same_scope(house.open(model=model), me).answer("Which deployment region is preferred?")
    (asked,) = model.asked
    assert answer.text == "eu-west"
    assert answer.memory_ids == (kept.memory_id,)
    assert TEXT in asked.prompt
    assert "profile_2030_01_01" in asked.prompt
    assert asked.prompt.endswith("Which deployment region is preferred?")
    assert "never instructions" in asked.instructions
    assert TEXT not in asked.instructions


@pytest.mark.promise("REC-4", "ANS-1")
def test_a_model_is_told_when_nothing_was_found(house: House, memory: Memory) -> None:
    model = FakeModel("I do not know.")
    nobody = house.open(model=model).scoped(tenant_id="t9", user_id="u9", agent_id="a9")
    answer = nobody.answer("Which deployment region is preferred?")
    assert answer.memory_ids == ()
    assert "No relevant record was found." in model.asked[0].prompt
    assert nobody.audit() == ()
