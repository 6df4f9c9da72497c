"""Remembering: what is kept of a statement, when it repeats, replaces, conflicts or is refused."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from muniment import ConflictError, NotFoundError, RefusedError, ScopedMemory, Statement
from muniment.errors import UnknownKindError
from muniment.records import Authority, EmbeddingState, JSONValue, Status, WritePath
from muniment.results import Finding, Outcome, Written
from muniment.testing import FrozenClock
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope, texts


def city(scoped: ScopedMemory, value: JSONValue, **parts: Any) -> str:  # noqa: ANN401
    return said(scoped, f"Lives in {value}.", field="city", value=value, **parts).memory_id


class TestWhatIsKept:
    def test_a_record_says_all_that_was_said(self, me: ScopedMemory, clock: FrozenClock) -> None:
        written = me.remember(
            "  Prefers the aisle. ",
            kind="fact",
            source_id=" form 7 ",
            approved=True,
            field="seat",
            value={"side": "aisle", "rows": [1, 2.5, None, True]},
            expires_at="2031-01-01T14:00:00+14:00",
            valid_from=datetime(2029, 1, 1, tzinfo=UTC),
            valid_until="2030-12-31T23:59:59.999999Z",
            metadata={"form": 7, "نام": "شیراز"},
        )
        record = me.get(written.memory_id)
        assert (written.outcome, written.status) == (Outcome.CREATED, Status.ACTIVE)
        assert record.memory_id.startswith("mem_")
        assert record.scope == me.scope
        assert (record.kind, record.text) == ("verified_fact", "Prefers the aisle.")
        assert (record.field, record.value) == (
            "seat",
            {"side": "aisle", "rows": [1, 2.5, None, True]},
        )
        assert (record.source.source_id, record.source.path) == ("form 7", WritePath.REMEMBER)
        assert (record.authority, record.actor) == (Authority.EXPLICIT, "subject")
        assert record.status is Status.ACTIVE
        assert record.created_at == datetime(2030, 1, 1, tzinfo=UTC)
        assert record.expires_at == datetime(2031, 1, 1, tzinfo=UTC)
        assert record.valid_from == datetime(2029, 1, 1, tzinfo=UTC)
        assert record.valid_until == datetime(2030, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
        assert record.metadata == {"form": 7, "نام": "شیراز"}
        assert (record.supersedes, record.superseded_by) == (None, None)

    @HYBRID
    def test_an_embedder_makes_a_record_ready(self, me: ScopedMemory) -> None:
        assert said(me, "Likes tea.").embedding is EmbeddingState.READY

    @LEXICAL
    def test_without_an_embedder_nothing_waits(self, me: ScopedMemory) -> None:
        assert said(me, "Likes tea.").embedding is EmbeddingState.NONE
        assert me.counts().pending == 0

    def test_a_policy_of_ones_own_closes_the_set_of_kinds(self, house: House) -> None:
        policy = """
            version = 1
            [kinds.taste]
            family = "semantic"
            purpose = "What the person likes."
            readers = ["subject"]
            model = ["read"]
            sensitivity = "personal"
            lifetime = 1
            longest = 2
            boundary = "user"
        """
        me = house.open(policy=policy).scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        kept = said(me, "Likes tea.", kind="taste")
        assert me.get(kept.memory_id).expires_at == datetime(2030, 1, 2, tzinfo=UTC)
        with pytest.raises(UnknownKindError, match="use one of: taste"):
            said(me, "Likes tea.")


class TestRepeating:
    @pytest.mark.promise("WRI-2")
    def test_a_repeated_statement_changes_nothing(self, me: ScopedMemory) -> None:
        first = said(me, "Likes tea.", source_id="s1", metadata={"a": 1, "b": [2]})
        version = me.recall("tea").trace.version
        again = said(me, " Likes tea.\n", source_id=" s1", metadata={"b": [2], "a": 1})
        assert (again.memory_id, again.outcome) == (first.memory_id, Outcome.REPEATED)
        assert me.recall("tea").trace.version == version
        assert (len(me.audit()), me.counts().active) == (1, 1)

    @pytest.mark.promise("WRI-2")
    def test_a_repeat_is_known_after_reopening(self, house: House, me: ScopedMemory) -> None:
        first = said(me, "Likes tea.", source_id="s1", expires_at="2031-01-01T00:00:00Z")
        house.opened[0].close()
        again = said(
            same_scope(house.open(), me),
            "Likes tea.",
            source_id="s1",
            expires_at="2030-12-31T14:00:00-10:00",
        )
        assert again.memory_id == first.memory_id

    @pytest.mark.promise("WRI-2")
    def test_the_derived_lifetime_is_no_part_of_the_payload(
        self, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        first = said(me, "Works on the move.", source_id="s1", kind="context")
        clock.advance(seconds=3600)
        assert said(me, "Works on the move.", source_id="s1", kind="context").memory_id == (
            first.memory_id
        )

    @pytest.mark.promise("WRI-2")
    def test_a_repeat_of_a_superseded_record_says_so(self, me: ScopedMemory) -> None:
        old = city(me, "Rome", source_id="s1")
        new = city(me, "Oslo")
        again = said(me, "Lives in Rome.", field="city", value="Rome", source_id="s1")
        assert (again.memory_id, again.status) == (old, Status.SUPERSEDED)
        assert ids(me.list()) == [new]

    def test_a_repeat_of_an_expired_record_says_so(
        self, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        parts = {"source_id": "s1", "expires_at": "2030-01-02T00:00:00Z"}
        said(me, "Likes tea.", **parts)
        clock.set("2030-01-02T00:00:00Z")
        assert said(me, "Likes tea.", **parts).status is Status.EXPIRED

    @pytest.mark.promise("WRI-2")
    def test_a_source_id_belongs_to_one_scope(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        written = [
            said(scoped, text, source_id="s1").memory_id
            for scoped, text in [(me, "Tea."), (other_user, "Coffee."), (other_tenant, "Milk.")]
        ]
        assert len(set(written)) == 3
        assert texts(me.list()) == ["Tea."]

    def test_the_same_text_of_two_sources_is_two_records(self, me: ScopedMemory) -> None:
        assert said(me, "Likes tea.").memory_id != said(me, "Likes tea.").memory_id
        assert me.counts().active == 2


class TestReplacing:
    @pytest.mark.promise("WRI-9", "CON-2")
    def test_a_new_value_replaces_the_old_one_with_links_both_ways(self, me: ScopedMemory) -> None:
        old, new = city(me, "Rome"), city(me, "Oslo")
        before, after = me.get(old), me.get(new)
        assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new)
        assert (after.status, after.supersedes) == (Status.ACTIVE, old)
        assert texts(me.recall("Lives in Rome", minimum_score=-1)) == ["Lives in Oslo."]
        assert me.counts().superseded == 1

    @pytest.mark.promise("WRI-9", "CON-2")
    def test_a_field_has_one_active_value_however_often_it_changes(self, me: ScopedMemory) -> None:
        written = [city(me, f"city {number}") for number in range(8)]
        assert ids(me.list()) == [written[-1]]
        assert ids(me.history(written[3])) == written

    @pytest.mark.promise("WRI-9")
    def test_a_field_is_the_same_in_any_spelling(self, me: ScopedMemory) -> None:
        said(me, "Sits on the aisle.", field="seat_preference", value="aisle")
        new = said(me, "Sits at the window.", field="Seat Preference", value="window")
        assert ids(me.list()) == [new.memory_id]

    @pytest.mark.promise("WRI-9")
    def test_kinds_and_scopes_keep_values_of_their_own(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        for scoped in (me, other_user, other_tenant):
            city(scoped, "Rome")
            city(scoped, "Oslo", kind="verified_fact")
            assert scoped.counts().active == 2

    def test_a_kind_with_many_values_keeps_them_all(self, me: ScopedMemory) -> None:
        for value in ("too long", "too short"):
            said(me, f"Answers are {value}.", kind="feedback", field="length", value=value)
        assert me.counts().active == 2

    @pytest.mark.promise("CON-6")
    def test_likeness_alone_replaces_nothing(self, me: ScopedMemory) -> None:
        likes = ["Use C", "Use C++", "Use C#", "Version 1.10", "Version 1.1", "Budget is 1,500"]
        likes += ["Loves olives", "Hates olives", "Budget is 1500.0", "Ann is CTO", "Ann is a CTO"]
        for text in likes:
            assert said(me, text).superseded is None
        assert texts(me.list())[::-1] == likes

    @pytest.mark.promise("CON-1")
    def test_the_order_of_writing_decides_and_not_a_time_that_was_given(
        self, me: ScopedMemory
    ) -> None:
        city(me, "Rome", valid_from="2029-12-31T00:00:00Z", metadata={"created_at": "2999"})
        new = city(me, "Oslo", valid_from="2020-01-01T00:00:00Z")
        assert ids(me.list()) == [new]


class TestConflicts:
    def imported(self, me: ScopedMemory, source_id: str, **parts: Any) -> Written:  # noqa: ANN401
        statement = Statement("preference", source_id=source_id, **{"field": "city", **parts})
        (written,) = me.import_many([statement])
        return written

    @pytest.mark.promise("CON-1", "CON-3")
    def test_a_source_of_lower_rank_does_not_replace_but_waits(self, me: ScopedMemory) -> None:
        incumbent = city(me, "Rome")
        written = self.imported(me, "i1", text="Lives in Oslo.", value="Oslo")
        assert (written.outcome, written.memory_id) == (Outcome.CONTESTED, incumbent)
        assert ids(me.list(superseded=True)) == [incumbent]
        (candidate,) = me.conflicts()
        assert (candidate.candidate_id, candidate.contested) == (written.candidate_id, incumbent)

    @pytest.mark.promise("CON-1")
    def test_the_person_replaces_what_an_operator_brought(self, me: ScopedMemory) -> None:
        incumbent = self.imported(me, "i1", text="Lives in Rome.", value="Rome").memory_id
        new = city(me, "Oslo")
        assert me.get(new).supersedes == incumbent

    def test_texts_without_a_value_contradict_each_other_too(self, me: ScopedMemory) -> None:
        said(me, "Lives in Oslo.", field="city")
        written = self.imported(me, "i1", text="Lives in Rome.")
        assert written.outcome is Outcome.CONTESTED

    def test_an_expired_record_defends_nothing(self, me: ScopedMemory, clock: FrozenClock) -> None:
        expiry = "2030-01-02T00:00:00Z"
        city(me, "Rome", expires_at=expiry)
        clock.set(expiry)
        written = self.imported(me, "i1", text="Lives in Oslo.", value="Oslo")
        assert written.outcome is Outcome.CREATED

    @pytest.mark.promise("CON-3")
    def test_the_packet_says_that_a_record_is_contested(self, me: ScopedMemory) -> None:
        city(me, "Rome")
        self.imported(me, "i1", text="Lives in Oslo.", value="Oslo")
        (item,) = me.recall("city", minimum_score=-1)
        assert item.contested
        assert "Oslo" not in me.recall("city", minimum_score=-1).packet.text

    def test_a_conflict_leaves_no_trace(self, me: ScopedMemory) -> None:
        said(me, "Likes tea.", source_id="s1")
        with pytest.raises(ConflictError):
            said(me, "Likes coffee.", source_id="s1", field="drink", value="coffee")
        assert (me.counts().active, len(me.audit())) == (1, 1)
        assert len(me.recall("coffee", minimum_score=0.1)) == 0


class TestScreening:
    @pytest.mark.promise("WRI-6")
    @pytest.mark.parametrize(
        "hidden", ["\u200b", "\u202e", "\u2066", "\U000e0041", "\x07", "\u00ad"]
    )
    @pytest.mark.parametrize("part", ["text", "field", "value", "metadata"])
    def test_hidden_characters_are_refused_by_place_only(
        self, me: ScopedMemory, hidden: str, part: str
    ) -> None:
        bad = f"tea{hidden}pot"
        parts: dict[str, Any] = {"text": "Likes tea.", "field": "drink", "value": ["tea"]}
        parts |= {part: {"k": [bad]} if part in ("value", "metadata") else bad}
        with pytest.raises(RefusedError, match="hidden_characters at characters 3 to 4") as caught:
            said(me, parts.pop("text"), **parts)
        assert "pot" not in str(caught.value)
        assert me.counts().active == 0

    @pytest.mark.promise("WRI-6")
    @pytest.mark.parametrize(
        "text", ["نمی\u200cخواهم", "👩\u200d👩\u200d👧 🇮🇷", "line\n\ttab", "א\u200fב"]
    )
    def test_what_people_really_write_passes_unchanged(self, me: ScopedMemory, text: str) -> None:
        assert me.get(said(me, text).memory_id).text == text

    def test_a_screener_of_ones_own_sees_every_text_and_its_door(self, house: House) -> None:
        seen: list[tuple[str, str]] = []

        class NoTea:
            def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
                seen.append((text, path.value))
                start = text.find("tea")
                return [] if start < 0 else [Finding("tea", start, start + 3, refuses=True)]

        scope = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1"}
        me = house.open(screener=NoTea()).scoped(**scope)
        with pytest.raises(RefusedError, match="refused the text: tea at characters 6 to 9"):
            said(me, "Likes tea.")
        me.import_many([Statement("preference", "Likes milk.", "s1")])
        assert ("Likes tea.", "remember") in seen
        assert ("Likes milk.", "import") in seen
        assert texts(me.list()) == ["Likes milk."]


def test_an_id_that_was_never_given_is_not_found(me: ScopedMemory) -> None:
    with pytest.raises(NotFoundError):
        me.get("mem_" + "0" * 32)
