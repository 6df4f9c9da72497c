"""Many processes and threads on one file, and processes that die while they write."""

from __future__ import annotations

import json
import os
import random
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import apsw
import pytest

from muniment.memory import open as open_memory
from muniment.ports import OwnerState, Snapshot, Store
from muniment.records import Record, Status
from muniment.storage import open_store
from muniment.testing.samples import chain_holds
from tests.storage.workers import SCOPE, Worker, worker

KILLS = 50
MOST_ACKNOWLEDGED = 12


def _all_at_once(stack: ExitStack, *calls: tuple[object, ...]) -> list[list[str]]:
    """Start commands, let them go together and return what each printed."""
    workers = [stack.enter_context(worker(str(call[0]), *call[1:])) for call in calls]
    for each in workers:
        assert each.line() == "ready"
    for each in workers:
        each.say()
    return [each.finish() for each in workers]


def _everything(store: Store) -> list[Record]:
    with store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        return view.page(owner, 2**63 - 1, 100_000, 0)[::-1]


@pytest.mark.promise("OPE-4")
def test_four_processes_open_a_new_file_at_once_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ExitStack() as stack:
        _all_at_once(stack, *(("write", path, who, 100) for who in "abcd"))
    store = open_store(path, create=False)
    records = _everything(store)
    expected = {f"{who}:{number}" for who in "abcd" for number in range(100)}
    assert {record.source.source_id for record in records} == expected
    assert [record.seq for record in records] == list(range(1, 401))
    with store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        assert owner.version == 400
        entries = view.audit(owner, 0, 1000)
    assert len(entries) == 400
    assert chain_holds(store, entries, SCOPE)
    store.close()


@pytest.mark.promise("WRI-2", "OPE-4")
def test_threads_of_two_processes_that_remember_one_source_get_one_record(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ExitStack() as stack:
        printed = _all_at_once(stack, ("race", path, 16), ("race", path, 16))
    ids = [memory_id for (line,) in printed for memory_id in json.loads(line)]
    store = open_store(path, create=False)
    (record,) = _everything(store)
    store.close()
    assert ids == [record.memory_id] * 32


@pytest.mark.promise("CON-2", "OPE-4")
def test_two_writers_of_one_field_leave_one_active_record_and_a_whole_chain(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ExitStack() as stack:
        _all_at_once(stack, ("field", path, "a", 25), ("field", path, "b", 25))
    with open_memory(path, embedder="none", create=False) as memory:
        me = memory.scoped(**SCOPE.to_dict())
        (active,) = me.list()
        history = me.history(active.memory_id)
    ids = [record.memory_id for record in history]
    assert len(set(ids)) == 50
    assert [record.supersedes for record in history] == [None, *ids[:-1]]
    assert [record.superseded_by for record in history] == [*ids[1:], None]
    assert [record.status for record in history] == [Status.SUPERSEDED] * 49 + [Status.ACTIVE]


@pytest.mark.slow
@pytest.mark.promise("OPE-3")
def test_a_killed_writer_leaves_every_acknowledged_record_whole_and_none_half(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.db"
    chance = random.Random(20300101)
    acknowledged: list[str] = []
    with worker("nursery", path) as nursery, ExitStack() as stack:
        assert nursery.line() == "ready"
        fresh = stack.enter_context(_born(nursery, tmp_path / "0"))
        for kill in range(1, KILLS + 1):
            doomed = fresh
            if kill < KILLS:
                fresh = stack.enter_context(_born(nursery, tmp_path / str(kill)))
            acknowledged += _killed_after(nursery, doomed, chance.randint(1, MOST_ACKNOWLEDGED))
            _check_whole(path, acknowledged)
    assert len(acknowledged) >= KILLS


def _born(nursery: Worker, pipe: Path) -> TextIO:
    """Have a writer started; return what it says: its number, and then what it acknowledges."""
    os.mkfifo(pipe)
    nursery.say(str(pipe))
    return pipe.open(encoding="utf-8")


def _killed_after(nursery: Worker, doomed: TextIO, count: int) -> list[str]:
    """Kill a writer after it acknowledged a number of writes; return all it acknowledged."""
    number, *heard = [doomed.readline().rstrip("\n") for _ in range(count + 1)]
    assert all(heard), "the writer ended by itself"
    nursery.say(number)
    assert nursery.line() == "killed"
    rest = doomed.read()
    complete = rest[: rest.rfind("\n") + 1].splitlines()
    return [*heard, *complete]


def _check_whole(path: Path, acknowledged: list[str]) -> None:
    store = open_store(path, create=False)
    with store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        _check_rows(view, owner, acknowledged)
        entries = view.audit(owner, 0, 100_000)
        assert chain_holds(store, entries, SCOPE)
    store.close()
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    assert connection.pragma("integrity_check") == "ok"
    connection.close()


def _check_rows(view: Snapshot, owner: OwnerState, acknowledged: list[str]) -> None:
    """Check that each record has all its rows, one audit entry, its links and its lookups."""
    records = view.page(owner, 2**63 - 1, 100_000, 0)[::-1]
    entries = view.audit(owner, 0, 100_000)
    by_source = {record.source.source_id: record for record in records}
    assert set(acknowledged) <= set(by_source)
    assert [record.seq for record in records] == list(range(1, owner.version + 1))
    assert [entry.memory_ids[0] for entry in entries] == [record.memory_id for record in records]
    assert [record.status for record in records[:-1]] == [Status.SUPERSEDED] * (len(records) - 1)
    for record, entry in zip(records, entries, strict=True):
        filed = view.filed(owner, record.source.source_id, 0)
        assert filed is not None
        assert filed.memory_id == record.memory_id
        assert view.traces(owner, record.seq) == (1, 1, 0)
        assert record.text.startswith(f"Prefers {record.value}")
        assert entry.at == record.created_at
