"""Threads and what lies in them, over one connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from muniment.ports import EndedRow, EntryRow, OwnerState, ThreadRow
from muniment.storage.rows_view import RecordSnapshot, RecordTransaction, key_of

_KEY = ("tenant_id", "owner_no", "mac")


class ThreadSnapshot(RecordSnapshot):
    """A consistent view of threads. Every row is checked before it is used."""

    def _threads(self, name: str, values: Mapping[str, Any]) -> list[ThreadRow]:
        return [ThreadRow(**row) for row in self._whole("threads", name, values)]

    def _entries(self, name: str, values: Mapping[str, Any]) -> list[EntryRow]:
        return [EntryRow(**row) for row in self._whole("entries", name, values)]

    def _whole(self, table: str, name: str, values: Mapping[str, Any]) -> list[dict[str, Any]]:
        rows = self._checked(table, name, values)
        return [{column: row[column] for column in row if column not in _KEY} for row in rows]

    def thread(self, owner: OwnerState, sort: str, name: str) -> ThreadRow | None:
        """Return one thread of an owner, or None."""
        found = self._threads("thread_by_name", {**key_of(owner), "type": sort, "name": name})
        return found[0] if found else None

    def thread_at(self, owner: OwnerState, seq: int) -> ThreadRow | None:
        """Return one thread of an owner by its place, or None."""
        found = self._threads("thread_by_seq", {**key_of(owner), "seq": seq})
        return found[0] if found else None

    def threads(self, owner: OwnerState, sort: str | None) -> list[ThreadRow]:
        """Return the threads of an owner, of one type or all."""
        if sort is None:
            return self._threads("all_threads", key_of(owner))
        return self._threads("threads_of_type", {**key_of(owner), "type": sort})

    def entry(self, owner: OwnerState, thread: int, sort: str, name: str) -> EntryRow | None:
        """Return one entry of a thread by its name, or None."""
        found = self._entries("entry_by_name", {**_within(owner, thread, sort), "name": name})
        return found[0] if found else None

    def entries_after(
        self, owner: OwnerState, thread: int, sort: str, after: int, limit: int
    ) -> list[EntryRow]:
        """Return entries of a thread numbered above `after`, in order."""
        values = {**_within(owner, thread, sort), "after": after, "limit": limit}
        return self._entries("entries_after", values)

    def entries_before(
        self, owner: OwnerState, thread: int, sort: str, before: int, limit: int
    ) -> list[EntryRow]:
        """Return entries of a thread numbered below `before`, the last first."""
        values = {**_within(owner, thread, sort), "before": before, "limit": limit}
        return self._entries("entries_before", values)

    def entries(
        self, owner: OwnerState, thread: int, sort: str, folder: str | None = None
    ) -> list[EntryRow]:
        """Return all entries of one sort of a thread, of one folder or all."""
        values = _within(owner, thread, sort)
        if folder is None:
            return self._entries("entries_of_sort", values)
        return self._entries("entries_in_folder", {**values, "folder": folder})

    def entries_at(self, owner: OwnerState, seqs: Sequence[int]) -> list[EntryRow]:
        """Return entries by their places, in the order given."""
        key = key_of(owner)
        return [one for seq in seqs for one in self._entries("entry_by_seq", {**key, "seq": seq})]

    def summaries(self, owner: OwnerState) -> list[EntryRow]:
        """Return every summary of every thread of an owner."""
        return self._entries("all_summaries", key_of(owner))

    def ended(self, now: int, limit: int) -> list[EndedRow]:
        """Return threads and entries of any owner whose time is over."""
        rows = self._all("ended_rows", {"now": now, "limit": limit})
        states = self.owners() if rows else []
        owners = {(state.owner.tenant_id, state.owner_no): state for state in states}
        return [
            EndedRow(owners[tenant, number], seq, bool(is_thread))
            for tenant, number, seq, _, is_thread in rows
        ]

    def archived_threads(self, owner: OwnerState, after: int, limit: int) -> list[ThreadRow]:
        """Return threads with a seq above `after`, oldest first."""
        return self._threads("archived_threads", {**key_of(owner), "after": after, "limit": limit})

    def archived_entries(self, owner: OwnerState, after: int, limit: int) -> list[EntryRow]:
        """Return entries with a seq above `after`, oldest first."""
        return self._entries("archived_entries", {**key_of(owner), "after": after, "limit": limit})


def _within(owner: OwnerState, thread: int, sort: str) -> dict[str, Any]:
    return {**key_of(owner), "thread": thread, "sort": sort}


class ThreadTransaction(ThreadSnapshot, RecordTransaction):
    """A view that can also write threads."""

    def put_thread(self, owner: OwnerState, row: ThreadRow) -> int:
        """Store a thread; return its seq."""
        return self._put(owner, "thread", row)

    def put_entry(self, owner: OwnerState, row: EntryRow) -> int:
        """Store an entry; return its seq."""
        return self._put(owner, "entry", row)

    def _put(self, owner: OwnerState, what: str, row: ThreadRow | EntryRow) -> int:
        values = {**key_of(owner), **asdict(row)}
        if row.seq:
            self._all(f"update_{what}", values)
            return row.seq
        seq = self._take_seq(values)
        self._all(f"insert_{what}", {**values, "seq": seq})
        return seq

    def touch_entry(self, owner: OwnerState, seq: int, ends_at: int) -> None:
        """Let an entry live until another instant."""
        self._all("touch_entry", {**key_of(owner), "seq": seq, "ends_at": ends_at})

    def drop_entries(self, owner: OwnerState, seqs: Sequence[int]) -> int:
        """Remove entries; return how many there were."""
        key = key_of(owner)
        return sum(len(self._all("delete_entry", {**key, "seq": seq})) for seq in seqs)

    def note_threads(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int] | None) -> None:
        """Make threads, with all that lies in them, items of a deletion."""
        values = {**key_of(owner), "deletion_id": deletion_id}
        if seqs is None:
            self._all("note_every_thread", values)
            self._all("note_every_entry", values)
        for seq in seqs or ():
            self._all("note_thread", {**values, "seq": seq})
            self._all("note_thread_entries", {**values, "seq": seq})
