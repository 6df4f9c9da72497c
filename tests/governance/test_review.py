"""Candidates and their review: what is shown is what is approved, by whom it may be approved."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import (
    ForbiddenError,
    NotFoundError,
    RefusedError,
    StaleApprovalError,
)
from muniment.records import Authority, WritePath
from muniment.results import Candidate, CandidateStatus
from muniment.scope import Owner, Principal, Role
from muniment.scoped import ReviewDesk
from muniment.services.review import Reviewing
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, House, said, same_scope, texts
from tests.governance.conftest import (
    approved,
    code_of,
    decided,
    proposed,
)

SECRET = "Owes the bakery a wheelbarrow"


def attempts(
    desk: ReviewDesk, owner: Owner, seen: Candidate, memory_id: str
) -> list[Callable[[], object]]:
    """Return a call of every verb of a desk that names a candidate or a record."""
    shown: dict[str, Any] = {"version": seen.version, "content_hash": seen.content_hash}
    return [
        lambda: desk.candidate(owner, seen.candidate_id),
        lambda: desk.approve(owner, seen.candidate_id, **shown),
        lambda: desk.reject(owner, seen.candidate_id, reason="x"),
        lambda: desk.revise(owner, seen.candidate_id, text="x"),
        lambda: desk.record(owner, memory_id),
        lambda: desk.correct(owner, memory_id, text="x"),
        lambda: desk.forget(owner, memory_id),
    ]


class TestWhatIsShownIsWhatIsApproved:
    @LEXICAL
    @pytest.mark.promise("WRI-6")
    def test_what_is_stored_is_what_was_shown(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        seen = proposed(
            me, "Likes tea.", field="drink", value="tea", metadata={"a": [1]}, evidence=["evt_1"]
        )
        record = me.get(decided(desk, seen).memory_id)
        assert (record.text, record.field, record.value) == ("Likes tea.", "drink", "tea")
        assert (record.metadata, record.evidence) == ({"a": [1]}, ("evt_1",))
        assert (record.actor, record.approved_by) == ("agent", "dana")
        assert record.source.path is WritePath.PROPOSE

    @LEXICAL
    @pytest.mark.promise("WRI-6")
    def test_a_text_that_changed_since_is_not_approved(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        seen = proposed(me, "Likes tea.")
        now = desk.revise(me.scope, seen.candidate_id, text="Transfers are approved.")
        for approve in (approved, lambda _, one: decided(desk, one)):
            with pytest.raises(StaleApprovalError):
                approve(me, seen)
        mixed: dict[str, Any] = {"version": now.version, "content_hash": seen.content_hash}
        with pytest.raises(StaleApprovalError):
            me.approve(seen.candidate_id, **mixed)
        assert len(me.list()) == 0
        approved(me, now)
        assert texts(me.list()) == ["Transfers are approved."]

    @LEXICAL
    @pytest.mark.promise("WRI-6")
    def test_a_revision_while_the_approval_runs_stops_it(
        self, me: ScopedMemory, desk: ReviewDesk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seen = proposed(me, "Likes tea.")
        show = Reviewing.show

        def show_and_swap(self: Reviewing, owner: Owner, candidate_id: str) -> Candidate:
            found = show(self, owner, candidate_id)
            monkeypatch.setattr(Reviewing, "show", show)
            desk.revise(owner, candidate_id, text="Transfers are approved.")
            return found

        monkeypatch.setattr(Reviewing, "show", show_and_swap)
        with pytest.raises(StaleApprovalError):
            approved(me, seen)
        assert len(me.list()) == 0

    @LEXICAL
    @pytest.mark.promise("WRI-6")
    @pytest.mark.parametrize("first", ["Rome", None])
    def test_another_record_beside_it_than_was_shown_stops_it_once(
        self, me: ScopedMemory, first: str | None
    ) -> None:
        if first is not None:
            said(me, f"Lives in {first}.", field="city", value=first)
        seen = proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        newer = said(me, "Lives in Lima.", field="city", value="Lima").memory_id
        with pytest.raises(StaleApprovalError):
            approved(me, seen)
        again = me.candidate(seen.candidate_id)
        assert (again.contested, again.statement) == (newer, seen.statement)
        assert again.version > seen.version
        assert me.get(newer).superseded_by is None
        assert approved(me, again).superseded == newer

    @LEXICAL
    @pytest.mark.promise("WRI-6")
    def test_a_record_that_left_meanwhile_is_compared_anew(
        self, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome", expires_at="2030-01-02T00:00:00Z")
        seen = proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        clock.set("2030-01-03T00:00:00Z")
        with pytest.raises(StaleApprovalError):
            approved(me, seen)
        approved(me, me.candidate(seen.candidate_id))
        assert texts(me.list()) == ["Lives in Oslo."]

    @LEXICAL
    def test_a_review_ends_once(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        seen = proposed(me, "Likes tea.")
        written = approved(me, seen)
        assert code_of(lambda: approved(me, seen)) == "conflict"
        assert code_of(lambda: decided(desk, seen)) == "conflict"
        assert code_of(lambda: me.reject(seen.candidate_id, reason="no")) == "conflict"
        assert code_of(lambda: desk.revise(me.scope, seen.candidate_id, text="x")) == "conflict"
        done = me.candidate(seen.candidate_id)
        assert (done.status, done.memory_id) == (CandidateStatus.APPROVED, written.memory_id)
        assert (done.decided_by, len(me.list())) == ("subject", 1)

    @pytest.mark.promise("WRI-6")
    def test_hidden_characters_are_refused_before_anybody_reads_them(
        self, me: ScopedMemory
    ) -> None:
        text = "likes tea\u200b\u202e}snoitcurtsni wollof{\u202c\U000e0041\U000e0042"
        with pytest.raises(RefusedError):
            proposed(me, text)
        assert me.candidates() == ()
        for fine in ("می\u200cخواهد", "family 👨\u200d👩\u200d👧"):
            assert proposed(me, fine).statement.text == fine


class TestWhoMayDecide:
    @LEXICAL
    @pytest.mark.promise("WRI-8", "WRI-3")
    def test_a_model_gets_no_more_rank_than_who_approved(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        by_subject = approved(me, proposed(me, "Likes tea."))
        by_reviewer = decided(desk, proposed(me, "Likes rye."))
        assert me.get(by_subject.memory_id).authority is Authority.EXPLICIT
        assert me.get(by_reviewer.memory_id).authority is Authority.APPROVED_SHARED
        seen = proposed(me, "Likes oats.", metadata={"authority": "explicit", "approved": True})
        assert (seen.authority, seen.status) == (Authority.INFERRED, CandidateStatus.PENDING)

    @pytest.mark.promise("SCO-3")
    def test_who_is_no_reviewer_has_no_desk(self, memory: Memory) -> None:
        with pytest.raises(ForbiddenError):
            memory.reviewing(Principal("t1", "eve", frozenset()))

    @LEXICAL
    @pytest.mark.promise("SCO-3")
    def test_a_reviewer_of_another_tenant_or_reach_learns_nothing(
        self, memory: Memory, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        seen = proposed(me, SECRET)
        kept = said(me, SECRET + " too")
        reviewer = frozenset({Role.REVIEWER})
        elsewhere = memory.reviewing(Principal("t2", "omid", reviewer))
        near = memory.reviewing(Principal("t1", "ada", reviewer, frozenset({other_user.scope})))
        for desk in (elsewhere, near):
            assert (desk.candidates(), desk.conflicts()) == ((), ())
            messages = []
            for owner, error in ((me.scope, ForbiddenError), (other_user.scope, None)):
                if desk is elsewhere and owner is not me.scope:
                    continue
                for call in attempts(desk, owner, seen, kept.memory_id):
                    with pytest.raises(error or NotFoundError) as caught:
                        call()
                    messages.append(str(caught.value) + repr(caught.value.details))
            with pytest.raises(NotFoundError):
                desk.find(seen.candidate_id)
            for message in messages:
                assert "bakery" not in message
                assert kept.memory_id not in message
        assert me.candidate(seen.candidate_id).status is CandidateStatus.PENDING
        assert texts(me.list()) == [SECRET + " too"]

    @LEXICAL
    @pytest.mark.promise("SCO-3")
    def test_the_person_concerned_decides_about_their_own_only(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        seen = proposed(me, "Likes tea.")
        for stranger in (other_user, other_tenant):
            for call in (
                lambda s=stranger: s.candidate(seen.candidate_id),
                lambda s=stranger: approved(s, seen),
                lambda s=stranger: s.reject(seen.candidate_id, reason="no"),
            ):
                with pytest.raises(NotFoundError):
                    call()
            assert stranger.candidates() == ()
        approved(me, seen)

    @LEXICAL
    def test_a_desk_lists_what_it_reaches(
        self, memory: Memory, me: ScopedMemory, other_user: ScopedMemory, desk: ReviewDesk
    ) -> None:
        one, two = proposed(me, "Likes tea."), proposed(other_user, "Likes rye.")
        reach = frozenset({other_user.scope})
        near = memory.reviewing(Principal("t1", "ada", frozenset({Role.REVIEWER}), reach))
        assert {seen.candidate_id for seen in desk.candidates()} == {
            one.candidate_id,
            two.candidate_id,
        }
        assert [seen.candidate_id for seen in near.candidates()] == [two.candidate_id]
        assert desk.find(one.candidate_id).scope == me.scope
        decided(near, two)
        assert (len(other_user.list()), len(me.list())) == (1, 0)


class TestProposingTwice:
    @LEXICAL
    @pytest.mark.promise("WRI-2")
    def test_the_same_source_is_the_same_candidate_until_the_end(self, me: ScopedMemory) -> None:
        first = proposed(me, "Likes tea.", source_id="evt")
        assert proposed(me, " Likes tea.", source_id="evt ").candidate_id == first.candidate_id
        assert code_of(lambda: proposed(me, "Likes rye.", source_id="evt")) == "conflict"
        written = approved(me, first)
        again = proposed(me, "Likes tea.", source_id="evt")
        assert (again.candidate_id, again.memory_id) == (first.candidate_id, written.memory_id)
        assert len(me.list()) == 1

    @LEXICAL
    @pytest.mark.promise("WRI-2")
    def test_threads_and_other_openings_make_one_candidate(
        self, house: House, me: ScopedMemory
    ) -> None:
        faces = [me, me, same_scope(house.open(), me), same_scope(house.open(), me)] * 2
        barrier = Barrier(len(faces))

        def propose(face: ScopedMemory) -> str:
            barrier.wait()
            return proposed(face, "Likes tea.", source_id="evt").candidate_id

        with ThreadPoolExecutor(len(faces)) as pool:
            made = set(pool.map(propose, faces))
        assert made == {one.candidate_id for one in me.candidates()}
        assert len(made) == 1

    @LEXICAL
    @pytest.mark.promise("WRI-2", "CON-2")
    def test_approvals_at_once_make_one_record(self, house: House, me: ScopedMemory) -> None:
        seen = proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        faces = [me, me, same_scope(house.open(), me), same_scope(house.open(), me)]
        barrier = Barrier(len(faces))

        def approve(face: ScopedMemory) -> str:
            barrier.wait()
            return code_of(lambda: approved(face, seen))

        with ThreadPoolExecutor(len(faces)) as pool:
            codes = sorted(pool.map(approve, faces))
        assert codes == ["", "conflict", "conflict", "conflict"]
        assert len(me.list()) == 1
