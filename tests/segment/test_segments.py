"""The cache of segments: fresh at every read, bounded, built once, right across processes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Thread
from typing import cast

import numpy as np
import pytest

from muniment.memory import open as open_memory
from muniment.ports import EmbeddingModel, OwnerState, Snapshot, Store
from muniment.ports.blocks import Room
from muniment.ports.rows import Block
from muniment.scope import Scope
from muniment.segment.rows import IndexChanges
from muniment.segment.segment import Segment
from muniment.services.segments import Segments
from muniment.storage import open_store
from muniment.testing.samples import (
    NOW,
    SCOPE,
    everything,
    put,
    removed,
    replace,
    sample,
    slot_of,
    state,
    stored,
)
from tests.storage import workers

MODEL = EmbeddingModel("model", "1", 2)
ONE, OTHER = (np.array(v, dtype="<f4").tobytes() for v in ([1, 0], [0, 1]))
THREADS = 8


class Counted:
    """A snapshot that notes from which versions its changes were asked for."""

    def __init__(self, view: Snapshot, asked: list[int]) -> None:
        self.view = view
        self.asked = asked

    def index_changes(self, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
        self.asked.append(since)
        return self.view.index_changes(owner, since, slot)

    def blocks(self, owner: OwnerState, slot: int | None, room: Room) -> Iterator[Block]:
        return self.view.blocks(owner, slot, room)


class Reader:
    """Reads a store's segments through one cache, as recall does."""

    def __init__(self, store: Store, capacity: int = 2**20) -> None:
        self.store = store
        self.segments = Segments(capacity)
        self.asked: list[int] = []

    def read(self, scope: Scope = SCOPE, slot: int | None = None) -> Segment:
        with self.store.snapshot() as view:
            return self.read_in(view, scope, slot)

    def read_in(self, view: Snapshot, scope: Scope = SCOPE, slot: int | None = None) -> Segment:
        owner = view.owner(scope)
        assert owner is not None
        counted = cast("Snapshot", Counted(view, self.asked))
        return self.segments.current(counted, owner, slot, 0 if slot is None else 2)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "memory.db")
    yield opened
    opened.close()


def _seqs(segment: Segment) -> list[int]:
    return sorted(int(s) for part, here in segment.live(NOW) for s in part.seqs[here])


def _person(number: int) -> Scope:
    return Scope("acme", f"user_{number:03}", "helper")


def test_a_segment_is_read_once_and_then_only_when_the_scope_moved(store: Store) -> None:
    first = stored(store, sample(), sample())
    reader = Reader(store)
    assert _seqs(reader.read()) == [1, 2]
    assert reader.read() is reader.read()
    stored(store, sample())
    assert _seqs(reader.read()) == [1, 2, 3]
    assert reader.asked == [0, first.version]


def test_a_segment_follows_supersession_removal_and_late_vectors(store: Store) -> None:
    slot = slot_of(store, MODEL)
    new = [sample(), sample(), sample()]
    stored(store, *new)
    reader = Reader(store)
    assert not reader.read(slot=slot).base.embedded.any()
    replace(store, new[0].memory_id, sample())
    assert _seqs(reader.read(slot=slot)) == [2, 3, 4]
    removed(store, new[1].memory_id)
    assert _seqs(reader.read(slot=slot)) == [3, 4]
    owner = store.write(lambda tx: tx.bump(tx.ensure_owner(SCOPE, NOW)))
    store.write(lambda tx: tx.set_vector(owner, 3, slot, ONE))
    grown = reader.read(slot=slot)
    embedded = [int(s) for part, here in grown.live(NOW) for s in part.seqs[here & part.embedded]]
    assert (_seqs(grown), embedded) == ([3, 4], [3])
    assert reader.asked == [0, 1, 2, 3]


def test_two_models_and_none_never_share_a_segment(store: Store) -> None:
    slot, other = slot_of(store, MODEL), slot_of(store, EmbeddingModel("model", "2", 2))
    stored(store, sample(vector=(slot, ONE)))
    store.write(lambda tx: tx.set_vector(tx.ensure_owner(SCOPE, NOW), 1, other, OTHER))
    reader = Reader(store)
    vectors = [reader.read(slot=chosen).base.vectors.tolist() for chosen in (slot, other, None)]
    assert vectors == [[[1, 0]], [[0, 1]], [[]]]
    assert reader.asked == [0, 0, 0]


def test_an_older_snapshot_gets_its_own_version_and_keeps_the_newer_one(store: Store) -> None:
    stored(store, sample())
    reader = Reader(store)
    with store.snapshot() as old:
        stored(store, sample())
        newer = reader.read()
        assert _seqs(reader.read_in(old)) == [1]
    assert _seqs(newer) == [1, 2]
    assert reader.read() is newer


def test_another_incarnation_of_a_scope_gets_nothing_of_the_former(store: Store) -> None:
    owner = stored(store, sample(), sample())
    reader = Reader(store)
    reader.read()
    reborn = OwnerState(owner.owner, owner.owner_no, owner.version, b"another incarnation")
    with store.snapshot() as view:
        counted = cast("Snapshot", Counted(view, reader.asked))
        reader.segments.current(counted, reborn, None, 0)
    assert reader.asked == [0, 0]


def test_scopes_do_not_see_each_others_segments(store: Store) -> None:
    reader = Reader(store)
    for number in range(1, 4):
        stored(store, *(sample() for _ in range(number)), scope=_person(number))
    assert [len(reader.read(_person(number))) for number in range(1, 4)] == [1, 2, 3]
    stored(store, sample(), scope=_person(1))
    assert [len(reader.read(_person(number))) for number in range(1, 4)] == [2, 2, 3]


def _people(store: Store, count: int) -> int:
    """Give each of several scopes one record; return the bytes of one's segment."""
    for number in range(count):
        stored(store, sample(), scope=_person(number))
    return Reader(store).read(_person(0)).nbytes


def test_the_cache_keeps_what_was_used_last_within_its_bytes(store: Store) -> None:
    size = _people(store, 6)
    reader = Reader(store, capacity=3 * size)
    for number in (0, 1, 2, 0, 3):
        reader.read(_person(number))
        assert reader.segments.nbytes <= 3 * size
    assert (len(reader.segments), reader.segments.nbytes) == (3, 3 * size)
    reader.asked.clear()
    for number in (0, 2, 3):
        reader.read(_person(number))
    assert reader.asked == []
    reader.read(_person(1))
    assert reader.asked == [0]


def test_a_segment_larger_than_the_cache_is_used_and_not_kept(store: Store) -> None:
    size = _people(store, 2)
    reader = Reader(store, capacity=size)
    reader.read(_person(1))
    stored(store, *(sample(words=b"\x01\x00\x00\x00\x01" * 200) for _ in range(9)))
    for _ in range(2):
        assert len(reader.read()) == 9
    assert (len(reader.segments), reader.segments.nbytes) == (1, size)
    reader.asked.clear()
    reader.read(_person(1))
    assert reader.asked == []


def test_a_segment_that_grows_over_the_cache_is_dropped(store: Store) -> None:
    stored(store, sample())
    reader = Reader(store, capacity=2000)
    reader.read()
    assert len(reader.segments) == 1
    stored(store, *(sample() for _ in range(200)))
    assert len(reader.read()) == 201
    assert (len(reader.segments), reader.segments.nbytes) == (0, 0)


def test_a_failed_build_is_tried_again(store: Store) -> None:
    owner = stored(store, sample())
    reader = Reader(store)

    class Broken:
        def index_changes(self, *_: object) -> IndexChanges:
            raise LookupError

        def blocks(self, *_: object) -> Iterator[Block]:
            return iter(())

    with pytest.raises(LookupError):
        reader.segments.current(cast("Snapshot", Broken()), owner, None, 0)
    assert len(reader.read()) == 1


def test_threads_that_need_one_segment_build_it_once(store: Store) -> None:
    stored(store, *(sample() for _ in range(50)))
    reader = Reader(store)
    for version in (0, 1, 2):
        start, got = Barrier(THREADS), list[Segment]()

        def read(start: Barrier = start, got: list[Segment] = got) -> None:
            start.wait()
            got.append(reader.read())

        threads = [Thread(target=read) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(segment) for segment in got}) == 1
        assert reader.asked == list(range(version + 1))
        stored(store, sample())


def test_readers_and_writers_at_once_always_see_a_whole_version(store: Store) -> None:
    stored(store, sample())
    reader, wrong = Reader(store), list[str]()

    def read() -> None:
        for _ in range(60):
            with store.snapshot() as view:
                segment = reader.read_in(view)
                owner = view.owner(SCOPE)
                assert owner is not None
                if (segment.version, len(segment)) != (owner.version, owner.version):
                    wrong.append(f"{segment.version} {len(segment)} {owner.version}")

    def write() -> None:
        for _ in range(40):
            store.write(lambda tx: put(tx, SCOPE, sample()))

    threads = [Thread(target=act) for act in (read, write, read, read)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(reader.read()) == 41


@pytest.mark.promise("OPE-4")
def test_a_cached_segment_follows_what_another_process_writes(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with ExitStack() as stack:
        other = stack.enter_context(workers.worker("serve", path))
        assert other.line() == "ready"
        memory = stack.enter_context(open_memory(path, embedder="none"))
        me = memory.scoped(**workers.SCOPE.to_dict())
        other.say("one Prefers green tea.")
        first = other.line()
        reader = Reader(memory._store)
        assert [hit.memory_id for hit in me.recall("tea").trace.hits] == [first]
        assert len(reader.read(workers.SCOPE)) == 1
        other.say("two Prefers black tea.")
        second = other.line()
        assert {hit.memory_id for hit in me.recall("tea").trace.hits} == {first, second}
        assert len(reader.read(workers.SCOPE)) == 2
        other.say(f"forget {first}")
        assert other.line() == "forgotten"
        assert [hit.memory_id for hit in me.recall("tea").trace.hits] == [second]
        assert _seqs(reader.read(workers.SCOPE)) == [2]
        assert reader.asked == [0, 1, 2]
        other.finish()


def test_the_whole_of_a_long_history_is_the_sum_of_its_deltas(store: Store) -> None:
    reader = Reader(store)
    for number in range(120):
        stored(store, sample())
        records = everything(store)
        if number % 3 == 0:
            removed(store, records[number % len(records)].memory_id)
        elif number % 7 == 0:
            active = [record for record in records if record.superseded_by is None]
            replace(store, active[0].memory_id, sample())
        reader.read()
    grown = reader.read()
    assert _seqs(grown) == _seqs(Reader(store).read())
    owner = state(store)
    assert owner is not None
    assert grown.version == owner.version
    assert 0 not in reader.asked[1:]
