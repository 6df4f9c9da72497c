"""A deletion that is interrupted anywhere ends verified; one that is delayed says so."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from muniment import (
    BatchError,
    Memory,
    ScopedMemory,
    Statement,
    TombstonedError,
)
from muniment.errors import StoreBusyError
from muniment.rules.deletion import THREADS
from muniment.services.forgetting import fanout
from muniment.storage import Postgres
from muniment.testing import FakeEmbedder
from tests.behaviour.conftest import House, said, same_scope, texts
from tests.forgetting.breaking import Killed, at_statement, killed
from tests.forgetting.looking import readable, scan, spellings, steps, surfaces
from tests.postgres.server import Server

FINISHED = ["requested", "hidden", "derived", "compacted", "verified"]
BULK = {f"Bulk {n}." for n in range(5)}
THREE = sorted(BULK)[:3]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make five records more than two transactions erase, so that every step is passed."""
    monkeypatch.setattr(fanout, "CHUNK", 2)


@pytest.fixture
def filled(me: ScopedMemory, other_user: ScopedMemory) -> ScopedMemory:
    for text in sorted(BULK):
        said(me, text, kind="feedback", source_id=f"s{text}")
        said(other_user, text, kind="feedback", source_id=f"s{text}")
    said(me, "The green one.", source_id="last", follows="sBulk 4.")
    me.propose("bulk 3.", kind="insight", source_id="c", evidence=["e"])
    return me


def statements_of(house: House, me: ScopedMemory) -> int:
    """Return how many statements the whole deletion takes."""
    memory = house.opened[0]
    with at_statement(memory, 0, killed) as count:
        me.forget_where(kinds=["feedback"], wait=True)
    return count[0]


@pytest.mark.slow
@pytest.mark.promise("FOR-2", "OPE-3")
def test_a_deletion_killed_at_any_statement_ends_verified(tmp_path: Path, small: None) -> None:
    number, finished = 0, False
    while not finished:
        number += 1
        finished = _killed_at(tmp_path / f"{number}.db", number)
    assert number > 100


@pytest.mark.slow
@pytest.mark.promise("FOR-2", "OPE-3")
def test_a_deletion_on_postgresql_killed_at_every_fifth_statement_ends_verified(
    server: Server, tmp_path: Path, small: None
) -> None:
    number, finished = 0, False
    while not finished:
        number += 5
        with server.fresh(tmp_path / str(number)) as database:
            finished = _killed_at(database.ready({}), number)
    assert number > 100


def _killed_at(place: Path | Postgres, number: int) -> bool:
    """Kill at one statement, resume from another memory; return whether it was past the end."""
    import muniment

    def opened() -> tuple[Memory, ScopedMemory]:
        memory = muniment.open(place, embedder=FakeEmbedder())
        return memory, memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")

    memory, me = opened()
    for text in THREE:
        said(me, text, kind="feedback", source_id=f"s{text}")
    said(me, "Likes tea.", source_id="last", follows="sBulk 2.")
    me.propose("bulk 1.", kind="insight", source_id="c", evidence=["e"])
    was_killed = False
    with at_statement(memory, number, killed):
        try:
            me.forget_where(kinds=["feedback"], wait=True)
        except Killed:
            was_killed = True
    before = memory
    memory, me = opened()
    before.close()
    started = bool(memory.deletions() or me.receipts())
    left = readable(me) & set(THREE)
    assert left == (set() if started else set(THREE))
    memory.maintain()
    memory.maintain()
    if not started:
        me.forget_where(kinds=["feedback"], wait=True)
    _assert_finished(memory, me)
    memory.close()
    return not was_killed


def _assert_finished(memory: Memory, me: ScopedMemory) -> None:
    assert memory.deletions() == ()
    (receipt,) = me.receipts()
    assert (steps(receipt), me.verify_receipt(receipt)) == (FINISHED, True)
    assert surfaces(receipt) == {
        "records": (3, 3, 0),
        "words": (3, 3, 0),
        "vectors": (3, 3, 0),
        "contexts": (1, 1, 0),
        "blocks": (0, 0, 0),
        "candidates": (1, 1, 0),
        **dict.fromkeys(THREADS, (0, 0, 0)),
    }
    assert readable(me) == {"Likes tea."}
    assert me.counts().tombstones == 4
    forgotten = [entry for entry in me.audit() if entry.action == "forget"]
    assert len({one for entry in forgotten for one in entry.memory_ids}) == 3


@pytest.mark.promise("FOR-2", "OPE-3")
@pytest.mark.parametrize("share", [0.1, 0.45, 0.6, 0.8, 0.95])
def test_a_process_killed_in_mid_deletion_is_carried_on_by_the_next(
    house: House, filled: ScopedMemory, tmp_path: Path, share: float
) -> None:
    path = Path(house.path)
    copy = tmp_path / "measured.db"
    house.opened[0].close()
    copy.write_bytes(path.read_bytes())
    for side in tmp_path.glob(path.name + ".*"):
        (tmp_path / side.name.replace(path.name, copy.name)).write_bytes(side.read_bytes())
    measured = House(copy, house.clock, house.embedder)
    total = statements_of(measured, same_scope(measured.open(), filled))
    measured.opened[0].close()
    at = max(2, int(total * share))
    command = [sys.executable, "-m", "tests.forgetting.workers", str(path), str(at)]
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    memory = house.open()
    me = same_scope(memory, filled)
    if not memory.deletions():
        me.forget_where(kinds=["feedback"])
    memory.maintain()
    (receipt,) = me.receipts()
    assert (steps(receipt), readable(me) & BULK) == (FINISHED, set())
    stranger = memory.scoped(tenant_id="t1", user_id="u2", agent_id="a1")
    assert readable(stranger) == BULK


@contextmanager
def broken_off(memory: Memory, me: ScopedMemory) -> Iterator[None]:
    """Hide a large selection and stop before its first record is erased."""
    begin = fanout.Fanout.erase

    def stop(*_: object, **__: object) -> None:
        raise Killed

    fanout.Fanout.erase = stop  # type: ignore[method-assign, assignment]
    try:
        with pytest.raises(Killed):
            me.forget_where(kinds=["feedback"])
    finally:
        fanout.Fanout.erase = begin  # type: ignore[method-assign]
    yield


class TestHiddenButNotYetErased:
    @pytest.fixture(autouse=True)
    def hidden(
        self, small: None, house: House, memory: Memory, filled: ScopedMemory
    ) -> Iterator[None]:
        with broken_off(memory, filled):
            yield

    @pytest.mark.promise("FOR-2")
    def test_no_read_returns_it(self, house: House, memory: Memory, me: ScopedMemory) -> None:
        (waits,) = memory.deletions()
        assert (waits.state, waits.records, waits.waiting) == ("hidden", 5, None)
        for one in (me, same_scope(house.open(), me)):
            assert readable(one) == {"The green one."}
            past = one.recall("bulk", as_of="2030-01-01T00:00:00Z", minimum_score=-1)
            assert texts(past) == ["The green one."]
            assert (one.counts().active, one.counts().expired) == (1, 0)

    @pytest.mark.promise("FOR-3")
    def test_no_late_write_brings_it_back(self, memory: Memory, me: ScopedMemory) -> None:
        with pytest.raises(TombstonedError):
            said(me, "Bulk 1.", kind="feedback", source_id="sBulk 1.")
        with pytest.raises(TombstonedError):
            me.propose("Bulk 1.", kind="feedback", source_id="late", evidence=["e"])
        with pytest.raises(BatchError):
            me.import_many([Statement("feedback", "Bulk 1.", "late")])
        said(me, "Something new.", source_id="new")
        memory.maintain()
        assert readable(me) == {"The green one.", "Something new."}

    @pytest.mark.promise("FOR-2")
    def test_maintenance_carries_it_on(self, memory: Memory, me: ScopedMemory) -> None:
        done = memory.maintain()
        assert (done.resumed, done.compacted, done.finished, done.waiting) == (1, True, 1, 0)
        (receipt,) = me.receipts()
        assert steps(receipt) == FINISHED

    @pytest.mark.promise("FOR-3")
    def test_embedding_anew_does_not_touch_it(self, house: House, me: ScopedMemory) -> None:
        second = house.open(embedder=FakeEmbedder(name="second"))
        assert second.embed() == (1 + len(BULK), 0), "one of mine and all of the other user's"
        assert readable(same_scope(second, me)) == {"The green one."}


class TestAnOpenReader:
    @pytest.mark.promise("FOR-2", "FOR-4")
    def test_it_delays_the_compaction_visibly(self, house: House, me: ScopedMemory) -> None:
        text = "Likes jasmine tea."
        kept = said(me, text)
        other = house.open()
        memory = house.open(busy_timeout=0.05)
        me = same_scope(memory, me)
        with other._store.snapshot():
            receipt = me.forget(kept.memory_id, wait=True)
            assert not receipt.is_finished
            (waits,) = memory.deletions()
            assert (waits.state, waits.waiting) == ("derived", "reader")
            again = memory.maintain()
            assert (again.compacted, again.finished, again.waiting) == (False, 0, 1)
            with pytest.raises(StoreBusyError):
                memory.compact()
        done = memory.maintain()
        assert (done.compacted, done.finished, memory.deletions()) == (True, 1, ())
        assert me.receipt(receipt.receipt_id).is_finished
        counts = scan(Path(house.path), spellings(text))
        assert not any(any(row) for row in counts.values())


@pytest.mark.promise("FOR-2")
def test_maintenance_with_nothing_to_do_does_nothing(memory: Memory, me: ScopedMemory) -> None:
    said(me, "Likes tea.")
    before = me.audit()
    done = memory.maintain()
    assert set(done.to_dict().values()) == {0}
    assert me.audit() == before
