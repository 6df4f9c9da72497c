"""Shared spaces: read by claim, written through review only, and how they meet one's own memory."""

from __future__ import annotations

from typing import Any

import pytest

from muniment import Memory, ScopedMemory
from muniment.clock import from_instant
from muniment.errors import ForbiddenError, NotFoundError, RefusedError, ScopeError
from muniment.results import CandidateStatus
from muniment.scope import Principal, Role, Scope, Space, SpaceType
from muniment.scoped import ReviewDesk
from muniment.testing import FrozenClock
from muniment.trace import Reason
from tests.behaviour.conftest import LEXICAL, House, ids, said, texts
from tests.governance.conftest import TEAM, code_of, decided, proposed, published

FIRM = Space("t1", SpaceType.ORGANISATION, "acme")
OWN = Space.of_user("t1", "u1")


class TestReading:
    @pytest.mark.promise("SCO-5", "REC-1")
    def test_a_hit_says_where_it_is_from(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        shared = published(desk, me, "Refunds need two signatures.").memory_id
        mine = said(me, "Refunds bore her.").memory_id
        packet = me.with_spaces(TEAM).recall("refunds", minimum_score=-1).packet
        owners = {item.record.memory_id: item.record.scope for item in packet}
        assert owners == {shared: TEAM, mine: me.scope}
        (line,) = (line for line in packet.text.splitlines() if shared in line)
        assert '"space": "project apollo"' in line
        assert sum('"space"' in line for line in packet.text.splitlines()) == 1

    @pytest.mark.promise("SCO-5")
    def test_only_a_verified_claim_opens_it(
        self, memory: Memory, me: ScopedMemory, other_user: ScopedMemory, desk: ReviewDesk
    ) -> None:
        shared = published(desk, me, "Refunds need two signatures.").memory_id
        other = Space("t1", SpaceType.PROJECT, "gemini")
        same_name = Space("t1", SpaceType.ORGANISATION, "apollo")
        for face in (me, other_user, other_user.with_spaces(other, same_name)):
            assert len(face.recall("refunds", minimum_score=-1)) == 0
            assert len(face.list()) == 0
            for verb in (face.get, face.history, face.forget):
                with pytest.raises(NotFoundError):
                    verb(shared)
        assert ids(other_user.with_spaces(TEAM).recall("refunds")) == [shared]

    @pytest.mark.promise("SCO-5", "SCO-3")
    def test_the_space_of_another_users_agents_is_refused(
        self, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        with pytest.raises(ScopeError):
            other_user.with_spaces(TEAM, OWN)
        assert me.with_spaces(OWN).spaces == (OWN,)

    @pytest.mark.promise("SCO-5", "SCO-1")
    def test_a_space_of_another_tenant_is_refused(
        self, me: ScopedMemory, desk: ReviewDesk, other_tenant: ScopedMemory
    ) -> None:
        published(desk, me, "Refunds need two signatures.")
        with pytest.raises(ScopeError):
            other_tenant.with_spaces(TEAM)
        twin = Space("t2", TEAM.type, TEAM.space_id)
        assert len(other_tenant.with_spaces(twin).recall("refunds", minimum_score=-1)) == 0
        reviewer = frozenset({Role.REVIEWER})
        with pytest.raises(ScopeError):
            Principal("t2", "omid", reviewer, frozenset({TEAM}))

    @LEXICAL
    @pytest.mark.promise("SCO-5")
    def test_spaces_cannot_crowd_out_own_memory(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        for number in range(12):
            published(desk, me, f"Refunds refunds refunds {number}.")
        mine = [said(me, f"Once asked about refunds on day {n}.").memory_id for n in range(3)]
        found = me.with_spaces(TEAM).recall("refunds", limit=6, minimum_score=-1)
        owners = [item.record.scope for item in found]
        assert owners.count(TEAM) == 3
        assert set(mine) <= set(ids(found))
        assert len(me.with_spaces(TEAM).recall("refunds", limit=30, minimum_score=-1)) == 15

    @LEXICAL
    @pytest.mark.promise("SCO-5")
    def test_several_spaces_are_searched_together(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        face = me.with_spaces(TEAM, FIRM, OWN)
        for space in (TEAM, FIRM, OWN):
            decided(
                desk, proposed(face, f"Tea in {space.space_id}.", kind="procedure", space=space)
            )
        said(me, "Tea at home.")
        found = face.recall("tea", minimum_score=-1)
        assert {item.record.scope for item in found} == {me.scope, TEAM, FIRM, OWN}
        assert found.trace.considered == 4


class TestPrecedence:
    @LEXICAL
    @pytest.mark.promise("SCO-5", "WRI-7")
    @pytest.mark.parametrize("kind", ["procedure", "constraint"])
    def test_a_rule_of_the_space_wins_over_ones_own(
        self, me: ScopedMemory, desk: ReviewDesk, kind: str
    ) -> None:
        more: dict[str, Any] = {"kind": kind, "field": "refunds"}
        if kind == "constraint":
            more |= {"expires_at": "2030-06-01T00:00:00Z", "metadata": {"owner": "ann"}}
        shared = published(desk, me, "Two signatures.", value=2, **more).memory_id
        mine = said(me, "One signature.", value=1, **more).memory_id
        other = said(me, "Four eyes.", **{**more, "field": "audits"}).memory_id
        found = me.with_spaces(TEAM).recall("signature eyes", minimum_score=-1)
        assert set(ids(found)) == {shared, other}
        assert found.trace.rejected[Reason.OVERRULED] == 1
        assert ids(me.recall("signature", minimum_score=-1)) == [mine, other]

    @LEXICAL
    @pytest.mark.promise("SCO-5", "WRI-7")
    def test_a_rule_wins_although_ones_own_fits_the_question_better(
        self, me: ScopedMemory, desk: ReviewDesk, clock: FrozenClock
    ) -> None:
        more: dict[str, Any] = {"kind": "procedure", "field": "refunds"}
        mine = said(me, "Refunds refunds refunds: pay at once.", **more).memory_id
        before = from_instant(clock.now())
        clock.advance(seconds=60)
        end = "2030-02-01T00:00:00Z"
        shared = published(desk, me, "Ask the two who sign.", valid_until=end, **more).memory_id
        face = me.with_spaces(TEAM)
        for limit in (1, 2, 10):
            found = face.recall("refunds: pay at once", limit=limit, minimum_score=-1, explain=True)
            assert ids(found) == [shared]
            verdicts = {one.memory_id: one.reason for one in found.trace.explained}
            assert verdicts[mine] is Reason.OVERRULED
        for left_out, reason in (
            ({"kinds": ["preference"]}, Reason.KIND),
            ({"filters": {"metadata.tag": "x"}}, Reason.FILTER),
            ({"filters": {"field": "refunds"}}, Reason.OVERRULED),
        ):
            found = face.recall("refunds", minimum_score=-1, explain=True, **left_out)
            (verdict,) = [one.reason for one in found.trace.explained if one.memory_id == mine]
            assert verdict is reason
            assert found.trace.rejected[reason] > 0
        assert ids(face.recall("refunds", as_of=before)) == [mine]
        assert ids(face.recall("refunds", minimum_score=-1, filters={"actor": "subject"})) == []
        clock.set(end)
        assert ids(face.recall("refunds", minimum_score=-1)) == [mine]

    @LEXICAL
    @pytest.mark.promise("SCO-5", "CON-2")
    def test_an_own_value_never_supersedes_a_spaces(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        more: dict[str, Any] = {"kind": "decision", "field": "database"}
        shared = published(desk, me, "PostgreSQL.", value="pg", **more).memory_id
        face = me.with_spaces(TEAM)
        mine = said(face, "SQLite.", value="sqlite", **more)
        face.record_outcome("MySQL.", source_id="o", succeeded=True, actions=["x"], reference="r")
        assert mine.superseded is None
        assert desk.record(TEAM, shared).superseded_by is None
        assert (face.conflicts(), desk.conflicts()) == ((), ())
        assert {shared, mine.memory_id} < set(ids(face.recall("database", minimum_score=-1)))


class TestWriting:
    @LEXICAL
    @pytest.mark.promise("SCO-5", "WRI-7")
    def test_an_agent_only_proposes(self, me: ScopedMemory, desk: ReviewDesk) -> None:
        face = me.with_spaces(TEAM)
        seen = proposed(face, "Ask twice.", kind="procedure", space=TEAM)
        assert (seen.scope, seen.status) == (TEAM, CandidateStatus.PENDING)
        assert len(face.recall("ask", minimum_score=-1)) == 0
        shown: dict[str, Any] = {"version": seen.version, "content_hash": seen.content_hash}
        for call in (
            lambda: face.approve(seen.candidate_id, **shown),
            lambda: face.reject(seen.candidate_id, reason="no"),
            lambda: face.candidate(seen.candidate_id),
        ):
            with pytest.raises(NotFoundError):
                call()
        assert face.candidates() == ()
        kept = decided(desk, seen).memory_id
        for change in (face.forget, lambda one: face.correct(one, text="Ask never.")):
            with pytest.raises(NotFoundError):
                change(kept)
        face.forget_all()
        assert texts(face.recall("ask", minimum_score=-1)) == ["Ask twice."]

    @LEXICAL
    @pytest.mark.promise("SCO-5", "SCO-2")
    def test_nobody_proposes_for_a_space_they_may_not_read(self, me: ScopedMemory) -> None:
        for space in (TEAM, Space("t2", SpaceType.PROJECT, "apollo")):
            with pytest.raises(ForbiddenError):
                proposed(me, "Ask twice.", kind="procedure", space=space)
            with pytest.raises(ForbiddenError):
                proposed(me.with_spaces(FIRM), "Ask twice.", kind="procedure", space=space)

    @LEXICAL
    @pytest.mark.promise("SCO-5", "CON-5")
    def test_what_a_reviewer_rejects_for_a_space_is_rejected_there_only(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        face = me.with_spaces(TEAM, FIRM)
        seen = proposed(face, "Ask never.", kind="procedure", space=TEAM)
        desk.reject(TEAM, seen.candidate_id, reason="no")
        again = {"kind": "procedure", "space": TEAM}
        assert code_of(lambda: proposed(face, "ASK never.", **again)) == "tombstoned"
        assert proposed(face, "Ask never.", kind="procedure", space=FIRM).status == "pending"
        said(me, "Ask never.")

    @LEXICAL
    def test_a_reviewer_of_one_space_does_not_reach_another(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        seen = proposed(me.with_spaces(FIRM), "Ask twice.", kind="procedure", space=FIRM)
        reach = frozenset({TEAM})
        near = memory.reviewing(Principal("t1", "ada", frozenset({Role.REVIEWER}), reach))
        with pytest.raises(ForbiddenError):
            decided(near, seen)


class TestBoundaries:
    @LEXICAL
    @pytest.mark.promise("SCO-6")
    @pytest.mark.parametrize(
        ("kind", "reaches"),
        [("preference", [OWN]), ("decision", [OWN, TEAM]), ("procedure", [OWN, TEAM, FIRM])],
    )
    def test_a_kind_goes_no_further_than_its_boundary(
        self, me: ScopedMemory, desk: ReviewDesk, kind: str, reaches: list[Space]
    ) -> None:
        face = me.with_spaces(OWN, TEAM, FIRM)
        for space in (OWN, TEAM, FIRM):
            code = code_of(lambda: proposed(face, "It is so.", kind=kind, space=space))  # noqa: B023
            assert code == ("" if space in reaches else "refused")
        assert {one.scope for one in desk.candidates()} == set(reaches)

    @LEXICAL
    @pytest.mark.promise("SCO-6", "AUD-1")
    def test_the_boundary_that_holds_at_the_approval_counts(
        self, house: House, memory: Memory, me: ScopedMemory
    ) -> None:
        seen = proposed(me.with_spaces(FIRM), "Ask twice.", kind="procedure", space=FIRM)
        narrow = """
            version = 2
            [kinds.procedure]
            family = "procedural"
            purpose = "Steps."
            readers = ["agent", "reviewer"]
            model = ["propose", "read"]
            sensitivity = "internal"
            lifetime = "unlimited"
            longest = "unlimited"
            boundary = "project"
        """
        desk = house.open(policy=narrow).reviewing(
            Principal("t1", "dana", frozenset({Role.REVIEWER}))
        )
        with pytest.raises(RefusedError, match="boundary"):
            decided(desk, seen)
        assert desk.candidate(FIRM, seen.candidate_id).status is CandidateStatus.PENDING


@LEXICAL
@pytest.mark.promise("TIM-3", "SCO-5")
def test_a_spaces_record_lapses_for_everybody_at_once(
    me: ScopedMemory, desk: ReviewDesk, clock: FrozenClock
) -> None:
    published(desk, me, "Ask twice.", expires_at="2030-01-02T00:00:00Z")
    face = me.with_spaces(TEAM)
    assert len(face.recall("ask", minimum_score=-1)) == 1
    clock.set("2030-01-02T00:00:00Z")
    assert len(face.recall("ask", minimum_score=-1)) == 0
    assert Scope("t1", "u1", "a1") == me.scope


class TestSpacesAmongThemselves:
    @pytest.mark.promise("SCO-5")
    def test_a_space_that_is_named_twice_is_read_once(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        shared = published(desk, me, "Refunds need two signatures.").memory_id
        found = me.with_spaces(TEAM, TEAM).recall("refunds", minimum_score=-1)
        assert ids(found) == [shared]
        assert (found.trace.records, found.trace.rejected) == (1, {})
        assert me.with_spaces(TEAM, FIRM, TEAM).spaces == (TEAM, FIRM)

    @LEXICAL
    @pytest.mark.promise("SCO-5")
    @pytest.mark.parametrize(("limit", "mine"), [(1, 0), (2, 1), (4, 2), (6, 3), (9, 3)])
    def test_many_of_them_crowd_out_own_memory_no_more_than_one(
        self, me: ScopedMemory, desk: ReviewDesk, limit: int, mine: int
    ) -> None:
        spaces = [Space("t1", SpaceType.PROJECT, name) for name in ("a", "b", "c", "d", "e", "f")]
        for space in spaces:
            text, reader = f"Refunds {space.space_id}.", me.with_spaces(space)
            said_there = {"kind": "procedure", "space": space, "proposer": space.space_id}
            decided(desk, proposed(reader, text, **said_there))
        for number in range(3):
            said(me, f"Once upon a time somebody asked about refunds on day {number}.")
        found = me.with_spaces(*spaces).recall("refunds", limit=limit, minimum_score=-1)
        owners = [item.record.scope for item in found]
        assert (len(owners), owners.count(me.scope)) == (limit, mine)

    @LEXICAL
    @pytest.mark.promise("SCO-5")
    def test_the_first_of_them_is_not_taken_for_own_memory_where_there_is_none(
        self, me: ScopedMemory, other_user: ScopedMemory, desk: ReviewDesk
    ) -> None:
        for number in range(5):
            published(desk, me, f"Refunds refunds {number}.", proposer=f"agent {number}")
        said_once = "Once upon a time somebody asked about refunds."
        decided(desk, proposed(me.with_spaces(FIRM), said_once, kind="procedure", space=FIRM))
        for spaces in ((TEAM, FIRM), (FIRM, TEAM)):
            face = other_user.with_spaces(*spaces)
            found = face.recall("refunds", limit=4, minimum_score=-1, budget=None)
            assert [item.record.scope for item in found] == [TEAM, TEAM, TEAM, FIRM]
            assert found.trace.version == 0
