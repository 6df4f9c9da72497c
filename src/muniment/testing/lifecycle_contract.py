"""The audit chain, many threads, closing and opening again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace as changed
from functools import partial
from threading import Barrier, Thread
from typing import ClassVar

from muniment.clock import from_instant
from muniment.errors import MunimentError, StoreClosedError
from muniment.ports import OwnerState, Store, Transaction, Usage
from muniment.records import AuditEntry, Status
from muniment.scope import Scope
from muniment.testing.samples import (
    CHAIN_START,
    NOW,
    SCOPE,
    chain_holds,
    everything,
    link,
    put,
    raises,
    removed,
    replace,
    sample,
    state,
    stored,
)

THREADS = 8
WRITES = 25


class LifecycleContract:
    """The chain can be checked, no thread loses a write, and a database outlives its store."""

    durable: ClassVar[bool] = True

    def test_audit_columns_return(self, store: Store) -> None:
        """An audit entry comes back with every column as it was given."""
        owner = stored(store)
        store.write(
            lambda tx: tx.append_audit(
                owner, at=NOW + 1, actor="عامل", action="used", memory_ids=["b", "a"], reason="why"
            )
        )
        store.write(
            lambda tx: tx.append_audit(owner, at=NOW, actor="a", action="scan", memory_ids=[])
        )
        first, second = _audit(store)
        assert first == AuditEntry(
            1, from_instant(NOW + 1), "عامل", "used", ("b", "a"), "why", first.digest
        )
        assert (second.number, second.memory_ids, second.reason) == (2, (), None)

    def test_audit_keeps_order(self, store: Store) -> None:
        """Entries are numbered from 1 without a hole and come in pages, oldest first."""
        new = [sample() for _ in range(5)]
        owner = stored(store, *new)
        with store.snapshot() as view:
            pages = [view.audit(owner, after, 2) for after in (0, 2, 4, 5)]
        assert [[entry.number for entry in page] for page in pages] == [[1, 2], [3, 4], [5], []]
        ids = [entry.memory_ids[0] for page in pages for entry in page]
        assert ids == [record.memory_id for record in new]

    def test_merge_links_histories(self, store: Store) -> None:
        """A merged record is replaced by the oldest of the other's versions, until it is undone."""
        dropped, old, new = sample(), sample(), sample()
        stored(store, dropped, old)
        replace(store, old.memory_id, new._replace(supersedes=old.memory_id))
        before = everything(store)
        names = (dropped.memory_id, old.memory_id)
        owner = store.write(lambda tx: _merge(tx, *names, new.memory_id))
        first, second, third = everything(store)
        assert (first.status, first.superseded_by) == (Status.SUPERSEDED, old.memory_id)
        assert (second.supersedes, third.supersedes) == (dropped.memory_id, old.memory_id)
        with store.snapshot() as view:
            assert view.index_changes(owner, owner.version - 1, None).gone == [first.seq]
        store.write(lambda tx: tx.unmerge(tx.bump(owner), *names))
        assert everything(store) == before

    def test_use_is_counted(self, store: Store) -> None:
        """Counts add up, the last time stays, and neither changes the version."""
        kept, gone = sample(), sample()
        owner = stored(store, kept, gone)
        first = Usage(3, 2, NOW + 5, helpful=1)
        for seq, used in (
            (1, first),
            (1, Usage(4, 3, NOW, 1, 1, 0, 2)),
            (2, Usage(1)),
            (9, Usage(1, 1, NOW)),
        ):
            store.write(partial(_use, owner, seq, used))
        with store.snapshot() as view:
            assert view.usage(owner) == {1: Usage(7, 5, NOW + 5, 1, 1, 1, 2), 2: Usage(1)}
            assert view.owner(SCOPE) == owner
        removed(store, gone.memory_id)
        with store.snapshot() as view:
            assert set(view.usage(owner)) == {1}

    def test_chain_is_recomputable(self, store: Store) -> None:
        """Whoever has the key can compute every link from the entries alone."""
        stored(store, sample(), sample())
        stored(store, sample())
        assert chain_holds(store, _audit(store))

    def test_changes_break_chain(self, store: Store) -> None:
        """A change of any column of any entry is seen."""
        stored(store, sample(), sample(), sample())
        entries = _audit(store)
        forged = [
            {"at": from_instant(NOW + 1)},
            {"actor": "operator"},
            {"action": "import"},
            {"memory_ids": ()},
            {"reason": "forged"},
            {"number": 7},
            {"digest": "00" * 16},
        ]
        for place in range(3):
            for change in forged:
                entry = changed(entries[place], **change)  # type: ignore[arg-type]
                assert not chain_holds(store, [*entries[:place], entry, *entries[place + 1 :]])

    def test_drops_break_chain(self, store: Store) -> None:
        """A dropped, repeated or moved entry is seen."""
        stored(store, sample(), sample(), sample())
        one, two, three = _audit(store)
        for forged in ([two, three], [one, three], [two, one, three], [one, two, two, three]):
            assert not chain_holds(store, forged)

    def test_renumbering_breaks_chain(self, store: Store) -> None:
        """Giving the remaining entries new numbers does not hide a dropped one."""
        stored(store, sample(), sample(), sample())
        one, _, three = _audit(store)
        assert not chain_holds(store, [one, changed(three, number=2)])

    def test_links_cover_history(self, store: Store) -> None:
        """An entry does not fit after another past, not even one that was linked with the key."""
        owner = stored(store, sample(), sample())
        one, two = _audit(store)
        other = changed(one, action="import")
        other = changed(other, digest=link(store, owner, CHAIN_START, other).hex())
        assert chain_holds(store, [other])
        assert not chain_holds(store, [other, two])

    def test_chains_stay_apart(self, store: Store) -> None:
        """Each scope has a chain from 1, and entries do not fit another scope's chain."""
        other = Scope("acme", "user_43", "helper")
        for scope in (SCOPE, other):
            stored(store, sample(memory_id=f"mem_{scope.user_id}"), scope=scope)
        assert _audit(store)[0].number == _audit(store, other)[0].number == 1
        assert chain_holds(store, _audit(store, other), other)
        assert not chain_holds(store, _audit(store), other)

    def test_failed_entries_vanish(self, store: Store) -> None:
        """An entry of a work that failed leaves no hole in the numbers or the chain."""
        stored(store, sample())

        def work(tx: Transaction) -> None:
            put(tx, SCOPE, sample())
            raise LookupError

        with raises(LookupError):
            store.write(work)
        stored(store, sample())
        assert [entry.number for entry in _audit(store)] == [1, 2]
        assert chain_holds(store, _audit(store))

    def test_threads_lose_nothing(self, store: Store) -> None:
        """Many threads that write at once lose nothing and repeat nothing."""

        def act(thread: int) -> None:
            for number in range(WRITES):
                stored(store, sample(source_id=f"{thread}:{number}"))

        _race(act)
        records = everything(store)
        expected = {f"{thread}:{n}" for thread in range(THREADS) for n in range(WRITES)}
        owner = state(store)
        assert {record.source.source_id for record in records} == expected
        assert [record.seq for record in records] == list(range(1, THREADS * WRITES + 1))
        assert owner is not None
        assert owner.version == THREADS * WRITES
        assert chain_holds(store, _audit(store))

    def test_one_racer_wins(self, store: Store) -> None:
        """Threads that ask before they write under one source_id make one record."""
        results: list[str] = []

        def work(tx: Transaction) -> str:
            owner = tx.ensure_owner(SCOPE, NOW)
            filed = tx.filed(owner, "s", NOW)
            if filed is not None:
                return filed.memory_id
            new = sample(source_id="s")
            put(tx, SCOPE, new)
            return new.memory_id

        _race(lambda _: results.append(store.write(work)))
        assert results == [everything(store)[0].memory_id] * THREADS
        assert len(everything(store)) == 1

    def test_failures_stay_alone(self, store: Store) -> None:
        """A thread that always fails hurts no other one and gets its own error."""
        errors: list[MunimentError] = []
        stored(store, sample(source_id="taken"))

        def act(thread: int) -> None:
            for number in range(WRITES):
                source = f"{thread}:{number}" if thread else "taken"
                try:
                    stored(store, sample(source_id=source))
                except MunimentError as error:
                    errors.append(error)

        _race(act)
        assert len(errors) == WRITES
        assert len(everything(store)) == 1 + (THREADS - 1) * WRITES

    def test_closed_stores_refuse(self, store: Store) -> None:
        """After closing every door says that the store is closed."""
        stored(store, sample())
        store.close()
        doors: list[Callable[[], object]] = [
            lambda: state(store),
            lambda: stored(store),
            store.info,
            store.compact,
        ]
        for door in doors:
            with raises(StoreClosedError):
                door()

    def test_closing_twice_works(self, store: Store) -> None:
        """Closing is allowed at any time and any number of times."""
        store.close()
        store.close()

    def test_reopening_keeps_everything(self, open_store: Callable[[], Store]) -> None:
        """What was acknowledged is there when the store is opened again."""
        store = open_store()
        new = [sample() for _ in range(3)]
        stored(store, *new)
        removed(store, new[1].memory_id)
        before, entries = everything(store), _audit(store)
        store.close()
        again = open_store()
        assert everything(again) == (before if self.durable else [])
        if self.durable:
            assert again.keys == store.keys
            assert _audit(again) == entries
            assert chain_holds(again, entries)

    def test_openers_share_rows(self, open_store: Callable[[], Store]) -> None:
        """Two stores on one durable database see each other's commits at once."""
        one, two = open_store(), open_store()
        for number in range(1, 6):
            stored(one, sample())
            assert len(everything(two)) == (2 * number - 1 if self.durable else number - 1)
            stored(two, sample())
            assert len(everything(one)) == (2 * number if self.durable else number)

    def test_compaction_keeps_records(self, store: Store) -> None:
        """Compaction changes nothing that can be read."""
        new = [sample(text=str(number) * 5000) for number in range(20)]
        stored(store, *new)
        for record in new[::2]:
            removed(store, record.memory_id)
        before, owner = everything(store), state(store)
        store.compact()
        assert everything(store) == before
        assert state(store) == owner
        assert chain_holds(store, _audit(store))

    def test_info_tells_facts(self, store: Store) -> None:
        """A store names its engine and schema."""
        info = store.info()
        assert info.engine
        assert info.schema_version >= 1
        assert info.bytes >= 0


def _audit(store: Store, scope: Scope = SCOPE) -> Sequence[AuditEntry]:
    with store.snapshot() as view:
        owner: OwnerState | None = view.owner(scope)
        assert owner is not None
        return view.audit(owner, 0, 10_000)


def _race(act: Callable[[int], object]) -> None:
    """Run something in many threads that start together."""
    start = Barrier(THREADS)

    def run(thread: int) -> None:
        start.wait()
        act(thread)

    threads = [Thread(target=run, args=(thread,)) for thread in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _merge(tx: Transaction, dropped: str, root: str, kept: str) -> OwnerState:
    owner = tx.owner(SCOPE)
    assert owner is not None
    owner = tx.bump(owner)
    tx.merge(owner, dropped, root, kept, NOW)
    return owner


def _use(owner: OwnerState, seq: int, used: Usage, tx: Transaction) -> None:
    tx.add_usage(owner, seq, used)
