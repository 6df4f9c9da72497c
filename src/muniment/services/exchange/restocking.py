"""Stores the threads of an export inside the import's transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.errors import ConflictError, TombstonedError
from muniment.ports import ThreadRow
from muniment.services.exchange.threads_lines import PlacedEntry
from muniment.services.fence import event_digest, thread_digest
from muniment.services.threads.places import is_same

if TYPE_CHECKING:
    from muniment.keys import Keys
    from muniment.ports import OwnerState, Transaction

_GONE = "It was forgotten here, and an import cannot undo it."
_READABLE = ("event", "effect", "item", "summary")


class Restocking:
    """One owner's threads on their way in.

    Args:
        tx: The transaction.
        state: Where they go.
        keys: The store's keys, which its tombstones know threads by.
    """

    def __init__(self, tx: Transaction, state: OwnerState, keys: Keys) -> None:
        self._tx = tx
        self._state = state
        self._keys = keys

    def take(self, body: ThreadRow | PlacedEntry) -> bool:
        """Store a thread, or what lies in one; return False when it is here.

        Raises:
            ConflictError: Something else is here under its name or number, or its thread is not.
            TombstonedError: It was forgotten here.
        """
        if isinstance(body, ThreadRow):
            return self._take_thread(body)
        return self._take_entry(body)

    def _take_thread(self, row: ThreadRow) -> bool:
        if self._tx.thread(self._state, row.type, row.name) is not None:
            return False
        mark = thread_digest(self._keys, self._state.owner, row.type, row.name)
        if self._tx.buried_source(self._state, mark) is not None:
            raise TombstonedError(_GONE)
        self._tx.put_thread(self._state, row)
        return True

    def _take_entry(self, placed: PlacedEntry) -> bool:
        tx, state, row = self._tx, self._state, placed.row
        thread = tx.thread(state, placed.type, placed.thread_id)
        if thread is None:
            raise ConflictError("Its thread is neither here nor before it in the file.")
        known = tx.entry(state, thread.seq, row.sort, row.name)
        if known is not None:
            if row.content == known.content or (
                row.sort in _READABLE and is_same(known.content, row.content)
            ):
                return False
            raise ConflictError("Something else is in the thread under the same name.")
        if row.sort == "event":
            self._check_event(thread, placed)
        tx.put_entry(state, replace(row, thread=thread.seq))
        return True

    def _check_event(self, thread: ThreadRow, placed: PlacedEntry) -> None:
        tx, state, row = self._tx, self._state, placed.row
        mark = event_digest(self._keys, state.owner, row.name)
        if tx.buried_source(state, mark) is not None:
            raise TombstonedError(_GONE)
        here = tx.entries_after(state, thread.seq, row.sort, row.number - 1, 1)
        if here and here[0].number == row.number:
            raise ConflictError("Another event has this number in the thread.")
        if row.number > thread.last_number:
            tx.put_thread(state, replace(thread, last_number=row.number))
