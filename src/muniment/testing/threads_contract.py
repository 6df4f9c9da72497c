"""What a store does with threads and what lies in them."""

from __future__ import annotations

from dataclasses import replace

from muniment.errors import MunimentError
from muniment.ports import EntryRow, OwnerState, Store, ThreadRow, Transaction
from muniment.scope import Scope
from muniment.testing.samples import NOW, SCOPE, raises

THREAD = ThreadRow(0, "conversation", "گفتگو/1", 1, 0, b'{"state":{}}', NOW, NOW, None)
ENTRY = EntryRow(0, 0, "event", 1, "e-1", "", b"label", '{"said":"سلام"}'.encode(), NOW, NOW)


def _place(tx: Transaction, scope: Scope = SCOPE) -> tuple[OwnerState, int]:
    owner = tx.ensure_owner(scope, NOW)
    return owner, tx.put_thread(owner, THREAD)


def _filled(store: Store, count: int = 4, scope: Scope = SCOPE) -> tuple[OwnerState, int]:
    def work(tx: Transaction) -> tuple[OwnerState, int]:
        owner, seq = _place(tx, scope)
        for number in range(1, count + 1):
            folder = "even" if number % 2 == 0 else "odd"
            named = replace(ENTRY, thread=seq, number=number, name=f"e-{number}", folder=folder)
            tx.put_entry(owner, named)
        return owner, seq

    return store.write(work)


class ThreadsContract:
    """Threads come back as they were put, by name and in order, and go when they are erased."""

    def test_thread_columns_return(self, store: Store) -> None:
        """Every column of a thread comes back, and what changes of it changes."""
        owner, seq = store.write(_place)
        changed = replace(THREAD, seq=seq, version=2, content=b"{}", expires_at=NOW + 5)
        with store.snapshot() as view:
            assert view.thread(owner, THREAD.type, THREAD.name) == replace(THREAD, seq=seq)
            assert view.thread(owner, "workflow", THREAD.name) is None
            assert view.thread(owner, THREAD.type, "another") is None
        assert store.write(lambda tx: tx.put_thread(owner, changed)) == seq
        with store.snapshot() as view:
            assert view.thread_at(owner, seq) == changed
            assert view.threads(owner, None) == view.threads(owner, THREAD.type) == [changed]
            assert view.threads(owner, "workflow") == []

    def test_thread_keeps_owner(self, store: Store) -> None:
        """The same name under another owner is another thread, and stays out of sight."""
        _, seq = store.write(_place)
        other = store.write(lambda tx: tx.ensure_owner(Scope("acme", "user_43", "helper"), NOW))
        with store.snapshot() as view:
            assert view.thread(other, THREAD.type, THREAD.name) is None
            assert view.thread_at(other, seq) is None
            assert view.entries(other, seq, "event") == []

    def test_entry_columns_return(self, store: Store) -> None:
        """Every column of an entry comes back, and what changes of it changes."""
        owner, thread = _filled(store, 1)
        with store.snapshot() as view:
            (kept,) = view.entries(owner, thread, "event")
            assert view.entry(owner, thread, "event", "e-1") == kept
            assert view.entry(owner, thread, "item", "e-1") is None
        assert kept == replace(ENTRY, seq=kept.seq, thread=thread, name="e-1", folder="odd")
        changed = replace(kept, content=b"", label=b"", idle=5, expires_at=NOW + 9, ends_at=NOW + 5)
        store.write(lambda tx: tx.put_entry(owner, changed))
        store.write(lambda tx: tx.touch_entry(owner, kept.seq, NOW + 7))
        with store.snapshot() as view:
            assert view.entries_at(owner, [kept.seq, 10**6]) == [replace(changed, ends_at=NOW + 7)]

    def test_entries_keep_order(self, store: Store) -> None:
        """Entries come forwards, backwards, by folder and by place, one page at a time."""
        owner, thread = _filled(store)
        with store.snapshot() as view:
            after = view.entries_after(owner, thread, "event", 1, 2)
            before = view.entries_before(owner, thread, "event", 4, 2)
            even = view.entries(owner, thread, "event", "even")
            archived = view.archived_entries(owner, after[0].seq, 1)
            threads = view.archived_threads(owner, 0, 10), view.archived_threads(owner, thread, 10)
        assert [one.number for one in after] == [2, 3]
        assert [one.number for one in before] == [3, 2]
        assert [one.number for one in even] == [2, 4]
        assert [one.number for one in archived] == [3]
        assert [len(found) for found in threads] == [1, 0]

    def test_names_are_unique(self, store: Store) -> None:
        """A thread cannot have two entries of one sort and name."""
        owner, thread = _filled(store, 1)
        twice = replace(ENTRY, thread=thread)
        with raises(MunimentError):
            store.write(lambda tx: tx.put_entry(owner, twice))

    def test_dropped_entries_go(self, store: Store) -> None:
        """Entries that are dropped are gone, and no others."""
        owner, thread = _filled(store)
        with store.snapshot() as view:
            first = view.entries(owner, thread, "event")[0]
        assert store.write(lambda tx: tx.drop_entries(owner, [first.seq, 10**6])) == 1
        with store.snapshot() as view:
            assert [one.number for one in view.entries(owner, thread, "event")] == [2, 3, 4]

    def test_ended_rows_found(self, store: Store) -> None:
        """Threads and entries whose time is over are found, in any scope."""
        owner, thread = _filled(store, 2)

        def work(tx: Transaction) -> None:
            row = tx.entries(owner, thread, "event")[0]
            tx.touch_entry(owner, row.seq, NOW + 1)
            tx.put_thread(owner, replace(THREAD, seq=thread, expires_at=NOW + 2))

        store.write(work)
        with store.snapshot() as view:
            assert view.ended(NOW, 10) == []
            found = view.ended(NOW + 2, 10)
        assert [(one.owner.owner, one.is_thread) for one in found] == [
            (SCOPE, False),
            (SCOPE, True),
        ]

    def test_counts_tell_threads(self, store: Store) -> None:
        """The counts of an owner say how many threads and entries it has."""
        owner, _ = _filled(store, 3)
        with store.snapshot() as view:
            counts = view.counts(owner, NOW)
        assert (counts.threads, counts.entries) == (1, 3)
