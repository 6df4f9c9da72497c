"""What is useful is known: how each record was used and what was said of it, without its text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from muniment import InvalidInputError, Memory, NotFoundError, ScopedMemory
from muniment.clock import from_instant
from muniment.ports import Usage
from muniment.scoped import ReviewDesk
from muniment.testing import FakeModel, FrozenClock
from muniment.usefulness import Usefulness
from tests.backends import BACKENDS, place_of
from tests.behaviour.conftest import LEXICAL, House, ids, said, same_scope
from tests.governance.conftest import TEAM, published
from tests.governance.test_policy import opened

pytestmark = LEXICAL


NOTHING = {"considered": 0, "shown": 0, "cited": 0, "corrected": 0, "helpful": 0, "unhelpful": 0}


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    yield from place_of(request, tmp_path)


def of(me: ScopedMemory, memory_id: str) -> Usefulness:
    (found,) = (one for one in me.usefulness(limit=1000) if one.memory_id == memory_id)
    return found


def counts(me: ScopedMemory, memory_id: str) -> dict[str, int]:
    """Return what is known of a record, without what is nothing."""
    found = of(me, memory_id)
    return {name: getattr(found, name) for name in NOTHING if getattr(found, name)}


@pytest.mark.promise("REC-10")
class TestRecall:
    def test_tells_what_was_considered_from_what_was_shown(
        self, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        kept = said(me, "Likes green tea.").memory_id
        cut = said(me, "Likes tea and " + "many other things " * 60).memory_id
        never = said(me, "Drives a van.").memory_id
        clock.advance(seconds=5)
        for _ in range(2):
            assert ids(me.recall("green tea", budget=150)) == [kept]
        assert counts(me, kept) == {"considered": 2, "shown": 2}
        assert of(me, kept).shown_at == from_instant(clock.now())
        assert counts(me, cut) == {"considered": 2}
        assert of(me, cut).shown_at is None
        assert counts(me, never) == {}

    def test_is_counted_in_the_space_that_a_record_is_of(
        self, me: ScopedMemory, other_user: ScopedMemory, desk: ReviewDesk, memory: Memory
    ) -> None:
        shared = published(desk, me, "Refunds need two signatures.").memory_id
        for one in (me, other_user):
            one.with_spaces(TEAM).recall("refunds")
        assert shared not in {one.memory_id for one in me.usefulness()}
        assert [one.shown for one in _usage(memory)] == [2]


@pytest.mark.promise("REC-10")
class TestCitations:
    def test_those_that_an_answer_names_are_counted(self, house: House, me: ScopedMemory) -> None:
        named = said(me, "Prefers jasmine tea.").memory_id
        other = said(me, "Has tea at four.").memory_id
        model = FakeModel(f"Jasmine [{named}].")
        mine = same_scope(house.open(model=model), me)
        answer = mine.answer("Which tea?", cite=True)
        assert set(answer.memory_ids) == {named, other}
        assert answer.cited == (named,)
        assert "square brackets" in model.asked[0].instructions
        assert counts(mine, named) == {"considered": 1, "shown": 1, "cited": 1}
        assert counts(mine, other) == {"considered": 1, "shown": 1}

    def test_a_model_is_asked_for_them_only_when_told_to(
        self, house: House, me: ScopedMemory
    ) -> None:
        said(me, "Prefers jasmine tea.")
        model = FakeModel("Jasmine.")
        assert same_scope(house.open(model=model), me).answer("Which tea?").cited == ()
        assert "square brackets" not in model.asked[0].instructions

    def test_an_application_says_them_itself_and_the_trail_keeps_the_ids(
        self, me: ScopedMemory
    ) -> None:
        first, second = (said(me, f"Likes tea {n}.").memory_id for n in range(2))
        me.cite(first, second, first)
        me.cite(first)
        assert counts(me, first) == {"cited": 2}
        assert counts(me, second) == {"cited": 1}
        entry = me.audit()[-2]
        assert (entry.action, entry.actor, entry.memory_ids) == ("cited", "agent", (first, second))

    def test_all_are_counted_or_none(self, me: ScopedMemory, other_user: ScopedMemory) -> None:
        mine = said(me, "Likes tea.").memory_id
        foreign = said(other_user, "Likes jam.").memory_id
        before = me.audit()
        with pytest.raises(NotFoundError):
            me.cite(mine, foreign)
        with pytest.raises(InvalidInputError):
            me.cite()
        assert counts(me, mine) == {}
        assert counts(other_user, foreign) == {}
        assert me.audit() == before


@pytest.mark.promise("REC-10")
class TestRatings:
    def test_both_ways_are_counted_and_change_no_rank(self, me: ScopedMemory) -> None:
        good, bad = (said(me, f"Likes {what} tea.").memory_id for what in ("green", "black"))
        before = me.recall("tea", minimum_score=-1)
        for helpful in (True, True, False):
            me.rate(good, helpful=helpful)
        me.rate(bad, helpful=False)
        assert counts(me, good).items() >= {"helpful": 2, "unhelpful": 1}.items()
        assert counts(me, bad).items() >= {"unhelpful": 1}.items()
        again = me.recall("tea", minimum_score=-1)
        assert again.packet == before.packet
        assert again.trace.version == before.trace.version
        entry = me.audit()[-1]
        assert (entry.action, entry.actor) == ("rated", "subject")
        assert (entry.memory_ids, entry.reason) == ((bad,), "unhelpful")

    @pytest.mark.promise("SCO-3")
    def test_another_scopes_record_is_not_found(
        self, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        mine = said(me, "Likes tea.").memory_id
        for name in (mine, "mem_unknown", "", "ä"):
            with pytest.raises(NotFoundError):
                other_user.rate(name, helpful=True)
        assert counts(me, mine) == {}
        assert list(other_user.usefulness()) == []

    def test_a_shared_record_is_rated_by_whoever_may_read_it(
        self, me: ScopedMemory, desk: ReviewDesk, memory: Memory
    ) -> None:
        shared = published(desk, me, "Refunds need two signatures.").memory_id
        with pytest.raises(NotFoundError):
            me.rate(shared, helpful=True)
        me.with_spaces(TEAM).rate(shared, helpful=True)
        assert [one.helpful for one in _usage(memory)] == [1]

    def test_a_kind_that_the_person_is_not_shown_is_not_found(self, house: House) -> None:
        me = opened(house, '["propose", "read"]', '["agent"]')
        kept = said(me, "Likes tea.", kind="taste").memory_id
        with pytest.raises(NotFoundError):
            me.rate(kept, helpful=True)
        me.cite(kept)
        assert list(me.usefulness()) == []


@pytest.mark.promise("REC-10")
class TestCorrections:
    def test_what_was_corrected_says_so_and_its_successor_begins_anew(
        self, me: ScopedMemory
    ) -> None:
        old = said(me, "Likes tea.").memory_id
        me.recall("tea")
        new = me.correct(old, text="Likes coffee.").memory_id
        assert counts(me, old) == {"considered": 1, "shown": 1, "corrected": 1}
        assert counts(me, new) == {}
        assert [one.memory_id for one in me.usefulness(superseded=False)] == [new]

    def test_a_value_that_was_replaced_by_a_later_one_was_not_corrected(
        self, me: ScopedMemory
    ) -> None:
        old = said(me, "Lives in Oslo.", field="city", value="Oslo").memory_id
        said(me, "Lives in Bergen.", field="city", value="Bergen")
        assert of(me, old).status.value == "superseded"
        assert counts(me, old) == {}


@pytest.mark.promise("REC-10")
class TestTheReport:
    def test_comes_in_pages_of_what_was_asked_for(self, me: ScopedMemory) -> None:
        for number in range(5):
            said(me, f"Likes tea {number}.", metadata={"odd": number % 2})
        first = me.usefulness(limit=2)
        second = me.usefulness(limit=2, cursor=first.cursor)
        assert len({one.memory_id for one in (*first, *second)}) == 4
        assert len(me.usefulness(filters={"metadata.odd": {"eq": 1}})) == 2
        with pytest.raises(InvalidInputError):
            me.usefulness(limit=0)

    @pytest.mark.promise("SEC-2")
    def test_holds_no_text(self, me: ScopedMemory) -> None:
        said(me, "Likes jasmine.", field="drink", value="jasmine", metadata={"tag": "jasmine"})
        me.recall("jasmine")
        (one,) = me.usefulness()
        assert one.shown == 1
        assert "jasmine" not in json.dumps(me.usefulness().to_dict())

    @pytest.mark.promise("FOR-2")
    def test_what_is_forgotten_is_not_in_it(self, me: ScopedMemory, memory: Memory) -> None:
        gone = said(me, "Likes tea.").memory_id
        me.rate(gone, helpful=True)
        me.forget(gone)
        assert list(me.usefulness()) == []
        assert _usage(memory) == []


def _usage(memory: Memory) -> list[Usage]:
    """Return what the store holds of use, whoever's it is."""
    with memory._store.snapshot() as view:
        return [one for owner in view.owners() for one in view.usage(owner).values()]
