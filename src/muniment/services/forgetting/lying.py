"""What of threads a deletion takes, and what its tombstones know it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.services.fence import thread_digest

if TYPE_CHECKING:
    from muniment.keys import Keys
    from muniment.ports import EntryRow, OwnerState, Snapshot, ThreadRow, Transaction
    from muniment.scope import Owner

_PAGE = 500
_SURFACES = {
    "event": "events",
    "checkpoint": "checkpoints",
    "write": "checkpoints",
    "step": "checkpoints",
    "effect": "checkpoints",
    "summary": "summaries",
    "item": "items",
}


@dataclass(frozen=True, slots=True)
class Lying:
    """Threads that go with all that lies in them, and single entries of others.

    Attributes:
        threads: The threads.
        entries: The entries, those of the threads included.
        reusable: Whether the threads' ids may be used again, so that no tombstone is left of them.
    """

    threads: tuple[ThreadRow, ...] = ()
    entries: tuple[EntryRow, ...] = ()
    reusable: bool = False

    def __bool__(self) -> bool:
        """Return whether there is any."""
        return bool(self.threads or self.entries)

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of the events."""
        return tuple(one.name for one in self.entries if one.sort == "event")

    @property
    def numbers(self) -> Mapping[int, frozenset[int]]:
        """The numbers of the events by their thread's place."""
        found: dict[int, set[int]] = {}
        for one in self.entries:
            if one.sort == "event":
                found.setdefault(one.thread, set()).add(one.number)
        return {thread: frozenset(numbers) for thread, numbers in found.items()}

    @property
    def counts(self) -> Mapping[str, int]:
        """How many there are by surface."""
        found = Counter(_SURFACES[one.sort] for one in self.entries)
        return {**found, "threads": len(self.threads)}

    def graves(self, keys: Keys, owner: Owner) -> list[tuple[str, bytes]]:
        """Return the names and marks of the threads' tombstones."""
        marks = (thread_digest(keys, owner, one.type, one.name) for one in self.threads)
        return [(f"thr_{mark.hex()}", mark) for mark in marks]

    def note(
        self, tx: Transaction, owner: OwnerState, deletion_id: str, *, everything: bool
    ) -> None:
        """Make them items of a deletion."""
        if everything:
            tx.note_threads(owner, deletion_id, None)
        else:
            tx.note_threads(owner, deletion_id, [one.seq for one in self.threads])
            tx.note_candidates(owner, deletion_id, [one.seq for one in self.entries])


def whole(view: Snapshot, state: OwnerState) -> Lying:
    """Return everything that an owner has of threads, as far as it can be read."""
    return Lying(tuple(view.threads(state, None)), tuple(_every_entry(view, state)))


def _every_entry(view: Snapshot, state: OwnerState) -> Iterator[EntryRow]:
    after = 0
    while page := view.archived_entries(state, after, _PAGE):
        yield from page
        after = page[-1].seq


def in_threads(view: Snapshot, state: OwnerState, rows: Iterable[ThreadRow]) -> Lying:
    """Return threads with everything that lies in them."""
    threads = tuple(rows)
    entries = (
        one
        for thread in threads
        for sort in _SURFACES
        for one in view.entries(state, thread.seq, sort)
    )
    return Lying(threads, tuple(entries))
