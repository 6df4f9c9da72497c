"""Failures of time: zones, expiries that were kept too long, errors swallowed as emptiness."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muniment
from muniment import InvalidInputError, NotFoundError, ScopedMemory
from muniment.testing import FrozenClock
from muniment.trace import Reason
from tests.behaviour.conftest import House, ids, said, same_scope, texts

NOON = "2030-05-31T12:00:00Z"
SAME_INSTANT = [
    "2030-05-31T12:00:00Z",
    "2030-06-01T02:00:00+14:00",
    "2030-05-31T00:00:00-12:00",
    "2030-05-31T17:45:00+05:45",
    "2030-05-31T09:30:00-02:30",
    "2030-05-31T12:00:00.000000+00:00",
]
NAIVE = [
    "2030-06-01T00:00:00",
    "2030-06-01",
    "20300601T000000",
    "2030-06-01 00:00",
    datetime(2030, 6, 1),  # noqa: DTZ001 - naive is meant
]


@pytest.fixture(params=["UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.mark.promise("TIM-1", "TIM-3")
def test_one_instant_in_many_spellings_lapses_at_once_in_any_zone_of_the_machine(
    zone: str, me: ScopedMemory, clock: FrozenClock
) -> None:
    """mem0#6931"""
    for spelling in SAME_INSTANT:
        kept = said(me, f"Spelled {spelling}.", expires_at=spelling)
        assert me.get(kept.memory_id).expires_at == datetime(2030, 5, 31, 12, tzinfo=UTC)
    clock.set("2030-05-31T11:59:59.999999Z")
    assert len(me.list()) == len(SAME_INSTANT)
    clock.set(NOON)
    assert len(me.list()) == 0
    assert len(me.recall("spelled", minimum_score=-1)) == 0


@pytest.mark.promise("TIM-1")
@pytest.mark.parametrize("moment", NAIVE)
@pytest.mark.parametrize("part", ["expires_at", "valid_from", "valid_until"])
def test_a_time_without_a_zone_is_refused_in_any_zone_of_the_machine(
    zone: str, me: ScopedMemory, part: str, moment: object
) -> None:
    """mem0#6931"""
    with pytest.raises(InvalidInputError, match=part):
        said(me, "Likes tea.", **{part: moment})
    assert me.counts().active == 0


@pytest.mark.promise("TIM-3")
def test_what_expired_is_on_no_path_although_nothing_swept(
    house: House, me: ScopedMemory, clock: FrozenClock
) -> None:
    """langgraph#8902"""
    kept = said(me, "A short window.", expires_at="2030-01-01T00:05:00Z", field="window", value="x")
    other = same_scope(house.open(), me)
    assert ids(me.recall("window")) == ids(other.recall("window")) == [kept.memory_id]
    clock.advance(seconds=299.999999)
    assert ids(me.recall("window")) == [kept.memory_id]
    clock.advance(seconds=0.000001)
    for scoped in (me, other):
        found = scoped.recall("window", minimum_score=-1)
        assert (list(found), found.trace.rejected) == ([], {Reason.EXPIRED: 1})
        assert len(scoped.recall("What do you know about me?")) == 0
        assert len(scoped.list(superseded=True)) == 0
        for verb in (scoped.get, scoped.history):
            with pytest.raises(NotFoundError):
                verb(kept.memory_id)
    assert (me.counts().active, me.counts().expired) == (0, 1)


@pytest.mark.promise("TIM-3")
def test_validity_begins_and_ends_at_its_very_instant(me: ScopedMemory, clock: FrozenClock) -> None:
    said(me, "Valid today.", valid_from="2030-01-01T00:00:01Z", valid_until="2030-01-01T00:00:02Z")
    seen = []
    for step in (0.0, 0.999999, 0.000001, 0.999999, 0.000001, 10.0):
        clock.advance(seconds=step)
        seen.append(texts(me.recall("valid", minimum_score=-1)))
    assert [bool(found) for found in seen] == [False, False, True, True, False, False]
    assert texts(me.list()) == ["Valid today."]


@pytest.mark.promise("TIM-3")
@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2090, 1, 1)),  # noqa: DTZ001 - zone is added below
    st.integers(-14 * 60 + 1, 14 * 60),
    st.integers(-2, 2),
)
def test_a_record_is_recalled_up_to_but_not_at_its_expiry(
    moment: datetime, minutes: int, step: int
) -> None:
    expires = moment.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    with muniment.open(
        ":memory:", embedder="none", clock=FrozenClock(expires + timedelta(microseconds=step))
    ) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        said(me, "Likes tea.", expires_at=expires.isoformat())
        assert len(me.recall("tea")) == len(me.list()) == (1 if step < 0 else 0)


def test_times_of_any_precision_and_zone_are_stored_and_recalled(me: ScopedMemory) -> None:
    """mnemosyne#156: an unreadable time became an empty recall."""
    for moment in ("2026-05-20T08:29:42.958511+00:00", "2026-05-20T08:29:42+05:45"):
        said(me, f"Imported as of {moment}.", valid_from=moment)
    assert len(me.recall("imported")) == 2


@pytest.mark.promise("TIM-1")
@pytest.mark.parametrize(
    "moment", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "10000-01-01T00:00:00Z"]
)
def test_a_time_beyond_the_calendar_is_refused(me: ScopedMemory, moment: str) -> None:
    with pytest.raises(InvalidInputError, match="expires_at"):
        said(me, "Likes tea.", expires_at=moment)


def test_the_ends_of_the_calendar_can_be_kept(me: ScopedMemory) -> None:
    kept = said(
        me,
        "For ever.",
        valid_from="0001-01-01T00:00:00Z",
        expires_at="9999-12-31T23:59:59.999999Z",
    )
    record = me.get(kept.memory_id)
    assert record.valid_from == datetime(1, 1, 1, tzinfo=UTC)
    assert record.to_dict()["expires_at"] == "9999-12-31T23:59:59.999999Z"
    assert '"date": "0001-01-01T00:00:00Z"' in me.recall("ever").packet.text


@pytest.mark.promise("TIM-3")
def test_a_clock_that_goes_back_loses_nothing(me: ScopedMemory, clock: FrozenClock) -> None:
    said(me, "First.", field="f", value=1)
    clock.set("2029-01-01T00:00:00Z")
    second = said(me, "Second.", field="f", value=2)
    assert ids(me.list()) == [second.memory_id]
    assert texts(me.history(second.memory_id)) == ["First.", "Second."]
