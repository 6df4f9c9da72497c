"""What threads need of a store: rows of threads, and of all that lies in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from muniment.ports.rows import OwnerState


@dataclass(frozen=True, slots=True)
class ThreadRow:
    """A thread as the database keeps it. Instants are microseconds since 1970, UTC.

    Attributes:
        seq: Its place in the owner's order of writing; 0 before it is stored.
        type: What sort of thread.
        name: The caller's id, unique within owner and type.
        version: Grows with each change.
        last_number: The number of its last event.
        content: Its state, as JSON.
        created_at: When it was made.
        changed_at: When it was changed last.
        expires_at: When to stop keeping it with all that lies in it, or None.
    """

    seq: int
    type: str
    name: str
    version: int
    last_number: int
    content: bytes
    created_at: int
    changed_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True)
class EntryRow:
    """Something that lies in a thread: an event, a checkpoint, an item, a summary.

    Attributes:
        seq: Its place in the owner's order of writing; 0 before it is stored.
        thread: The thread's place.
        sort: What it is.
        number: Its place among its sort in the thread, from 1; 0 where order means nothing.
        name: What identifies it within the thread and sort.
        folder: What it is filed under with others.
        label: What is said about it.
        content: What it holds.
        created_at: When it was made.
        changed_at: When it was changed last.
        idle: How long it lives after it was last used, in microseconds, or None.
        expires_at: When to stop keeping it whatever its use, or None.
        ends_at: When its time is over as things are, or None.
    """

    seq: int
    thread: int
    sort: str
    number: int
    name: str
    folder: str
    label: bytes
    content: bytes
    created_at: int
    changed_at: int
    idle: int | None = None
    expires_at: int | None = None
    ends_at: int | None = None


class EndedRow(NamedTuple):
    """A thread or entry whose time is over."""

    owner: OwnerState
    seq: int
    is_thread: bool


class ThreadView(Protocol):
    """The part of a snapshot that threads read."""

    def thread(self, owner: OwnerState, sort: str, name: str) -> ThreadRow | None:
        """Return one thread of an owner, or None."""
        ...

    def thread_at(self, owner: OwnerState, seq: int) -> ThreadRow | None:
        """Return one thread of an owner by its place, or None."""
        ...

    def threads(self, owner: OwnerState, sort: str | None) -> list[ThreadRow]:
        """Return the threads of an owner, of one type or all, in order of writing."""
        ...

    def entry(self, owner: OwnerState, thread: int, sort: str, name: str) -> EntryRow | None:
        """Return one entry of a thread by its name, or None."""
        ...

    def entries_after(
        self, owner: OwnerState, thread: int, sort: str, after: int, limit: int
    ) -> list[EntryRow]:
        """Return up to `limit` entries of a thread numbered above `after`, in order."""
        ...

    def entries_before(
        self, owner: OwnerState, thread: int, sort: str, before: int, limit: int
    ) -> list[EntryRow]:
        """Return up to `limit` entries of a thread numbered below `before`, the last first."""
        ...

    def entries(
        self, owner: OwnerState, thread: int, sort: str, folder: str | None = None
    ) -> list[EntryRow]:
        """Return all entries of one sort of a thread, of one folder or all, in order of writing."""
        ...

    def entries_at(self, owner: OwnerState, seqs: Sequence[int]) -> list[EntryRow]:
        """Return entries by their places, in the order given; missing ones are left out."""
        ...

    def summaries(self, owner: OwnerState) -> list[EntryRow]:
        """Return every summary of every thread of an owner, in order of writing."""
        ...

    def ended(self, now: int, limit: int) -> list[EndedRow]:
        """Return up to `limit` threads and entries of any owner whose time is over."""
        ...

    def archived_threads(self, owner: OwnerState, after: int, limit: int) -> list[ThreadRow]:
        """Return up to `limit` threads with a seq above `after`, oldest first."""
        ...

    def archived_entries(self, owner: OwnerState, after: int, limit: int) -> list[EntryRow]:
        """Return up to `limit` entries with a seq above `after`, oldest first."""
        ...


class ThreadWriter(Protocol):
    """The part of a transaction that threads write."""

    def put_thread(self, owner: OwnerState, row: ThreadRow) -> int:
        """Store a new thread, or what changed of one that has a seq; return its seq."""
        ...

    def put_entry(self, owner: OwnerState, row: EntryRow) -> int:
        """Store a new entry, or what changed of one that has a seq; return its seq."""
        ...

    def touch_entry(self, owner: OwnerState, seq: int, ends_at: int) -> None:
        """Let an entry live until another instant."""
        ...

    def drop_entries(self, owner: OwnerState, seqs: Sequence[int]) -> int:
        """Remove entries; return how many there were."""
        ...

    def note_threads(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int] | None) -> None:
        """Make threads, with all that lies in them, items of a deletion; None for every one."""
        ...
