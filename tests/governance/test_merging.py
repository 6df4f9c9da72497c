"""Deduplication: what only repeats another record goes behind it; what says anything else stays."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import Memory, ScopedMemory, Statement
from muniment.records import Authority, Status
from muniment.results import CandidateStatus, Outcome
from muniment.scoped import ReviewDesk
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import LEXICAL, House, ids, said, texts
from tests.governance.conftest import TEAM, code_of, decided, published

APART = [
    "Logins are allowed", "Logins are not allowed", "Use C", "Use C++", "Use C#", "Budget is 1,500",
    "Budget is 1500.0", "Version 1.10", "Version 1.1", "Ann pays Bob", "Bob pays Ann",
    "Likes tea", "Likes coffee", "Owes 5", "Owes -5", "می\u200cخواهد", "نمی\u200cخواهد",
]  # fmt: skip


class Alike(FakeEmbedder):
    """Thinks that everything means the same."""

    def _direction(self, word: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
        return super()._direction("one")


def twins(me: ScopedMemory, text: str = "Likes tea.", again: str = "likes  tea") -> tuple[str, str]:
    return said(me, text).memory_id, said(me, again).memory_id


class TestFinding:
    @LEXICAL
    @pytest.mark.promise("MAI-2")
    def test_a_dry_run_reports_and_changes_nothing(self, memory: Memory, me: ScopedMemory) -> None:
        one, other = twins(me)
        before = (me.list(), me.audit(), me.candidates())
        for supersede in (False, True):
            report = memory.deduplicate(supersede=supersede, dry_run=True)
            assert (report.examined, report.groups, report.proposed, report.merged) == (2, 1, 0, 0)
            (pair,) = report.duplicates
            assert (pair.owner, pair.kept, pair.dropped, pair.likeness) == (me.scope, one, other, 1)
        assert (me.list(), me.audit(), me.candidates()) == before

    @pytest.mark.promise("MAI-2", "CON-6")
    def test_distinct_statements_stay_although_an_embedder_thinks_them_alike(self) -> None:
        with muniment.open(":memory:", embedder=Alike()) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            for text in APART:
                said(me, text)
            assert memory.deduplicate(supersede=True).duplicates == ()
            assert sorted(texts(me.list(limit=100))) == sorted(APART)

    @pytest.mark.promise("MAI-2")
    @pytest.mark.parametrize("likes", [True, False])
    def test_a_word_without_weight_parts_two_records_unless_they_mean_the_same(
        self, likes: bool
    ) -> None:
        embedder = Alike() if likes else "none"
        with muniment.open(":memory:", embedder=embedder) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            twins(me, "The user likes the green tea.", "Likes green tea")
            assert len(memory.deduplicate(dry_run=True).duplicates) == int(likes)

    @LEXICAL
    @pytest.mark.promise("MAI-2", "CON-6")
    @pytest.mark.parametrize(
        "other",
        [
            {"kind": "context"},
            {"field": "drink", "value": "tea"},
            {"metadata": {"place": "work"}},
            {"valid_until": "2031-01-01T00:00:00Z"},
        ],
    )
    def test_the_same_text_about_something_else_stays(
        self, memory: Memory, me: ScopedMemory, other: dict[str, object]
    ) -> None:
        said(me, "Likes tea.")
        said(me, "Likes tea.", **other)
        assert memory.deduplicate(supersede=True).duplicates == ()
        assert len(me.list()) == 2

    @LEXICAL
    @pytest.mark.promise("MAI-2", "SCO-8")
    def test_records_of_two_scopes_are_never_compared(
        self, memory: Memory, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        for scoped in (me, other_user):
            said(scoped, "Likes tea.")
        assert memory.deduplicate(supersede=True).duplicates == ()


class TestWhoStays:
    @LEXICAL
    @pytest.mark.promise("MAI-2", "REC-6")
    def test_the_one_that_was_shown_more_often_stays(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        one = said(me, "Likes tea.", metadata={}).memory_id
        for _ in range(2):
            assert ids(me.recall("tea")) == [one]
        other = said(me, "likes TEA").memory_id
        (pair,) = memory.deduplicate(dry_run=True).duplicates
        assert (pair.kept, pair.dropped) == (one, other)
        for _ in range(5):
            me.recall("likes TEA", limit=1)
        (pair,) = memory.deduplicate(dry_run=True).duplicates
        assert (pair.kept, pair.dropped) == (other, one)

    @LEXICAL
    @pytest.mark.promise("MAI-2", "CON-1")
    def test_authority_comes_before_use(self, memory: Memory, me: ScopedMemory) -> None:
        me.import_many([Statement("preference", "Likes tea.", "i1")])
        for _ in range(3):
            me.recall("tea")
        spoken = said(me, "Likes tea.").memory_id
        memory.deduplicate(supersede=True)
        (kept,) = me.list()
        assert (kept.memory_id, kept.authority) == (spoken, Authority.EXPLICIT)

    @LEXICAL
    @pytest.mark.promise("MAI-2", "TIM-2")
    def test_no_record_is_replaced_by_one_that_ends_before_it(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        brief = said(me, "Likes tea.", expires_at="2030-02-01T00:00:00Z").memory_id
        for _ in range(3):
            me.recall("tea")
        lasting = said(me, "Likes tea.").memory_id
        assert memory.deduplicate(supersede=True).duplicates == ()
        assert set(ids(me.list())) == {brief, lasting}


class TestMerging:
    @LEXICAL
    @pytest.mark.promise("MAI-2", "CON-2", "AUD-1")
    def test_what_is_merged_stands_before_the_other_in_its_history(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        one = said(me, "Drinks tea.").memory_id
        kept = me.correct(one, text="Likes tea.").memory_id
        older = said(me, "Sips tea.").memory_id
        dropped = me.correct(older, text="Likes tea.").memory_id
        report = memory.deduplicate(supersede=True)
        assert (report.groups, report.merged, report.left) == (1, 1, 0)
        assert ids(me.list()) == ids(me.recall("tea")) == [kept]
        chain = [older, dropped, one, kept]
        for place in chain:
            assert [record.memory_id for record in me.history(place)] == chain
        last = me.audit()[-1]
        assert (last.actor, last.action) == ("maintenance", "merge")
        assert last.memory_ids == (dropped, kept)
        assert memory.verify().flaws == ()
        again = memory.deduplicate(supersede=True)
        assert (again.duplicates, again.merged) == ((), 0)

    @LEXICAL
    @pytest.mark.promise("MAI-2")
    @pytest.mark.parametrize("sealed", [False, True])
    def test_unmerge_brings_it_back_as_it_was(self, house: House, sealed: bool) -> None:
        memory = house.open(sealed=sealed)
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        kept, dropped = twins(me)
        before = me.get(kept), me.get(dropped)
        memory.deduplicate(supersede=True)
        assert me.get(dropped).status is Status.SUPERSEDED
        assert code_of(lambda: me.unmerge(kept)) == "not_found"
        assert me.unmerge(dropped) == before[1]
        assert (me.get(kept), me.get(dropped)) == before
        assert len(me.recall("tea")) == 2
        assert me.audit()[-1].action == "unmerge"
        assert code_of(lambda: me.unmerge(dropped)) == "not_found"
        assert memory.verify().flaws == ()

    @LEXICAL
    @pytest.mark.promise("MAI-2", "CON-5")
    def test_unmerge_brings_back_nothing_that_was_corrected_since(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        kept, dropped = twins(me)
        memory.deduplicate(supersede=True)
        me.correct(kept, text="Likes coffee.")
        assert code_of(lambda: me.unmerge(dropped)) == "tombstoned"

    @LEXICAL
    @pytest.mark.promise("MAI-2")
    def test_only_a_merge_is_undone(self, me: ScopedMemory, other_user: ScopedMemory) -> None:
        old = said(me, "Likes tea.").memory_id
        me.correct(old, text="Likes coffee.")
        for scoped, record in ((me, old), (me, "mem_none"), (other_user, old)):
            assert code_of(lambda s=scoped, r=record: s.unmerge(r)) == "not_found"  # type: ignore[misc]

    @LEXICAL
    @pytest.mark.promise("MAI-2", "FOR-2")
    def test_forgetting_the_one_that_stayed_takes_what_was_merged_into_it(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        kept, dropped = twins(me)
        memory.deduplicate(supersede=True)
        me.forget(kept)
        assert code_of(lambda: me.get(dropped)) == "not_found"
        assert len(me.list(superseded=True)) == 0


class TestProposing:
    @LEXICAL
    @pytest.mark.promise("MAI-2", "WRI-5")
    def test_a_reviewer_is_asked_once_and_approving_merges(
        self, memory: Memory, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        kept, dropped = twins(me)
        assert memory.deduplicate().proposed == 1
        again = memory.deduplicate()
        assert (again.proposed, again.left, len(again.duplicates)) == (0, 1, 1)
        assert len(me.list()) == 2
        (seen,) = desk.candidates()
        named = {one.name: one.memory_id for one in seen.findings}
        assert named == {"duplicate_kept": kept, "duplicate_dropped": dropped}
        assert code_of(lambda: desk.revise(me.scope, seen.candidate_id, text="Other")) != ""
        written = decided(desk, seen)
        assert (written.memory_id, written.superseded) == (kept, dropped)
        assert written.outcome is Outcome.REPEATED
        assert ids(me.list()) == [kept]
        assert desk.candidates(status="approved")[0].memory_id == kept
        assert [entry.actor for entry in me.audit() if entry.action == "merge"] == ["dana"]
        assert me.unmerge(dropped).status is Status.ACTIVE

    @LEXICAL
    @pytest.mark.promise("MAI-2", "CON-6")
    def test_rejecting_keeps_both_and_buries_neither(
        self, memory: Memory, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        twins(me)
        memory.deduplicate()
        (seen,) = desk.candidates()
        desk.reject(me.scope, seen.candidate_id, reason="two cups")
        assert len(me.list()) == 2
        assert me.counts().tombstones == 0
        assert (memory.deduplicate().proposed, desk.candidates()) == (0, ())
        assert code_of(lambda: me.import_many([Statement("preference", "Likes tea.", "x")])) == ""

    @LEXICAL
    @pytest.mark.promise("MAI-2")
    @pytest.mark.parametrize("end", ["forget", "correct"])
    def test_a_proposal_about_a_record_that_is_gone_cannot_be_approved(
        self, memory: Memory, me: ScopedMemory, desk: ReviewDesk, end: str
    ) -> None:
        _, dropped = twins(me)
        memory.deduplicate()
        (seen,) = desk.candidates()
        if end == "forget":
            me.forget(dropped)
        else:
            me.correct(dropped, text="Likes coffee.")
        assert code_of(lambda: decided(desk, seen)) in ("conflict", "not_found")
        assert len(me.list(kinds=["preference"])) == (1 if end == "forget" else 2)
        assert (
            desk.candidate(me.scope, seen.candidate_id).status is CandidateStatus.PENDING
            if (end == "correct")
            else desk.candidates() == ()
        )

    @LEXICAL
    @pytest.mark.promise("MAI-2", "SCO-5")
    def test_in_a_space_a_reviewer_decides_even_when_merging_is_asked_for(
        self, memory: Memory, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        for _ in range(2):
            published(desk, me, "Ask twice.")
        report = memory.deduplicate(supersede=True)
        assert (report.proposed, report.merged) == (1, 0)
        (seen,) = desk.candidates()
        assert seen.scope == TEAM
        decided(desk, seen)
        assert len(me.with_spaces(TEAM).recall("ask", minimum_score=-1)) == 1


@pytest.mark.promise("MAI-2")
@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["tea", "Tea.", " TEA ", "coffee", "not tea", "tea 2"]), max_size=8)
)
def test_what_merging_leaves_says_everything_once_and_undoing_it_restores_all(
    said_texts: list[str],
) -> None:
    with muniment.open(":memory:", embedder="none", clock=FrozenClock()) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        for text in said_texts:
            said(me, text)
        before = {record.memory_id: record for record in me.list()}
        words = {text.strip(" .").lower() for text in said_texts}
        report = memory.deduplicate(supersede=True)
        left = [text.strip(" .").lower() for text in texts(me.list())]
        assert sorted(left) == sorted(words)
        assert report.merged == len(before) - len(words)
        for pair in report.duplicates:
            me.unmerge(pair.dropped)
        assert {record.memory_id: record for record in me.list()} == before
