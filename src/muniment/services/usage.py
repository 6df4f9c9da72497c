"""How often records are shown: counted in memory by recall, written down off its path."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING

from muniment.errors import MunimentError

if TYPE_CHECKING:
    from muniment.clock import Clock
    from muniment.ports import Store, Transaction
    from muniment.records import Record
    from muniment.scope import Owner

MOST_WAITING = 5_000
LONGEST_WAIT = 600_000_000
"""Records counted, or microseconds gone by, after which the counts are written down."""


class UsageNotes:
    """Counts of records that were put into packets. Safe to use from several threads.

    They are written down when enough have gathered, on a thread of their own, by maintenance and
    when the memory is closed. A process that is killed loses those that waited.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._waiting: dict[Owner, dict[int, tuple[int, int]]] = {}
        self._size = 0
        self._since: int | None = None
        self._lock = Lock()
        self._writing = Lock()

    def note(self, records: Iterable[Record]) -> None:
        """Count records as shown now."""
        now = self._clock.now()
        with self._lock:
            self._add(records, now)
            if not self._size:
                return
            self._since = now if self._since is None else self._since
            due = self._size > MOST_WAITING or now - self._since > LONGEST_WAIT
            self._since = now if due else self._since
        if due:
            Thread(target=self.try_flush, name="muniment-usage", daemon=True).start()

    def _add(self, records: Iterable[Record], now: int) -> None:
        owner: Owner | None = None
        counts: dict[int, tuple[int, int]] = {}
        for record in records:
            if record.scope is not owner:
                owner = record.scope
                counts = self._waiting.setdefault(owner, {})
            known = counts.get(record.seq)
            counts[record.seq] = (1, now) if known is None else (known[0] + 1, now)
            self._size += known is None

    def try_flush(self) -> None:
        """Write down what was counted, or leave it waiting when the database cannot take it."""
        with suppress(MunimentError):
            self.flush()

    def flush(self) -> None:
        """Write down what was counted.

        Raises:
            StoreError: The database failed; the counts go on waiting.
        """
        with self._writing:
            with self._lock:
                taken, self._waiting, self._since, self._size = self._waiting, {}, None, 0
            if not taken:
                return
            failed: MunimentError | None = None
            for tenant_id in {owner.tenant_id for owner in taken}:
                part = {one: taken[one] for one in taken if one.tenant_id == tenant_id}
                try:
                    self._store.write(partial(_add_all, taken=part))
                except MunimentError as error:
                    self._put_back(part)
                    failed = error
            if failed is not None:
                raise failed

    def _put_back(self, taken: Mapping[Owner, Mapping[int, tuple[int, int]]]) -> None:
        with self._lock:
            for owner, counts in taken.items():
                waiting = self._waiting.setdefault(owner, {})
                for seq, (count, at) in counts.items():
                    self._size += seq not in waiting
                    more, later = waiting.get(seq, (0, at))
                    waiting[seq] = (count + more, later)


def _add_all(tx: Transaction, taken: Mapping[Owner, Mapping[int, tuple[int, int]]]) -> None:
    for owner, counts in taken.items():
        state = tx.owner(owner)
        if state is not None:
            for seq, (count, at) in counts.items():
                tx.add_usage(state, seq, count, at)
