"""What each way of forgetting takes, and what it must not touch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import muniment
from muniment import (
    InvalidInputError,
    Memory,
    NotFoundError,
    Receipt,
    ScopedMemory,
    ScopeError,
)
from muniment.scope import Principal, Role, Space, SpaceType
from tests.behaviour.conftest import House, said, same_scope, texts
from tests.forgetting.looking import readable, surfaces


@pytest.fixture
def other_agent(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a2")


@pytest.fixture
def neighbours(
    other_user: ScopedMemory, other_tenant: ScopedMemory, other_agent: ScopedMemory
) -> list[ScopedMemory]:
    """Scopes that differ in one part, each with the same words under the same source."""
    scopes = [other_user, other_tenant, other_agent]
    for one in scopes:
        said(one, "Likes tea.", source_id="s1", metadata={"tag": "x"})
    return scopes


def hold(scopes: list[ScopedMemory]) -> list[set[str]]:
    return [readable(one) for one in scopes]


class TestOneRecord:
    @pytest.mark.promise("FOR-1", "FOR-5")
    def test_the_record_goes_and_its_neighbours_stay(
        self, me: ScopedMemory, neighbours: list[ScopedMemory]
    ) -> None:
        kept = said(me, "Likes tea.", source_id="s1")
        said(me, "Likes rye.")
        me.forget(kept.memory_id)
        assert readable(me) == {"Likes rye."}
        assert hold(neighbours) == [{"Likes tea."}] * 3

    @pytest.mark.promise("FOR-2")
    def test_the_candidate_it_came_from_goes_with_it(self, me: ScopedMemory) -> None:
        candidate = me.propose("Likes tea.", kind="preference", source_id="c1", evidence=["evt_1"])
        written = me.approve(
            candidate.candidate_id,
            version=candidate.version,
            content_hash=candidate.content_hash,
        )
        assert me.candidates(status="approved")
        receipt = me.forget(written.memory_id)
        assert surfaces(receipt)["candidates"] == (1, 1, 0)
        assert readable(me) == set()

    @pytest.mark.promise("FOR-2")
    def test_a_candidate_that_rests_on_it_or_says_the_same_goes_with_it(
        self, me: ScopedMemory
    ) -> None:
        kept = said(me, "Likes tea.")
        me.propose("Drinks.", kind="insight", source_id="c1", evidence=[kept.memory_id])
        me.propose("LIKES  tea.", kind="preference", source_id="c2", evidence=["evt_2"])
        me.propose("Likes rye.", kind="preference", source_id="c3", evidence=["evt_2"])
        receipt = me.forget(kept.memory_id)
        assert surfaces(receipt)["candidates"] == (2, 2, 0)
        assert readable(me) == {"Likes rye."}

    @pytest.mark.promise("FOR-5")
    def test_a_candidate_that_contradicts_it_stays_and_contradicts_nothing(
        self, me: ScopedMemory
    ) -> None:
        kept = said(me, "Lives in Rome.", field="city", value="Rome")
        rival = me.propose(
            "Lives in Oslo.",
            kind="preference",
            source_id="c1",
            field="city",
            value="Oslo",
            evidence=["evt_1"],
        )
        assert rival.contested == kept.memory_id
        me.forget(kept.memory_id)
        (left,) = me.candidates()
        assert (left.statement.text, left.contested) == ("Lives in Oslo.", None)
        me.approve(left.candidate_id, version=left.version, content_hash=left.content_hash)
        assert texts(me.list()) == ["Lives in Oslo."]

    def test_a_reviewer_forgets_within_reach(self, memory: Memory, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.")
        desk = memory.reviewing(Principal("t1", "rev", frozenset({Role.REVIEWER})))
        assert desk.forget(me.scope, kept.memory_id).actor == "rev"
        assert readable(me) == set()

    def test_the_receipt_counts_what_rests_on_it_and_stays(self, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.")
        drawn = me.propose("Drinks.", kind="insight", source_id="c1", evidence=[kept.memory_id])
        me.approve(drawn.candidate_id, version=drawn.version, content_hash=drawn.content_hash)
        receipt = me.forget(kept.memory_id)
        assert any(reason.startswith("1 approved record") for reason in receipt.remains)
        assert readable(me) == {"Drinks."}
        me.forget_where(event_id=kept.memory_id)
        assert readable(me) == set()


class TestSelections:
    @pytest.fixture(autouse=True)
    def records(self, me: ScopedMemory, neighbours: list[ScopedMemory]) -> None:
        said(me, "Likes tea.", source_id="th:1", metadata={"tag": "x"})
        said(me, "Likes rye.", source_id="th:2")
        said(me, "Likes oats.", source_id="th%1", kind="insight", metadata={"tag": "x"})
        me.propose("Likes figs.", kind="preference", source_id="th:3", evidence=["evt_1"])
        me.propose("Likes nuts.", kind="insight", source_id="n", evidence=["evt_1", "evt_2"])

    @pytest.mark.promise("FOR-1", "FOR-5")
    @pytest.mark.parametrize(
        ("conditions", "gone"),
        [
            ({"source_id": "th:1"}, {"tea"}),
            ({"source_prefix": "th:"}, {"tea", "rye", "figs"}),
            ({"source_prefix": "th%"}, {"oats"}),
            ({"source_prefix": "TH:"}, set()),
            ({"source_id": "th:"}, set()),
            ({"event_id": "evt_1"}, {"figs", "nuts"}),
            ({"event_id": "evt_2"}, {"nuts"}),
            ({"event_id": "evt"}, set()),
            ({"kinds": ["insight"]}, {"oats", "nuts"}),
            ({"kinds": []}, set()),
            ({"filters": {"metadata.tag": "x"}}, {"tea", "oats"}),
            ({"filters": {"metadata.tag": {"in": []}}}, set()),
            ({"filters": {"metadata.tag": "x"}, "kinds": ["preference"]}, {"tea"}),
            ({"source_prefix": "th:", "event_id": "evt_1"}, {"figs"}),
        ],
    )
    def test_exactly_the_selected_goes(
        self,
        me: ScopedMemory,
        neighbours: list[ScopedMemory],
        conditions: dict[str, Any],
        gone: set[str],
    ) -> None:
        everything = {f"Likes {what}." for what in ("tea", "rye", "oats", "figs", "nuts")}
        rehearsed = me.forget_where(**conditions, dry_run=True)
        assert readable(me) == everything
        receipt = me.forget_where(**conditions)
        assert readable(me) == everything - {f"Likes {what}." for what in gone}
        assert hold(neighbours) == [{"Likes tea."}] * 3
        found = {name: counts[0] for name, counts in surfaces(receipt).items()}
        assert {name: counts[0] for name, counts in surfaces(rehearsed).items()} == found
        assert found["records"] + found["candidates"] == len(gone)

    @pytest.mark.promise("FOR-1")
    def test_what_selects_nothing_changes_nothing(self, memory: Memory, me: ScopedMemory) -> None:
        before = me.audit()
        nothing: list[dict[str, Any]] = [{"kinds": []}, {"source_id": "none"}, {"event_id": "none"}]
        for conditions in nothing:
            receipt = me.forget_where(**conditions)
            assert (receipt.receipt_id, receipt.records, receipt.states) == ("", 0, ())
        assert (me.audit(), me.receipts(), memory.deletions()) == (before, (), ())
        assert me.counts().tombstones == 0

    @pytest.mark.promise("FOR-1")
    @pytest.mark.parametrize(
        "conditions",
        [
            {},
            {"filters": {}},
            {"source_id": ""},
            {"source_id": "*"},
            {"source_prefix": ""},
            {"source_prefix": "  "},
            {"event_id": ""},
            {"event_id": "*"},
            {"source_id": 7},
            {"kinds": "insight"},
            {"kinds": ["unheard of"]},
            {"filters": {"nothing": 1}},
        ],
    )
    def test_an_incomplete_condition_never_means_everything(
        self, me: ScopedMemory, conditions: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidInputError):
            me.forget_where(**conditions)
        assert len(readable(me)) == 5

    @pytest.mark.promise("FOR-1")
    def test_what_is_written_while_it_looks_is_taken_too(
        self, memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        me.propose("Likes plums.", kind="insight", source_id="c", evidence=["evt_9"])
        write = memory._store.write

        def late(work: Callable[[Any], Any]) -> Any:  # noqa: ANN401 - whatever the work returns
            monkeypatch.setattr(memory._store, "write", write)
            said(me, "Likes plums.", source_id="th:late")
            return write(work)

        monkeypatch.setattr(memory._store, "write", late)
        receipt = me.forget_where(source_prefix="th:")
        assert (receipt.records, surfaces(receipt)["candidates"]) == (3, (2, 2, 0))
        assert readable(me) == {"Likes oats.", "Likes nuts."}

    def test_superseded_and_expired_records_are_selected_too(
        self, house: House, me: ScopedMemory
    ) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome", source_id="old:1")
        said(me, "Lives in Oslo.", field="city", value="Oslo", source_id="new:1")
        said(me, "Is tired.", source_id="old:2", expires_at="2030-01-02T00:00:00Z")
        house.clock.set("2030-01-03T00:00:00Z")
        assert me.forget_where(source_prefix="old:").records == 2
        assert (me.counts().superseded, me.counts().expired) == (0, 0)
        assert "Lives in Oslo." in readable(me)


class TestWholeOwners:
    @pytest.fixture
    def everybody(self, memory: Memory) -> dict[str, ScopedMemory]:
        found = {}
        for tenant in ("t1", "t2"):
            for user in ("u1", "u2"):
                for agent in ("a1", "a2"):
                    one = memory.scoped(tenant_id=tenant, user_id=user, agent_id=agent)
                    said(one, "Likes tea.", source_id="s1")
                    one.propose("Likes figs.", kind="insight", source_id="p", evidence=["e"])
                    found[f"{tenant} {user} {agent}"] = one
        return found

    @pytest.mark.promise("FOR-1", "FOR-5")
    @pytest.mark.parametrize(
        ("forget", "gone", "target"),
        [
            (
                lambda m, **k: m.forget_user(tenant_id="t1", user_id="u1", **k),
                ["t1 u1 a1", "t1 u1 a2"],
                "user",
            ),
            (
                lambda m, **k: m.forget_agent(tenant_id="t1", agent_id="a1", **k),
                ["t1 u1 a1", "t1 u2 a1"],
                "agent",
            ),
            (
                lambda m, **k: m.forget_tenant(tenant_id="t1", **k),
                ["t1 u1 a1", "t1 u1 a2", "t1 u2 a1", "t1 u2 a2"],
                "tenant",
            ),
            (
                lambda m, **k: m.scoped(tenant_id="t1", user_id="u1", agent_id="a1").forget_all(
                    **k
                ),
                ["t1 u1 a1"],
                "scope",
            ),
        ],
    )
    def test_exactly_the_named_scopes_are_emptied(
        self,
        memory: Memory,
        everybody: dict[str, ScopedMemory],
        forget: Callable[..., Receipt],
        gone: list[str],
        target: str,
    ) -> None:
        rehearsed = forget(memory, dry_run=True)
        assert all(len(readable(one)) == 2 for one in everybody.values())
        receipt = forget(memory, wait=True)
        assert (receipt.target, receipt.records, receipt.is_finished) == (target, len(gone), True)
        assert rehearsed.records == len(gone)
        assert surfaces(rehearsed)["candidates"] == (len(gone), 0, len(gone))
        for name, one in everybody.items():
            assert readable(one) == (set() if name in gone else {"Likes tea.", "Likes figs."})
            assert one.counts().tombstones == (2 if name in gone else 0)

    @pytest.mark.promise("FOR-5")
    def test_policy_audit_and_tombstones_survive_and_the_scope_goes_on(
        self, memory: Memory, me: ScopedMemory
    ) -> None:
        kept = said(me, "Likes tea.", source_id="s1")
        policy = memory.policy
        memory.forget_user(tenant_id="t1", user_id="u1", wait=True)
        assert memory.policy == policy
        assert [entry.action for entry in me.audit()] == ["remember", "forget"]
        assert me.audit()[-1].memory_ids == (kept.memory_id,)
        assert me.counts().tombstones == 1
        said(me, "Likes rye.", source_id="s2")
        assert texts(me.recall("rye")) == ["Likes rye."]

    @pytest.mark.promise("FOR-1", "FOR-5")
    def test_a_users_own_space_goes_and_other_spaces_stay(self, memory: Memory) -> None:
        own = Space.of_user("t1", "u1")
        organisation, project = SpaceType.ORGANISATION, SpaceType.PROJECT
        spaces = [own, Space("t1", organisation, "u1"), Space("t1", project, "u1")]
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1").with_spaces(*spaces)
        desk = memory.reviewing(Principal("t1", "rev", frozenset({Role.REVIEWER})))
        for number, space in enumerate(spaces):
            one = me.propose(
                f"Shared {number}.", kind="procedure", source_id="p", space=space, evidence=["e"]
            )
            desk.approve(
                space, one.candidate_id, version=one.version, content_hash=one.content_hash
            )
        assert len(me.recall("shared", minimum_score=-1)) == 3
        assert memory.forget_user(tenant_id="t1", user_id="u1").records == 1
        assert sorted(texts(me.recall("shared", minimum_score=-1))) == ["Shared 1.", "Shared 2."]
        assert memory.forget_space(spaces[2]).records == 1

    @pytest.mark.promise("FOR-1", "SCO-2")
    @pytest.mark.parametrize("part", ["", " ", "*", None, 7])
    def test_a_part_that_names_nobody_is_refused(
        self,
        memory: Memory,
        everybody: dict[str, ScopedMemory],
        part: Any,  # noqa: ANN401 - what a caller may pass by mistake
    ) -> None:
        calls: list[Callable[[], Receipt]] = [
            lambda: memory.forget_user(tenant_id="t1", user_id=part),
            lambda: memory.forget_user(tenant_id=part, user_id="u1"),
            lambda: memory.forget_agent(tenant_id="t1", agent_id=part),
            lambda: memory.forget_agent(tenant_id=part, agent_id="a1"),
            lambda: memory.forget_tenant(tenant_id=part),
        ]
        for call in calls:
            with pytest.raises(ScopeError):
                call()
        assert all(readable(one) for one in everybody.values())

    def test_nobody_is_forgotten_by_a_name_that_is_almost_his(
        self, memory: Memory, everybody: dict[str, ScopedMemory]
    ) -> None:
        for name in ("U1", "u1 ", "u_", "u%", "u"):
            assert memory.forget_user(tenant_id="t1", user_id=name).records == 0
        assert all(readable(one) for one in everybody.values())

    @pytest.mark.promise("FOR-3")
    def test_another_memorys_cached_segment_never_serves_the_erased(
        self, house: House, memory: Memory, me: ScopedMemory
    ) -> None:
        said(me, "Likes tea.")
        elsewhere = same_scope(house.open(), me)
        assert texts(elsewhere.recall("tea")) == ["Likes tea."]
        memory.forget_user(tenant_id="t1", user_id="u1")
        said(me, "Likes rye.")
        assert texts(elsewhere.recall("tea", minimum_score=-1)) == ["Likes rye."]


def test_an_unknown_record_is_not_found(me: ScopedMemory, other_user: ScopedMemory) -> None:
    foreign = said(other_user, "Likes tea.")
    for memory_id in ("mem_none", foreign.memory_id, "mém"):
        with pytest.raises(NotFoundError):
            me.forget(memory_id)
    assert readable(other_user) == {"Likes tea."}


PARTS = st.sampled_from(["u1", "u2", "U1", "u1 ", "ü1", "u", "u11", "%", "_1"])


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(users=st.sets(PARTS, min_size=1), forgotten=PARTS)
@pytest.mark.promise("FOR-1", "SCO-4")
def test_users_are_forgotten_byte_for_byte(users: set[str], forgotten: str) -> None:
    with muniment.open(":memory:", embedder="none") as memory:
        for user in users:
            said(memory.scoped(tenant_id="t", user_id=user, agent_id="a"), "Likes tea.")
        assert memory.forget_user(tenant_id="t", user_id=forgotten).records == (forgotten in users)
        for user in users:
            left = memory.scoped(tenant_id="t", user_id=user, agent_id="a").counts().active
            assert left == (user != forgotten)
