"""Writes everything of one or more owners as JSON Lines, one page at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from heapq import merge
from typing import TYPE_CHECKING, TypeVar

from muniment.ports import (
    ArchivedRecord,
    ImportedEntry,
    ImportedReceipt,
    NewTombstone,
    OwnerState,
    Snapshot,
    Store,
    ThreadRow,
)
from muniment.records import JSONValue, canonical_json
from muniment.results import Candidate
from muniment.scope import Space
from muniment.services.exchange.files import Source, Write, writing
from muniment.services.exchange.lines import (
    TYPES,
    audit_line,
    candidate_line,
    header,
    receipt_line,
    record_line,
    tombstone_line,
)
from muniment.services.exchange.portable import write_portable
from muniment.services.exchange.threads_lines import entry_line, thread_line
from muniment.transfers import ExportReport

if TYPE_CHECKING:
    from muniment.clock import Clock
    from muniment.scope import Owner, Scope
    from muniment.services.vectors import Progress

T = TypeVar("T")
Line = Mapping[str, JSONValue]

_PAGE = 200
_ALL = 2**31
_ESCAPED = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029, *range(0xD800, 0xE000))}
"""What some readers take for line ends, and lone surrogates, which no UTF-8 has."""


class Exporting:
    """Exports what belongs to one subject."""

    def __init__(self, store: Store, *, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    def scope(self, owner: Owner, target: Source, progress: Progress | None) -> ExportReport:
        """Export one scope or space.

        Raises:
            InvalidInputError: The target cannot be written to.
            StoreError: The database failed; a target that is a path is as it was.
        """
        with self._store.snapshot((owner,)) as view:
            return self._write(view, [owner], target, progress)

    def user(
        self, tenant_id: str, user_id: str, target: Source, progress: Progress | None
    ) -> ExportReport:
        """Export every scope of a user and the space that the user's agents share.

        Raises:
            ScopeError: A part is missing or blank.
            InvalidInputError: The target cannot be written to.
            StoreError: The database failed; a target that is a path is as it was.
        """
        Space.of_user(tenant_id, user_id)
        with self._store.snapshot() as view:
            owners = [state.owner for state in view.owners_of_user(tenant_id, user_id)]
            return self._write(view, owners, target, progress)

    def portable(self, scope: Scope, target: Source) -> ExportReport:
        """Export the records of one scope as Portable AI Memory 1.0.

        Raises:
            InvalidInputError: The target cannot be written to.
            StoreError: The database failed; a target that is a path is as it was.
        """
        now = self._clock.now()
        with self._store.snapshot((scope,)) as view:
            state = view.owner(scope)
            kept = [] if state is None else [one.record for one in archived(view, state, now)]
        return write_portable(kept, scope, target, now)

    def _write(
        self, view: Snapshot, owners: Sequence[Owner], target: Source, progress: Progress | None
    ) -> ExportReport:
        now = self._clock.now()
        states = [state for owner in owners if (state := view.owner(owner)) is not None]
        with writing(target) as write:
            sink = Sink(write, sum(_expected(view, state, now) for state in states), progress)
            sink.frame(header(owners, self._store.keys, now))
            for state in states:
                for line in item_lines(view, state, now):
                    sink.item(line)
            return sink.end()


class Sink:
    """Writes lines, and counts and hashes those between header and footer.

    Args:
        write: Takes a text.
        expected: About how many items will come, for progress.
        progress: Called after every page with how many lines there are and will be.
    """

    def __init__(self, write: Write, expected: int, progress: Progress | None) -> None:
        self._write = write
        self._expected = expected
        self._progress = progress
        self._counts: Counter[str] = Counter()
        self._hash = sha256()

    def frame(self, line: Line) -> None:
        """Write the header or the footer."""
        self._write(_written(line))

    def item(self, line: Line) -> None:
        """Write a line between the two."""
        text = _written(line)
        self._hash.update(text.encode())
        self._counts[str(line["type"])] += 1
        self._write(text)
        done = self._counts.total()
        if self._progress is not None and done % _PAGE == 0:
            self._progress(done, max(done, self._expected))

    def end(self) -> ExportReport:
        """Write the footer and say what the file holds."""
        counts = {name: self._counts[name] for name in TYPES}
        self.frame({"type": "footer", "counts": counts, "sha256": self._hash.hexdigest()})
        done = self._counts.total()
        if self._progress is not None:
            self._progress(done, done)
        return ExportReport(
            records=counts["record"],
            candidates=counts["candidate"],
            tombstones=counts["tombstone"],
            receipts=counts["receipt"],
            audit=counts["audit"],
            lines=done + 2,
            sha256=self._hash.hexdigest(),
            threads=counts["thread"],
            entries=counts["entry"],
        )


def _written(line: Line) -> str:
    return canonical_json(line).translate(_ESCAPED) + "\n"


def _expected(view: Snapshot, state: OwnerState, now: int) -> int:
    counts = view.counts(state, now)
    statements = counts.active + counts.superseded + counts.expired
    return statements + counts.tombstones + counts.threads + counts.entries


def item_lines(view: Snapshot, state: OwnerState, now: int) -> Iterator[Line]:
    """Yield everything of an owner: statements by seq, tombstones, receipts, then the audit."""
    records = ((kept.record.seq, record_line(kept)) for kept in archived(view, state, now))
    candidates = ((one.seq, candidate_line(one)) for one in _candidates(view, state))
    for _, line in merge(records, candidates, key=lambda placed: placed[0]):
        yield line
    yield from _threads(view, state)
    for tombstone in _tombstones(view, state):
        yield tombstone_line(state.owner, tombstone)
    for receipt in _receipts(view, state):
        yield receipt_line(state.owner, receipt)
    for entry in _entries(view, state):
        yield audit_line(state.owner, entry)


def _threads(view: Snapshot, state: OwnerState) -> Iterator[Line]:
    threads: dict[int, ThreadRow] = {}
    for row in _pages(
        0, lambda after: view.archived_threads(state, after, _PAGE), lambda one, _: one.seq
    ):
        threads[row.seq] = row
        yield thread_line(state.owner, row)
    for entry in _pages(
        0, lambda after: view.archived_entries(state, after, _PAGE), lambda one, _: one.seq
    ):
        yield entry_line(state.owner, threads[entry.thread], entry)


def archived(view: Snapshot, state: OwnerState, now: int) -> Iterator[ArchivedRecord]:
    """Yield every record of an owner, oldest first, one page in memory at a time."""
    return _pages(
        0,
        lambda after: view.archived_records(state, after, _PAGE, now),
        lambda kept, _: kept.record.seq,
    )


def _candidates(view: Snapshot, state: OwnerState) -> Iterator[Candidate]:
    return _pages(
        0, lambda after: view.archived_candidates(state, after, _PAGE), lambda one, _: one.seq
    )


def _tombstones(view: Snapshot, state: OwnerState) -> Iterator[NewTombstone]:
    return _pages(
        ("", "", b""),
        lambda after: view.tombstones(state, after, _PAGE),
        lambda one, _: (one.memory_id, one.reason, one.value_digest),
    )


def _receipts(view: Snapshot, state: OwnerState) -> Iterator[ImportedReceipt]:
    own = (
        ImportedReceipt(str(content["receipt_id"]), content)
        for content in view.receipts(state.owner.tenant_id, state.owner_no, _ALL)
    )
    brought = _pages(
        "", lambda after: view.imported_receipts(state, after, _PAGE), lambda one, _: one.receipt_id
    )
    yield from sorted([*own, *brought])


def _entries(view: Snapshot, state: OwnerState) -> Iterator[ImportedEntry]:
    yield from _pages(
        0, lambda after: view.imported_audit(state, after, _PAGE), lambda _, after: after + 1
    )
    own = ""
    for entry in _pages(0, lambda after: view.audit(state, after, _PAGE), lambda e, _: e.number):
        own = own or entry.digest
        yield ImportedEntry(own, entry)


A = TypeVar("A")


def _pages(start: A, read: Callable[[A], list[T]], place: Callable[[T, A], A]) -> Iterator[T]:
    after = start
    while page := read(after):
        for one in page:
            yield one
            after = place(one, after)
        if len(page) < _PAGE:
            return
