"""How often records are used: counted in memory by recall, written down off its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from threading import Lock, Thread
from typing import TYPE_CHECKING

from muniment.errors import MunimentError
from muniment.ports import Usage

if TYPE_CHECKING:
    from muniment.clock import Clock
    from muniment.ports import Store, Transaction
    from muniment.records import Record
    from muniment.scope import Owner

MOST_WAITING = 5_000
LONGEST_WAIT = 600_000_000
"""Records counted, or microseconds gone by, after which the counts are written down."""


@dataclass(slots=True)
class _Counts:
    considered: int = 0
    shown: int = 0
    shown_at: int = 0
    cited: int = 0

    def add(self, other: _Counts) -> None:
        self.considered += other.considered
        self.shown += other.shown
        self.shown_at = max(self.shown_at, other.shown_at)
        self.cited += other.cited


class UsageNotes:
    """Counts of records that were ranked, put into packets and cited. Safe for several threads.

    They are written down when enough have gathered, on a thread of their own, by maintenance and
    when the memory is closed. A process that is killed loses those that waited.
    """

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._waiting: dict[Owner, dict[int, _Counts]] = {}
        self._size = 0
        self._since: int | None = None
        self._lock = Lock()
        self._writing = Lock()

    def note(self, considered: Iterable[Record], shown: Iterable[Record]) -> None:
        """Count records as considered, and some of them as shown, now."""
        now = self._clock.now()
        with self._lock:
            for counts in self._counts(considered):
                counts.considered += 1
            for counts in self._counts(shown):
                counts.shown += 1
                counts.shown_at = now
            due = self._is_due(now)
        if due:
            Thread(target=self.try_flush, name="muniment-usage", daemon=True).start()

    def note_cited(self, records: Iterable[Record]) -> None:
        """Count records as named by an answer."""
        with self._lock:
            for counts in self._counts(records):
                counts.cited += 1

    def _counts(self, records: Iterable[Record]) -> Iterator[_Counts]:
        owner: Owner | None = None
        known: dict[int, _Counts] = {}
        for record in records:
            if record.scope is not owner:
                owner = record.scope
                known = self._waiting.setdefault(owner, {})
            counts = known.get(record.seq)
            if counts is None:
                counts = known[record.seq] = _Counts()
                self._size += 1
            yield counts

    def _is_due(self, now: int) -> bool:
        if not self._size:
            return False
        self._since = now if self._since is None else self._since
        due = self._size > MOST_WAITING or now - self._since > LONGEST_WAIT
        self._since = now if due else self._since
        return due

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

    def _put_back(self, taken: Mapping[Owner, Mapping[int, _Counts]]) -> None:
        with self._lock:
            for owner, found in taken.items():
                waiting = self._waiting.setdefault(owner, {})
                for seq, counts in found.items():
                    self._size += seq not in waiting
                    waiting.setdefault(seq, _Counts()).add(counts)


def _add_all(tx: Transaction, taken: Mapping[Owner, Mapping[int, _Counts]]) -> None:
    for owner, found in taken.items():
        state = tx.owner(owner)
        if state is not None:
            for seq, one in found.items():
                tx.add_usage(state, seq, Usage(one.considered, one.shown, one.shown_at, one.cited))
