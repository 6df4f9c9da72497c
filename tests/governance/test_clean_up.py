"""What was shown is counted off the path of recall; what is old and unused goes, by policy."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import PolicyError, StoreBusyError
from muniment.testing import FrozenClock
from tests.behaviour.conftest import LEXICAL, House, ids, said, same_scope
from tests.governance.conftest import code_of
from tests.governance.test_policy import TASTE

DAY = 86_400
WHOLE = TASTE.replace("MODEL", '["propose", "read"]').replace("READERS", '["subject", "agent"]')
LASTING = WHOLE.replace("lifetime = 1", "lifetime = 900").replace("longest = 2", "longest = 999")
POLICY = LASTING + "clean_up = {age = 30, unused = 10, uses = 1}\n"


def opened(house: House, policy: str = POLICY, **more: Any) -> tuple[Memory, ScopedMemory]:  # noqa: ANN401
    memory = house.open(policy=policy, **more)
    return memory, memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


def shown(memory: Memory, me: ScopedMemory) -> dict[int, tuple[int, int]]:
    with memory._store.snapshot() as view:
        state = view.owner(me.scope)
        return (
            {}
            if state is None
            else {seq: (one.shown, one.shown_at) for seq, one in view.usage(state).items()}
        )


class TestUsage:
    @LEXICAL
    @pytest.mark.promise("REC-6")
    @pytest.mark.parametrize("sealed", [False, True])
    def test_what_reaches_a_packet_is_counted_and_outlives_the_process(
        self, house: House, clock: FrozenClock, sealed: bool
    ) -> None:
        memory, me = opened(house, sealed=sealed)
        for text in ("Likes tea.", "Likes jam."):
            said(me, text, kind="taste")
        before = me.recall("tea", limit=1).trace.version
        clock.advance(seconds=5)
        found = me.recall("tea", limit=1)
        last = clock.now()
        me.recall("nothing of it")
        assert shown(memory, me) == {}
        memory.close()
        memory, me = opened(house)
        assert shown(memory, me) == {1: (2, last)}
        assert found.trace.version == me.recall("jam").trace.version == before
        assert memory.verify().flaws == ()
        memory.close()
        memory, me = opened(house)
        assert {seq: count for seq, (count, _) in shown(memory, me).items()} == {1: 2, 2: 1}

    @LEXICAL
    @pytest.mark.promise("REC-6", "FOR-2")
    def test_nothing_is_counted_of_a_record_that_is_gone(self, house: House) -> None:
        memory, me = opened(house)
        kept = [said(me, f"Likes tea {n}.", kind="taste").memory_id for n in range(2)]
        me.recall("tea")
        me.forget(kept[0])
        memory.maintain()
        assert set(shown(memory, me)) == {2}
        me.recall("tea")
        memory.clean_up()
        me.forget(kept[1])
        assert shown(memory, me) == {}

    @LEXICAL
    @pytest.mark.promise("REC-6", "OPE-4")
    def test_a_database_that_is_busy_neither_stops_a_recall_nor_loses_a_count(
        self, house: House
    ) -> None:
        memory, me = opened(house, busy_timeout=0.0)
        kept = said(me, "Likes tea.", kind="taste").memory_id
        other, _ = opened(house)
        assert ids(me.recall("tea")) == [kept]
        with pytest.raises(StoreBusyError):
            other._store.write(lambda _: memory._usage.flush())
        other._store.write(lambda _: memory._usage.try_flush())
        assert (ids(me.recall("tea")), shown(memory, me)) == ([kept], {})
        memory._usage.flush()
        assert [count for count, _ in shown(memory, me).values()] == [2]

    @LEXICAL
    @pytest.mark.promise("REC-6")
    def test_what_waits_long_is_written_down_on_a_thread_of_its_own(
        self, house: House, clock: FrozenClock
    ) -> None:
        memory, me = opened(house)
        said(me, "Likes tea.", kind="taste")
        me.recall("tea")
        clock.advance(seconds=601)
        me.recall("tea")
        for thread in threading.enumerate():
            if thread.name == "muniment-usage":
                thread.join()
        assert [count for count, _ in shown(memory, me).values()] == [2]


class TestCleanUp:
    @LEXICAL
    @pytest.mark.promise("MAI-1")
    def test_only_what_is_old_and_unused_and_of_a_kind_with_a_clean_up_goes(
        self, house: House, clock: FrozenClock
    ) -> None:
        memory, me = opened(house)
        unused, once, often, late = (
            said(me, text, kind="taste").memory_id
            for text in ("Likes tea.", "Likes jam.", "Likes rye.", "Likes gin.")
        )
        me.recall("jam")
        for _ in range(2):
            me.recall("rye")
        clock.advance(seconds=25 * DAY)
        me.recall("gin")
        clock.advance(seconds=5 * DAY - 1)
        assert memory.clean_up(dry_run=True).unused == ()
        clock.advance(seconds=1)
        young = said(me, "Likes oat.", kind="taste").memory_id
        tried = memory.clean_up(dry_run=True)
        assert (tried.examined, set(tried.unused), tried.deleted) == (5, {unused, once}, 0)
        assert len(me.list()) == 5
        did = memory.clean_up()
        assert (set(did.unused), did.deleted) == ({unused, once}, 2)
        assert set(ids(me.list())) == {often, late, young}
        clock.advance(seconds=5 * DAY)
        assert memory.maintain().cleaned == 1
        assert set(ids(me.list())) == {often, young}

    @LEXICAL
    @pytest.mark.promise("MAI-1", "AUD-1", "FOR-2")
    def test_a_clean_up_is_audited_has_a_receipt_and_forbids_nothing(
        self, house: House, clock: FrozenClock
    ) -> None:
        memory, me = opened(house)
        gone = said(me, "Likes tea.", kind="taste").memory_id
        clock.advance(seconds=40 * DAY)
        memory.maintain()
        entry = next(one for one in me.audit() if one.action == "clean_up")
        assert (entry.actor, entry.memory_ids) == ("maintenance", (gone,))
        (receipt,) = memory.receipts(tenant_id="t1")
        assert (receipt.target, receipt.records) == ("disuse", 1)
        assert code_of(lambda: me.get(gone)) == "not_found"
        me.propose("Likes tea.", kind="taste", source_id="again")

    @LEXICAL
    @pytest.mark.promise("MAI-1")
    def test_without_a_policy_nothing_is_cleaned_up(self, house: House, clock: FrozenClock) -> None:
        memory, me = opened(house, LASTING)
        said(me, "Likes tea.", kind="taste")
        clock.advance(seconds=500 * DAY)
        assert memory.clean_up().examined == memory.maintain().cleaned == 0
        assert len(same_scope(memory, me).list()) == 1

    @pytest.mark.promise("MAI-1", "WRI-12")
    @pytest.mark.parametrize(
        "table",
        ["{age = 1, unused = 1}", "{age = 1, unused = 1, uses = 1, more = 1}", "30", '"never"',
         "{age = -1, unused = 1, uses = 1}", "{age = 1, unused = true, uses = 1}"],
    )  # fmt: skip
    def test_a_clean_up_that_is_not_complete_is_refused(self, house: House, table: str) -> None:
        with pytest.raises(PolicyError, match="clean_up"):
            house.open(policy=LASTING + f"clean_up = {table}\n")
