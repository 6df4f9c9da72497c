"""The writer queue, locks, forks and compaction of a SQLite file."""

from __future__ import annotations

import subprocess
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any

import apsw
import pytest

from muniment.errors import StoreBusyError, StoreClosedError, StoreError
from muniment.memory import open as open_memory
from muniment.ports import Transaction
from muniment.records import Statement
from muniment.storage.sqlite import SqliteStore
from muniment.storage.sqlite_driver import Patience
from muniment.testing.fakes import FakeEmbedder
from muniment.testing.samples import NOW, SCOPE, everything, put, sample, state, stored
from tests.storage.tracing import traced
from tests.storage.workers import worker

WRITERS = 10


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(str(tmp_path / "memory.db"), busy_timeout=0, create=True)
    yield opened
    opened.close()


class Announcing(deque[Any]):
    """A queue that counts who has joined it."""

    def __init__(self) -> None:
        super().__init__()
        self.joined = Semaphore(0)

    def append(self, ticket: object) -> None:
        super().append(ticket)
        self.joined.release()


def _while_one_writes(
    store: SqliteStore, works: Sequence[Callable[[Transaction], object]]
) -> list[object]:
    """Queue works up behind a writer that is busy; return what each caller got or caught."""
    queue = store._queue = Announcing()
    first_runs, may_end = Event(), Event()
    outcomes: list[object] = [None] * len(works)

    def first(tx: Transaction) -> None:
        put(tx, SCOPE, sample(source_id="first"))
        first_runs.set()
        may_end.wait()

    def call(place: int) -> None:
        try:
            outcomes[place] = store.write(works[place])
        except (StoreError, LookupError, KeyboardInterrupt) as error:
            outcomes[place] = error

    threads = [Thread(target=store.write, args=(first,))]
    threads[0].start()
    first_runs.wait()
    threads += [Thread(target=call, args=(place,)) for place in range(len(works))]
    for thread in threads[1:]:
        thread.start()
    for _ in threads:
        queue.joined.acquire()
    may_end.set()
    for thread in threads:
        thread.join()
    return outcomes


def _putting(number: int) -> Callable[[Transaction], int]:
    def work(tx: Transaction) -> int:
        put(tx, SCOPE, sample(source_id=str(number)))
        return number

    return work


def _failing(error: BaseException) -> Callable[[Transaction], None]:
    def work(tx: Transaction) -> None:
        put(tx, SCOPE, sample())
        raise error

    return work


def test_writers_that_wait_share_one_commit(store: SqliteStore) -> None:
    said: list[str] = []

    def trace(_: apsw.Cursor, sql: str, __: object) -> bool:
        said.append(sql)
        return True

    store._writer().exec_trace = trace
    outcomes = _while_one_writes(store, [_putting(number) for number in range(WRITERS)])
    assert outcomes == list(range(WRITERS))
    assert said.count("COMMIT") == said.count("BEGIN IMMEDIATE") == 2
    assert len(everything(store)) == WRITERS + 1


@pytest.mark.promise("OPE-4")
def test_a_writer_that_fails_in_a_shared_commit_is_undone_alone(store: SqliteStore) -> None:
    mine = LookupError("mine")
    works = [_putting(0), _failing(mine), _putting(1), _putting(0)]
    outcomes = _while_one_writes(store, works)
    assert outcomes[:3] == [0, mine, 1] or outcomes[1:] == [mine, 1, 0]
    assert sum(isinstance(outcome, StoreError) for outcome in outcomes) == 1
    kept = [record.source.source_id for record in everything(store)]
    assert sorted(kept) == ["0", "1", "first"]


@pytest.mark.parametrize(
    ("embedder", "first", "vectors"),
    [
        ("none", [], []),
        (FakeEmbedder(), ["SELECT memory_id, status,"], ["INSERT INTO vectors"]),
    ],
    ids=["words alone", "with vectors"],
)
def test_a_write_is_eight_statements_and_with_vectors_two_more(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    embedder: object,
    first: list[str],
    vectors: list[str],
) -> None:
    """With vectors, one looks whether the statement is there already before it is embedded."""
    said: list[str] = []
    traced(monkeypatch, lambda sql: said.append(" ".join(sql.split()[:3])))
    with open_memory(tmp_path / "memory.db", embedder=embedder) as memory:
        me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
        for source in ("s1", "s2"):
            me.remember("An aisle seat.", kind="insight", source_id=source, approved=True)
        said.clear()
        me.remember("A late flight.", kind="insight", source_id="s3", approved=True)
        assert said == [
            *first,
            "BEGIN IMMEDIATE",
            "SELECT * FROM",
            "SELECT EXISTS (",
            "INSERT INTO records",
            "INSERT INTO words",
            *vectors,
            "INSERT INTO audit",
            "UPDATE owners SET",
            "COMMIT",
        ]


def test_a_look_before_a_write_neither_waits_for_a_writer_nor_sees_its_work(
    store: SqliteStore,
) -> None:
    stored(store, sample(source_id="a"))

    def look() -> frozenset[str]:
        with store.snapshot((SCOPE,), brief=True) as view:
            owner = view.owner(SCOPE)
            assert owner is not None
            return view.filed_among(owner, ["a"]) | view.filed_among(owner, ["b"])

    def work(tx: Transaction) -> frozenset[str]:
        put(tx, SCOPE, sample(source_id="b"))
        with ThreadPoolExecutor() as other:
            return other.submit(look).result(timeout=60)

    assert look() == {"a"}
    assert store.write(work) == {"a"}
    assert look() == {"a", "b"}


def test_a_record_of_a_batch_is_five_statements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    traced(monkeypatch, lambda sql: said.append(" ".join(sql.split()[:3])))
    counts = []
    with open_memory(tmp_path / "memory.db", embedder=FakeEmbedder()) as memory:
        me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
        for size in (1, 2, 9):
            texts = [f"Fact {number} of {size}." for number in range(size)]
            made = [Statement("insight", text, text) for text in texts]
            said.clear()
            me.remember_many(made, approved=True)
            counts.append(len(said))
    assert counts[2] - counts[1] == 7 * 5


def test_waiting_for_a_lock_asks_often_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    patience = Patience(2.0)
    tries = next(number for number in count() if not patience(number))
    assert tries == len(pauses)
    assert max(pauses) <= 0.002
    assert 1.5 <= sum(pauses) <= 2.5
    assert not Patience(0)(0)


def test_a_writer_alone_that_fails_leaves_nothing_and_the_next_one_writes(
    store: SqliteStore,
) -> None:
    mine = LookupError("mine")
    with pytest.raises(LookupError) as caught:
        store.write(_failing(mine))
    assert caught.value is mine
    assert state(store) is None
    assert store.write(_putting(7)) == 7
    assert [record.source.source_id for record in everything(store)] == ["7"]


def test_an_interrupt_in_a_shared_commit_acknowledges_nothing_that_is_lost(
    store: SqliteStore,
) -> None:
    outcomes = _while_one_writes(store, [_putting(0), _failing(KeyboardInterrupt()), _putting(1)])
    kept = {record.source.source_id for record in everything(store)}
    told = {str(outcome) for outcome in outcomes if isinstance(outcome, int)}
    assert kept == told | {"first"}
    assert all(isinstance(o, int | StoreError | KeyboardInterrupt) for o in outcomes)
    assert any(isinstance(outcome, KeyboardInterrupt) for outcome in outcomes)
    assert store.write(_putting(7)) == 7


def test_writers_that_still_wait_when_the_store_closes_are_refused(store: SqliteStore) -> None:
    def closing(_: Transaction) -> None:
        raise AssertionError("a closed store ran a work")

    with store._lock:
        queue = store._queue = Announcing()
        caught: list[BaseException] = []

        def call() -> None:
            try:
                store.write(closing)
            except StoreClosedError as error:
                caught.append(error)

        waiting = Thread(target=call)
        waiting.start()
        queue.joined.acquire()
        store.close()
    waiting.join()
    assert len(caught) == 1
    assert store._connection is None


def test_a_write_inside_a_write_is_refused_and_harms_nothing(store: SqliteStore) -> None:
    def work(tx: Transaction) -> None:
        put(tx, SCOPE, sample())
        stored(store, sample())

    with pytest.raises(StoreError):
        store.write(work)
    assert everything(store) == []
    assert stored(store, sample()).version == 1


@pytest.mark.promise("OPE-4")
def test_a_lock_that_another_process_keeps_is_a_busy_error_and_passes(
    store: SqliteStore, tmp_path: Path
) -> None:
    before = stored(store, sample())
    with worker("hold", tmp_path / "memory.db") as holder:
        assert holder.line() == "ready"
        with pytest.raises(StoreBusyError, match="busy_timeout"):
            stored(store, sample())
        assert state(store) == before
        holder.say()
        holder.finish()
    assert stored(store, sample()).version == before.version + 1


@pytest.mark.promise("OPE-4")
def test_a_forked_child_works_without_disturbing_its_parent(tmp_path: Path) -> None:
    with worker("fork", tmp_path / "memory.db") as forking:
        assert forking.finish() == ["well"]
    with open_memory(tmp_path / "memory.db", embedder="none", create=False) as memory:
        records = memory.scoped(**SCOPE.to_dict()).list()
        sources = [record.source.source_id for record in records]
    assert sources == ["parent:2", "child", "parent:1"]


SCAN = """
import pathlib, sys
folder, marks = pathlib.Path(sys.argv[1]), [bytes.fromhex(mark) for mark in sys.argv[2:]]
print([sum(mark in file.read_bytes() for file in folder.iterdir()) for mark in marks])
"""


def _files_with(folder: Path, *marks: bytes) -> list[int]:
    """Return in how many files of a folder each mark occurs, as another process reads them."""
    call = [sys.executable, "-I", "-c", SCAN, str(folder), *(mark.hex() for mark in marks)]
    printed = subprocess.run(call, capture_output=True, text=True, check=True).stdout
    counts: list[int] = [int(count) for count in printed.strip("[]\n").split(",")]
    return counts


TEXT, SOURCE, LABEL = b"Prefers zanzibarite hotels", b"source-quetzal", b"label-xylophone"


@pytest.mark.promise("FOR-4")
def test_compaction_leaves_no_byte_of_a_forgotten_record_in_any_file(tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db", embedder="none") as memory:
        me = memory.scoped(**SCOPE.to_dict())
        written = me.remember(
            TEXT.decode(),
            kind="preference",
            source_id=SOURCE.decode(),
            approved=True,
            metadata={"label": LABEL.decode()},
        )
        me.remember("Prefers tea.", kind="preference", source_id="tea", approved=True)
        assert all(_files_with(tmp_path, TEXT, SOURCE, LABEL, b"Prefers tea."))
        receipt = me.forget(written.memory_id, wait=True)
        assert "compacted" in dict(receipt.states)
        assert _files_with(tmp_path, TEXT, SOURCE, LABEL) == [0, 0, 0]
        assert len(me.recall("tea")) == 1
    assert _files_with(tmp_path, TEXT, SOURCE, LABEL) == [0, 0, 0]


def test_compaction_gives_the_room_of_removed_records_back(store: SqliteStore) -> None:
    owner = stored(store, *(sample(text="x" * 10_000) for _ in range(50)), sample(text="stays"))
    before = store.info().bytes
    for record in everything(store)[:-1]:
        store.write(lambda tx, gone=record: tx.remove(tx.bump(owner), gone))  # type: ignore[misc]
    store.compact()
    assert store.info().bytes < before / 2
    assert [record.text for record in everything(store)] == ["stays"]


@pytest.mark.promise("FOR-4")
def test_compaction_with_a_reader_in_the_way_says_so_and_works_afterwards(
    store: SqliteStore, tmp_path: Path
) -> None:
    owner = stored(store, sample(text=TEXT.decode()), sample(text="stays"))
    record = everything(store)[0]
    with store.snapshot() as view:
        store.write(lambda tx: tx.remove(tx.bump(owner), record))
        with pytest.raises(StoreBusyError, match="again"):
            store.compact()
        assert view.record(owner, record.memory_id, NOW) == record
    store.compact()
    assert _files_with(tmp_path, TEXT, b"stays") == [0, 1]
