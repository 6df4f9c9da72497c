"""The end of lifetimes: exact to the microsecond, in proportion to what expired, accounted for."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from muniment import (
    InvalidInputError,
    Memory,
    NotFoundError,
    ScopedMemory,
    Statement,
    TombstonedError,
)
from muniment.errors import PolicyError
from muniment.rules.kinds import parse_policy
from muniment.services.forgetting import fanout, sweep
from muniment.storage.sqlfiles import queries
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import House, said, texts
from tests.forgetting.breaking import Killed, at_statement, killed, writer_of
from tests.forgetting.looking import readable, scan, surfaces

NOON = "2030-01-01T12:00:00Z"


def archiving(kind: str = "context") -> str:
    """Return the built-in policy with one kind that is archived on expiry."""
    import muniment.rules

    (folder,) = muniment.rules.__path__
    whole = (Path(folder) / "policy.toml").read_text(encoding="utf-8")
    head, tail = whole.split(f"[kinds.{kind}]\n")
    return f'{head}[kinds.{kind}]\non_expiry = "archive"\n{tail}'


class TestDeletion:
    @pytest.mark.promise("TIM-2", "TIM-3")
    def test_a_sweep_takes_a_record_at_its_expiry_and_not_a_microsecond_before(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        said(me, "Is tired.", expires_at=NOON)
        clock.set("2030-01-01T11:59:59.999999Z")
        assert memory.maintain().deleted == 0
        assert readable(me) == {"Is tired."}
        clock.advance(seconds=0.000001)
        assert readable(me) == set()
        assert memory.maintain().deleted == 1
        assert (me.counts().expired, me.counts().tombstones) == (0, 1)
        assert memory.maintain().deleted == 0

    @pytest.mark.promise("TIM-2")
    def test_every_record_it_takes_is_accounted_for(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        gone = [said(me, f"Is tired {n}.", expires_at=NOON).memory_id for n in range(3)]
        said(me, "Likes tea.")
        clock.set(NOON)
        memory.maintain()
        expired = [entry for entry in me.audit() if entry.action == "expire"]
        assert [entry.memory_ids for entry in expired] == [(one,) for one in gone]
        assert {entry.actor for entry in expired} == {"maintenance"}
        (receipt,) = me.receipts()
        assert (receipt.target, receipt.records, receipt.is_finished) == ("expiry", 3, True)
        assert me.counts().active + me.counts().tombstones == 4

    @pytest.mark.promise("TIM-2", "FOR-4")
    def test_what_it_takes_leaves_no_byte_and_no_candidate(
        self, house: House, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        one = me.propose("Needle 7f3a.", kind="context", source_id="c", evidence=["e"])
        me.approve(one.candidate_id, version=one.version, content_hash=one.content_hash)
        clock.advance(seconds=90 * 86_400)
        memory.maintain()
        assert me.candidates(status="approved") == ()
        (receipt,) = me.receipts()
        assert surfaces(receipt)["candidates"] == (1, 1, 0)
        counts = scan(Path(house.path), [b"Needle 7f3a"])
        assert not any(any(row) for row in counts.values())

    @pytest.mark.promise("TIM-2")
    def test_superseded_records_do_not_outlive_their_expiry(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        said(me, "In Rome.", field="city", value="Rome", expires_at=NOON)
        said(me, "In Oslo.", field="city", value="Oslo")
        clock.set(NOON)
        memory.maintain()
        assert (me.counts().superseded, texts(me.list())) == (0, ["In Oslo."])

    @pytest.mark.promise("TIM-2")
    def test_the_same_source_does_not_start_a_second_life(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        said(me, "Is tired.", source_id="s1", kind="context")
        clock.advance(seconds=90 * 86_400)
        memory.maintain()
        with pytest.raises(TombstonedError):
            said(me, "Is tired.", source_id="s1", kind="context")
        me.import_many([Statement("context", "Is tired.", "s2")])
        assert texts(me.list()) == ["Is tired."]

    @pytest.mark.promise("TIM-2")
    def test_no_read_extends_a_life(
        self, memory: Memory, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        kept = said(me, "Is tired.", kind="context")
        before = me.get(kept.memory_id).expires_at
        for _ in range(3):
            clock.advance(seconds=86_400)
            me.recall("tired")
            me.list()
            assert me.get(kept.memory_id).expires_at == before

    def test_what_lives_on_is_not_looked_at(
        self,
        memory: Memory,
        me: ScopedMemory,
        clock: FrozenClock,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        batch = [
            Statement("feedback", f"Live {n}.", f"l{n}", expires_at="2099-01-01T00:00:00Z")
            for n in range(300)
        ]
        dead = [Statement("feedback", f"Dead {n}.", f"d{n}", expires_at=NOON) for n in range(5)]
        me.remember_many([*batch, *dead], approved=True)
        clock.set(NOON)
        monkeypatch.setattr(sweep, "CHUNK", 2)
        with memory._store.snapshot() as view:
            found = view.expired(clock.now(), 100)
            plan = writer_of(memory).execute(
                "EXPLAIN QUERY PLAN " + queries("sqlite")["expired"],
                {"now": clock.now(), "limit": 100},
            )
            rows = [row[3] for row in plan]
        assert len(found) == 5
        assert any("records_by_expiry (expires_at" in row for row in rows)
        assert memory.maintain().deleted == 5
        assert me.counts().active == 300

    @pytest.mark.promise("TIM-2", "OPE-3")
    @pytest.mark.parametrize("number", range(2, 120, 9))
    def test_a_sweep_killed_at_any_statement_is_carried_on(
        self, house: House, me: ScopedMemory, number: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(fanout, "CHUNK", 2)
        for n in range(5):
            said(me, f"Is tired {n}.", expires_at=NOON)
        house.clock.set(NOON)
        memory = house.opened[0]
        with at_statement(memory, number, killed), suppress(Killed):
            memory.maintain()
        again = house.open()
        again.maintain()
        assert again.deletions() == ()
        assert (me.counts().expired, me.counts().tombstones) == (0, 5)
        named = [
            one for entry in me.audit() if entry.action == "expire" for one in entry.memory_ids
        ]
        assert (len(named), len(set(named))) == (5, 5)


class TestArchival:
    @pytest.fixture
    def archive(self, house: House) -> ScopedMemory:
        memory = house.open(policy=archiving())
        return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")

    @pytest.mark.promise("TIM-2")
    def test_an_archived_record_is_out_of_every_read_and_still_there_for_exports(
        self, house: House, archive: ScopedMemory
    ) -> None:
        kept = said(archive, "Is tired.", kind="context")
        said(archive, "Was here.", kind="error")
        house.clock.advance(seconds=400 * 86_400)
        memory = house.opened[-1]
        done = memory.maintain()
        assert (done.archived, done.deleted) == (1, 1)
        assert readable(archive) == set()
        for verb in (archive.get, archive.history):
            with pytest.raises(NotFoundError):
                verb(kept.memory_id)
        assert archive.counts().expired == 0
        with memory._store.snapshot() as view:
            owner = view.owner(archive.scope)
            assert owner is not None
            held = view.archived_records(owner, 0, 10, house.clock.now())
        assert [one.record.text for one in held] == ["Is tired."]
        (entry,) = [one for one in archive.audit() if one.action == "archive"]
        assert (entry.actor, entry.memory_ids) == ("maintenance", (kept.memory_id,))
        assert memory.maintain().archived == 0

    @pytest.mark.promise("TIM-2")
    def test_a_clock_that_goes_back_brings_no_archived_record_back(
        self, house: House, archive: ScopedMemory
    ) -> None:
        kept = said(archive, "Is tired.", kind="context")
        house.clock.advance(seconds=400 * 86_400)
        house.opened[-1].maintain()
        house.clock.set("2030-01-01T00:00:01Z")
        assert readable(archive) == set()
        with pytest.raises(NotFoundError):
            archive.get(kept.memory_id)

    @pytest.mark.promise("FOR-1")
    def test_an_archived_record_can_be_forgotten(self, house: House, archive: ScopedMemory) -> None:
        kept = said(archive, "Needle 7f3a.", kind="context")
        house.clock.advance(seconds=400 * 86_400)
        house.opened[-1].maintain()
        assert archive.forget(kept.memory_id, wait=True).is_finished
        counts = scan(Path(house.path), [b"Needle 7f3a"])
        assert not any(any(row) for row in counts.values())

    def test_embedding_anew_leaves_it_alone(self, house: House, archive: ScopedMemory) -> None:
        said(archive, "Is tired.", kind="context")
        house.clock.advance(seconds=400 * 86_400)
        house.opened[-1].maintain()
        assert house.open(embedder=FakeEmbedder(name="second")).embed() == (0, 0)


@pytest.mark.promise("TIM-2")
@pytest.mark.parametrize(
    "line", ['on_expiry = "keep"', "on_expiry = true", 'on_expiry = ["delete"]']
)
def test_a_kind_with_an_unknown_end_is_refused(line: str) -> None:
    with pytest.raises(PolicyError):
        parse_policy(archiving().replace('on_expiry = "archive"', line))


@pytest.mark.promise("FOR-4")
@pytest.mark.parametrize("days", ["0", "-1", "1.5", "true", '"forever"'])
def test_a_retention_of_tombstones_that_is_no_number_of_days_is_refused(days: str) -> None:
    text = archiving().replace('tombstone_days = "unlimited"', f"tombstone_days = {days}")
    with pytest.raises(PolicyError):
        parse_policy(text)


@pytest.mark.promise("TIM-2")
@pytest.mark.parametrize("kind", ["context", "constraint"])
def test_a_life_beyond_the_hard_maximum_is_refused(me: ScopedMemory, kind: str) -> None:
    more: dict[str, Any] = {"expires_at": "2040-01-01T00:00:00Z", "metadata": {"owner": "o"}}
    with pytest.raises(InvalidInputError, match="at most"):
        said(me, "Is tired.", kind=kind, **more)
