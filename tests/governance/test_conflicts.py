"""What precedence decides, what it leaves to a reviewer, and how a conflict shows and ends."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count, product
from threading import Barrier
from typing import Any

import pytest

from muniment import Memory, ScopedMemory, Statement
from muniment.records import Authority, Status
from muniment.results import CandidateStatus, Outcome, Written
from muniment.scoped import ReviewDesk
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, House, said, same_scope, texts
from tests.governance.conftest import DANA, approved, code_of, decided, proposed

_numbers = count()
POLICY = """
version = 1
[kinds.preference]
family = "semantic"
purpose = "What the person likes."
readers = ["subject", "agent", "reviewer"]
model = ["propose", "read"]
sensitivity = "personal"
lifetime = "unlimited"
longest = "unlimited"
boundary = "user"
auto_approve = ["crm"]
[kinds.outcome]
family = "episodic"
purpose = "What the application observed."
readers = ["subject", "agent", "reviewer"]
model = ["propose", "read"]
sensitivity = "internal"
lifetime = "unlimited"
longest = "unlimited"
boundary = "user"
auto_approve = ["crm"]
"""


def remember(me: ScopedMemory, desk: ReviewDesk, value: str) -> Written:
    return me.remember(approved=True, **parts(value))


def bring_in(me: ScopedMemory, desk: ReviewDesk, value: str) -> Written:
    return me.import_many([Statement(**parts(value))]).written[0]


def record_outcome(me: ScopedMemory, desk: ReviewDesk, value: str, **more: Any) -> Written:  # noqa: ANN401
    named = {name: part for name, part in parts(value).items() if name != "kind"}
    return me.record_outcome(succeeded=True, actions=["look"], **{**named, "metadata": {}, **more})


def observe_system(me: ScopedMemory, desk: ReviewDesk, value: str) -> Written:
    return record_outcome(me, desk, value, reference="crm:42")


def infer(me: ScopedMemory, desk: ReviewDesk, value: str) -> Written:
    seen = me.propose(**parts(value), proposer="crm")
    if seen.memory_id is None:
        assert seen.status is CandidateStatus.PENDING
        outcome = Outcome.CONTESTED
        return Written(seen.contested or "", outcome, Status.ACTIVE, None, me_embedding())
    return Written(seen.memory_id, Outcome.CREATED, Status.ACTIVE, None, me_embedding())


def me_embedding() -> Any:  # noqa: ANN401 - not looked at
    from muniment.records import EmbeddingState

    return EmbeddingState.NONE


def parts(value: str) -> dict[str, Any]:
    return {
        "text": f"It is {value}.",
        "kind": "outcome",
        "source_id": f"w-{next(_numbers)}",
        "field": "city",
        "value": value,
        "metadata": {"succeeded": True, "actions": ["look"]},
    }


PATHS: dict[Callable[..., Written], tuple[Authority, str]] = {
    observe_system: (Authority.SYSTEM_OF_RECORD, "application"),
    remember: (Authority.EXPLICIT, "subject"),
    bring_in: (Authority.APPROVED_SHARED, "operator"),
    record_outcome: (Authority.VERIFIED_OUTCOME, "application"),
    infer: (Authority.VERIFIED_OUTCOME, "crm"),
}


class TestPrecedence:
    @LEXICAL
    @pytest.mark.promise("CON-1", "WRI-3")
    @pytest.mark.parametrize(("first", "second"), [*product(PATHS, PATHS)])
    @pytest.mark.parametrize("agrees", [True, False])
    def test_every_write_path_has_its_place_in_the_table(
        self,
        house: House,
        first: Callable[..., Written],
        second: Callable[..., Written],
        agrees: bool,
    ) -> None:
        memory = house.open(policy=POLICY)
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        desk = memory.reviewing(DANA)
        incumbent = first(me, desk, "Rome")
        assert me.get(incumbent.memory_id).authority is PATHS[first][0]
        after = second(me, desk, "Rome" if agrees else "Oslo")
        (higher, name), (rank, other) = PATHS[first], PATHS[second]
        active = me.list().records[0]
        if second is infer:
            assert (after.outcome, active.memory_id) == (Outcome.CONTESTED, incumbent.memory_id)
        elif rank > higher or (rank == higher and (agrees or name == other)):
            assert (after.outcome, active.memory_id) == (Outcome.CREATED, after.memory_id)
            assert active.supersedes == incumbent.memory_id
        else:
            wanted = Outcome.REPEATED if agrees else Outcome.CONTESTED
            assert (after.outcome, after.memory_id) == (wanted, incumbent.memory_id)
            assert active.memory_id == incumbent.memory_id
        assert len(me.list()) == 1
        assert len(me.conflicts()) == (not agrees and after.outcome is Outcome.CONTESTED)

    @LEXICAL
    @pytest.mark.promise("CON-1", "WRI-8")
    def test_what_a_reviewer_rewrote_ranks_as_the_reviewers_word(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        me.record_outcome(
            "Lives in Rome.", field="city", value="Rome", source_id="o", succeeded=True, actions=[],
            reference="crm:42",
        )  # fmt: skip
        said(me, "Refunds up to 50.", field="refund limit", value=50)
        late = Statement("preference", "Refunds up to 60.", "x", field="refund limit", value=60)
        me.import_many([late])
        (seen,) = me.conflicts()
        revised = desk.revise(me.scope, seen.candidate_id, text="Refunds up to 60 euros.")
        assert revised.authority is seen.authority is Authority.APPROVED_SHARED
        record = me.get(decided(desk, revised).memory_id)
        assert record.authority is Authority.APPROVED_SHARED
        said(me, "Refunds up to 70.", field="refund limit", value=70)
        (active,) = me.list(kinds=["preference"])
        assert (active.value, active.authority) == (70, Authority.EXPLICIT)

    @LEXICAL
    @pytest.mark.promise("CON-1")
    @pytest.mark.parametrize("moment", ["2999-01-01T00:00:00Z", "1999-01-01T00:00:00Z"])
    def test_no_time_that_a_payload_names_decides(self, me: ScopedMemory, moment: str) -> None:
        said(me, "Refunds up to 50.", field="refund limit", value=50)
        late = Statement(
            "preference", "Refunds up to 5000.", "x", field="refund limit", value=5000,
            valid_from=moment, metadata={"created_at": moment, "authority": "system_of_record"},
        )  # fmt: skip
        me.import_many([late])
        proposed(me, "Refunds up to 900.", field="refund limit", value=900, valid_from=moment)
        assert texts(me.list()) == ["Refunds up to 50."]

    @LEXICAL
    @pytest.mark.promise("CON-2", "WRI-9")
    def test_writers_of_all_ranks_at_once_leave_one_active_record(
        self, house: House, memory: Memory, me: ScopedMemory
    ) -> None:
        faces = [me, same_scope(house.open(), me)] * 6
        barrier = Barrier(len(faces))

        def write(number: int) -> str:
            face, value = faces[number], f"v{number}"
            barrier.wait()
            if number % 3 == 0:
                return code_of(lambda: said(face, value, field="city", value=value))
            if number % 3 == 1:
                one = Statement("preference", value, f"i{number}", field="city", value=value)
                return code_of(lambda: face.import_many([one]))
            return code_of(lambda: proposed(face, value, field="city", value=value))

        with ThreadPoolExecutor(len(faces)) as pool:
            assert set(pool.map(write, range(len(faces)))) == {""}
        (active,) = me.list()
        chain = me.history(active.memory_id)
        assert chain[-1] == active
        assert len(chain) == me.counts().superseded + 1
        assert {one.contested for one in me.candidates()} <= {active.memory_id, None}


class TestOpenConflicts:
    @LEXICAL
    @pytest.mark.promise("CON-3")
    def test_the_incumbent_stays_and_the_packet_mentions_the_conflict_without_its_text(
        self, me: ScopedMemory, desk: ReviewDesk
    ) -> None:
        rome = said(me, "Lives in Rome.", field="city", value="Rome")
        other = said(me, "City of birth is Lima.", field="born", value="Lima")
        batch = me.import_many([Statement("preference", "Oslo zebra.", "i", field="city", value=1)])
        (conflict,) = me.conflicts()
        assert batch.written[0].candidate_id == conflict.candidate_id
        assert conflict.contested == rome.memory_id
        assert [one.candidate_id for one in desk.conflicts()] == [conflict.candidate_id]
        packet = me.recall("city", minimum_score=-1).packet
        assert {item.record.memory_id: item.contested for item in packet} == {
            rome.memory_id: True,
            other.memory_id: False,
        }
        assert "contradicts" in packet.text
        assert "zebra" not in packet.text

    @LEXICAL
    @pytest.mark.promise("CON-3")
    @pytest.mark.parametrize("approve", [True, False])
    def test_a_reviewer_ends_it_either_way(
        self, me: ScopedMemory, desk: ReviewDesk, approve: bool
    ) -> None:
        rome = said(me, "Lives in Rome.", field="city", value="Rome").memory_id
        seen = proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        if approve:
            assert decided(desk, seen).superseded == rome
        else:
            desk.reject(me.scope, seen.candidate_id, reason="she moved")
        assert me.conflicts() == desk.conflicts() == ()
        (item,) = me.recall("lives", minimum_score=-1)
        assert (item.record.value, item.contested) == ("Oslo" if approve else "Rome", False)

    @LEXICAL
    @pytest.mark.promise("CON-3")
    def test_the_person_ends_it_by_saying_the_same(self, me: ScopedMemory) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome")
        seen = proposed(me, "She lives in Oslo.", field="city", value="Oslo")
        oslo = said(me, "I live in Oslo.", field="city", value="Oslo").memory_id
        assert me.conflicts() == ()
        assert not any(item.contested for item in me.recall("live", minimum_score=-1))
        again = me.candidate(seen.candidate_id)
        assert again.findings[-1].name == "same_as_active"
        assert again.findings[-1].memory_id == oslo

    @LEXICAL
    @pytest.mark.promise("CON-3")
    def test_it_follows_the_record_that_takes_the_place(self, me: ScopedMemory) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome")
        proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        lima = said(me, "Lives in Lima.", field="city", value="Lima").memory_id
        (conflict,) = me.conflicts()
        assert conflict.contested == lima

    @LEXICAL
    @pytest.mark.promise("CON-3")
    def test_it_ends_with_the_record(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        end = "2030-01-02T00:00:00Z"
        said(me, "Lives in Rome.", field="city", value="Rome", expires_at=end)
        kept = said(me, "Drinks tea.", field="drink", value="tea").memory_id
        proposed(me, "Lives in Oslo.", field="city", value="Oslo")
        seen = proposed(me, "Drinks milk.", field="drink", value="milk")
        me.forget(kept)
        clock.set(end)
        assert me.conflicts() == ()
        memory.maintain()
        approved(me, me.candidate(seen.candidate_id))
        assert texts(me.list()) == ["Drinks milk."]

    @LEXICAL
    @pytest.mark.promise("CON-2", "WRI-2")
    def test_a_retry_is_told_the_same_until_and_after_the_decision(self, me: ScopedMemory) -> None:
        said(me, "Lives in Rome.", field="city", value="Rome")
        late = Statement("preference", "Lives in Oslo.", "i", field="city", value="Oslo")
        first, again = (me.import_many([late]).written[0] for _ in range(2))
        assert first == again
        written = approved(me, me.candidate(first.candidate_id or ""))
        (after,) = me.import_many([late])
        assert (after.outcome, after.memory_id) == (Outcome.REPEATED, written.memory_id)

    @LEXICAL
    @pytest.mark.promise("CON-6")
    @pytest.mark.parametrize(
        "pair", [("allowed", "not allowed"), ("C", "C++"), ("1.10", "1.1"), ("true", "false")]
    )
    def test_only_the_same_field_meets(self, me: ScopedMemory, pair: tuple[str, str]) -> None:
        for number, value in enumerate(pair):
            said(me, f"It is {value}.", field=f"field {number}", value=value)
            said(me, f"It is {value}, she said.")
        assert (len(me.list()), me.conflicts()) == (4, ())
