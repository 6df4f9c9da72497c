"""Recalling as of a past instant: what was believed then, never what was forgotten since."""

from __future__ import annotations

from datetime import timedelta

import pytest

from muniment import Memory, ScopedMemory
from muniment.clock import from_instant
from muniment.errors import InvalidInputError
from muniment.scoped import ReviewDesk
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import HYBRID, LEXICAL, House, said, same_scope, texts
from tests.governance.conftest import TEAM, approved, proposed, published

START = "2030-01-01T00:00:00Z"
MICRO = timedelta(microseconds=1)


def believed(me: ScopedMemory, moment: object) -> set[str]:
    found = me.recall("lives city", minimum_score=-1, limit=100, as_of=moment)  # type: ignore[arg-type]
    return set(texts(found))


@pytest.mark.promise("CON-7")
def test_each_value_was_believed_from_its_writing_to_its_replacement(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    moments = []
    for city in ("Rome", "Oslo", "Lima"):
        said(me, f"Lives in {city}.", field="city", value=city)
        moments.append(from_instant(clock.now()))
        clock.advance(seconds=3600)
    assert believed(me, moments[0] - MICRO) == set()
    assert believed(me, moments[0]) == {"Lives in Rome."}
    assert believed(me, moments[1] - MICRO) == {"Lives in Rome."}
    assert believed(me, moments[1]) == {"Lives in Oslo."}
    assert believed(me, moments[2] + MICRO) == {"Lives in Lima."}
    assert believed(me, from_instant(clock.now())) == set(texts(me.recall("lives")))


@LEXICAL
@pytest.mark.promise("CON-7", "FOR-3")
def test_what_was_forgotten_since_was_never_believed(
    memory: Memory, me: ScopedMemory, clock: FrozenClock
) -> None:
    said(me, "Lives in Rome.", field="city", value="Rome")
    clock.advance(seconds=60)
    new = said(me, "Lives in Oslo.", field="city", value="Oslo").memory_id
    clock.advance(seconds=60)
    middle = from_instant(clock.now())
    clock.advance(seconds=60)
    me.forget(new)
    assert believed(me, START) == {"Lives in Rome."}
    assert believed(me, middle) == set()
    me.forget_all()
    assert believed(me, START) == set()
    memory.maintain()
    assert believed(me, START) == set()


@LEXICAL
@pytest.mark.promise("CON-7", "TIM-3")
def test_what_expired_since_is_not_kept_and_validity_is_of_then(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    said(me, "Kept for a day.", expires_at="2030-01-02T00:00:00Z")
    said(me, "True for a day.", valid_until="2030-01-02T00:00:00Z")
    said(me, "True later.", valid_from="2030-01-02T00:00:00Z")
    assert believed(me, START) == {"Kept for a day.", "True for a day."}
    clock.set("2030-01-03T00:00:00Z")
    assert believed(me, START) == {"True for a day."}
    assert believed(me, "2030-01-02T00:00:00Z") == {"True later."}


@LEXICAL
@pytest.mark.promise("CON-7", "CON-4")
def test_a_correction_and_an_approval_begin_when_they_were_made(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    kept = said(me, "Lives in Rome.").memory_id
    waiting = proposed(me, "Lives with a cat.", kind="insight")
    clock.advance(seconds=60)
    me.correct(kept, text="Lives in Oslo.")
    approved(me, waiting)
    assert believed(me, START) == {"Lives in Rome."}
    assert believed(me, from_instant(clock.now())) == {"Lives in Oslo.", "Lives with a cat."}


@LEXICAL
@pytest.mark.promise("CON-7", "SCO-5")
def test_spaces_are_as_they_were(me: ScopedMemory, desk: ReviewDesk, clock: FrozenClock) -> None:
    said(me, "Lives alone.")
    published(desk, me, "City rules one.", field="rule", value=1)
    clock.advance(seconds=60)
    published(desk, me, "City rules two.", field="rule", value=2)
    face = me.with_spaces(TEAM)
    assert believed(face, START) == {"Lives alone.", "City rules one."}
    assert believed(face, from_instant(clock.now())) == {"Lives alone.", "City rules two."}
    assert believed(me, START) == {"Lives alone."}


@HYBRID
@pytest.mark.promise("CON-7")
def test_the_past_is_found_by_meaning_too(house: House, me: ScopedMemory) -> None:
    old = said(me, "Lives in Rome.", field="city", value="Rome").memory_id
    house.clock.advance(seconds=60)
    said(me, "Lives in Oslo.", field="city", value="Oslo")
    (hit,) = me.recall("Lives in Rome.", as_of=START).trace.hits
    assert (hit.memory_id, hit.score > 0.9, hit.semantic is not None) == (old, True, True)
    second = house.open(embedder=FakeEmbedder(name="second"))
    second.embed()
    assert believed(same_scope(second, me), START) == {"Lives in Rome."}


@LEXICAL
@pytest.mark.promise("CON-7")
@pytest.mark.parametrize("moment", ["2030-01-01T00:00:00.000001Z", "2999-01-01T00:00:00Z"])
def test_the_future_is_refused(me: ScopedMemory, moment: str) -> None:
    said(me, "Lives in Rome.")
    with pytest.raises(InvalidInputError, match="as_of"):
        believed(me, moment)
    with pytest.raises(InvalidInputError, match="time zone"):
        believed(me, "2029-01-01T00:00:00")


@LEXICAL
@pytest.mark.promise("CON-7")
def test_asking_about_the_past_changes_nothing(me: ScopedMemory, clock: FrozenClock) -> None:
    said(me, "Lives in Rome.", field="city", value="Rome")
    clock.advance(seconds=60)
    said(me, "Lives in Oslo.", field="city", value="Oslo")
    before = me.recall("lives").trace
    believed(me, START)
    assert me.recall("lives").trace == before
