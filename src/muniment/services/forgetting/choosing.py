"""Finds what a deletion takes: records by selection, and the candidates that carry the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from muniment.results import Candidate, CandidateStatus
from muniment.rules.deletion import Gone, Selection, goes_with
from muniment.rules.statement import statement_of
from muniment.services.reads import stored

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Snapshot
    from muniment.records import Record
    from muniment.services.gate import Gate

NEWEST = 2**63 - 1
_PAGE = 500


class _Placed(Protocol):
    @property
    def seq(self) -> int: ...


Row = TypeVar("Row", bound=_Placed)


@dataclass(slots=True)
class Chosen:
    """What a deletion takes of one owner. Grows when later rows are looked at.

    Attributes:
        records: memory_ids by place.
        sources: source_ids of the records.
        values: Keyed digests of what the records say.
        links: Records that they replaced or that replaced them.
        candidates: Candidates by place.
        seen: The place up to which rows were looked at.
    """

    records: dict[int, str] = field(default_factory=dict)
    sources: set[str] = field(default_factory=set)
    values: set[bytes] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    candidates: dict[int, Candidate] = field(default_factory=dict)
    seen: int = 0

    @property
    def gone(self) -> Gone:
        """What identifies the records."""
        ids = frozenset(self.records.values())
        return Gone(ids, frozenset(self.sources), frozenset(self.values))

    def __bool__(self) -> bool:
        """Return whether there is anything to forget."""
        return bool(self.records or self.candidates)


class Choosing:
    """Looks through one owner's rows; a second look sees only what was written since the first."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def choose(
        self, view: Snapshot, state: OwnerState, selection: Selection, chosen: Chosen
    ) -> None:
        """Add to what was chosen what a view holds above the place that was seen."""
        above = chosen.seen
        for record in self._records(view, state, selection, above):
            if record.seq not in chosen.records:
                self._take(state, record, chosen)
                above = 0
                for twin in self._twins(view, state, record):
                    self._take(state, twin, chosen)
        gone = chosen.gone
        for candidate in _candidates(view, state, above):
            values = self._gate.value_digests(state.owner, candidate.statement)
            if selection.takes_candidate(candidate) or goes_with(candidate, values, gone):
                chosen.candidates[candidate.seq] = candidate
        chosen.seen = view.next_seq(state) - 1

    def _records(
        self, view: Snapshot, state: OwnerState, selection: Selection, above: int
    ) -> Iterator[Record]:
        now = self._gate.clock.now()
        found: Iterable[Record]
        if selection.memory_id is None and selection.source_id is None:
            found = _newest_first(lambda before: view.page(state, before, _PAGE, now), above)
        else:
            found = self._named(view, state, selection, now)
        yield from (record for record in found if selection.takes(record))

    def _named(
        self, view: Snapshot, state: OwnerState, selection: Selection, now: int
    ) -> Iterator[Record]:
        memory_id = selection.memory_id
        if memory_id is None:
            assert selection.source_id is not None
            filed = view.filed(state, selection.source_id, now)
            memory_id = "" if filed is None else filed.memory_id
        record = stored(view, state, memory_id, now)
        if record is not None:
            yield record

    def _twins(self, view: Snapshot, state: OwnerState, record: Record) -> Iterator[Record]:
        """Yield older versions of a record that said the same, as merged duplicates do."""
        now, says = self._gate.clock.now(), self._says(state, record)
        while record.supersedes is not None:
            older = view.record(state, record.supersedes, now)
            if older is None or self._says(state, older) != says:
                return
            yield older
            record = older

    def _says(self, state: OwnerState, record: Record) -> frozenset[bytes]:
        return frozenset(self._gate.value_digests(state.owner, statement_of(record)))

    def _take(self, state: OwnerState, record: Record, chosen: Chosen) -> None:
        chosen.records[record.seq] = record.memory_id
        chosen.sources.add(record.source.source_id)
        chosen.values.update(self._gate.value_digests(state.owner, statement_of(record)))
        chosen.links.update(filter(None, (record.supersedes, record.superseded_by)))

    def remains(self, view: Snapshot, state: OwnerState, chosen: Chosen) -> dict[str, int]:
        """Return how much of what is related to the chosen records stays."""
        now, ids = self._gate.clock.now(), chosen.gone.memory_ids
        dependants = [
            record
            for record in view.inferred(state, now)
            if record.memory_id not in ids and not ids.isdisjoint(record.evidence)
        ]
        others = (view.record(state, link, now) for link in chosen.links - ids)
        versions = sum(other is not None for other in others)
        return {"versions": versions, "dependants": len(dependants)}


def every_record(view: Snapshot, state: OwnerState, now: int) -> list[Record]:
    """Return all records of an owner, newest first, whatever their status."""
    return list(_newest_first(lambda before: view.page(state, before, _PAGE, now), 0))


def every_candidate(view: Snapshot, state: OwnerState) -> list[Candidate]:
    """Return all candidates of an owner."""
    return list(_candidates(view, state, 0))


def _candidates(view: Snapshot, state: OwnerState, above: int) -> Iterator[Candidate]:
    for status in CandidateStatus:
        yield from _of_status(view, state, status, above)


def _of_status(
    view: Snapshot, state: OwnerState, status: CandidateStatus, above: int
) -> Iterator[Candidate]:
    return _newest_first(lambda before: view.candidates(state, status, before, _PAGE), above)


def _newest_first(page: Callable[[int], Sequence[Row]], above: int) -> Iterator[Row]:
    before = NEWEST
    while rows := page(before):
        for row in rows:
            if row.seq <= above:
                return
            yield row
        before = rows[-1].seq
