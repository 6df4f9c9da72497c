"""Threads through a seal: names and folders as keyed digests, all that is said as ciphertext."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from muniment.ports import EndedRow, EntryRow, OwnerState, ThreadRow, Transaction
from muniment.records import canonical_json
from muniment.storage.sealed_view import SealedSnapshot, through
from muniment.storage.sealing import Sealer


class SealedThreadView(SealedSnapshot):
    """The `Snapshot` port over another one, opened, threads included."""

    def _threads(self, owner: OwnerState, rows: Iterable[ThreadRow]) -> list[ThreadRow]:
        sealer = self._sealer(owner)
        return self._opened(rows, lambda row: _opened_thread(row, sealer))

    def _entries(self, owner: OwnerState, rows: Iterable[EntryRow]) -> list[EntryRow]:
        sealer = self._sealer(owner)
        return self._opened(rows, lambda row: _opened_entry(row, sealer))

    def thread(self, owner: OwnerState, sort: str, name: str) -> ThreadRow | None:
        found = self._inner.thread(owner, sort, self._mac(owner, f"thread:{sort}", name))
        return next(iter(self._threads(owner, () if found is None else (found,))), None)

    def thread_at(self, owner: OwnerState, seq: int) -> ThreadRow | None:
        found = self._inner.thread_at(owner, seq)
        return next(iter(self._threads(owner, () if found is None else (found,))), None)

    def threads(self, owner: OwnerState, sort: str | None) -> list[ThreadRow]:
        return self._threads(owner, self._inner.threads(owner, sort))

    def entry(self, owner: OwnerState, thread: int, sort: str, name: str) -> EntryRow | None:
        found = self._inner.entry(owner, thread, sort, self._mac(owner, f"entry:{sort}", name))
        return next(iter(self._entries(owner, () if found is None else (found,))), None)

    def entries_after(
        self, owner: OwnerState, thread: int, sort: str, after: int, limit: int
    ) -> list[EntryRow]:
        return self._entries(owner, self._inner.entries_after(owner, thread, sort, after, limit))

    def entries_before(
        self, owner: OwnerState, thread: int, sort: str, before: int, limit: int
    ) -> list[EntryRow]:
        return self._entries(owner, self._inner.entries_before(owner, thread, sort, before, limit))

    def entries(
        self, owner: OwnerState, thread: int, sort: str, folder: str | None = None
    ) -> list[EntryRow]:
        masked = None if folder is None else self._mac(owner, f"folder:{sort}", folder)
        return self._entries(owner, self._inner.entries(owner, thread, sort, masked))

    def entries_at(self, owner: OwnerState, seqs: Sequence[int]) -> list[EntryRow]:
        return self._entries(owner, self._inner.entries_at(owner, seqs))

    def summaries(self, owner: OwnerState) -> list[EntryRow]:
        return self._entries(owner, self._inner.summaries(owner))

    def ended(self, now: int, limit: int) -> list[EndedRow]:
        rows = self._inner.ended(now, limit)
        return [row._replace(owner=self._real(row.owner) or row.owner) for row in rows]

    def archived_threads(self, owner: OwnerState, after: int, limit: int) -> list[ThreadRow]:
        return self._threads(owner, self._inner.archived_threads(owner, after, limit))

    def archived_entries(self, owner: OwnerState, after: int, limit: int) -> list[EntryRow]:
        return self._entries(owner, self._inner.archived_entries(owner, after, limit))


class SealedThreadWriter(SealedThreadView):
    """The part of the `Transaction` port that writes threads, sealed."""

    _inner: Transaction

    drop_entries = through("drop_entries")
    note_threads = through("note_threads")
    touch_entry = through("touch_entry")

    def put_thread(self, owner: OwnerState, row: ThreadRow) -> int:
        seq = row.seq or self._inner.next_seq(owner)
        said = canonical_json(row.name).encode() + b"\n" + row.content
        name = self._mac(owner, f"thread:{row.type}", row.name)
        content = self._sealer(owner).seal("thread", seq, said)
        return self._inner.put_thread(owner, replace(row, name=name, content=content))

    def put_entry(self, owner: OwnerState, row: EntryRow) -> int:
        seq, sealer = row.seq or self._inner.next_seq(owner), self._sealer(owner)
        said = canonical_json([row.name, row.folder]).encode() + b"\n" + row.label
        sealed = replace(
            row,
            name=self._mac(owner, f"entry:{row.sort}", row.name),
            folder=self._mac(owner, f"folder:{row.sort}", row.folder),
            label=sealer.seal("entry:label", seq, said),
            content=sealer.seal("entry:content", seq, row.content),
        )
        return self._inner.put_entry(owner, sealed)


def _opened_thread(row: ThreadRow, sealer: Sealer) -> ThreadRow:
    name, _, content = sealer.open("thread", row.seq, row.content).partition(b"\n")
    return replace(row, name=json.loads(name), content=content)


def _opened_entry(row: EntryRow, sealer: Sealer) -> EntryRow:
    names, _, label = sealer.open("entry:label", row.seq, row.label).partition(b"\n")
    name, folder = json.loads(names)
    content = sealer.open("entry:content", row.seq, row.content)
    return replace(row, name=name, folder=folder, label=label, content=content)
