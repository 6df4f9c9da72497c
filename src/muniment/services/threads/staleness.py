"""What makes a summary stale: a source of it was corrected, withdrawn or forgotten."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muniment.records import JSONValue
from muniment.services.threads.places import packed, unpacked_object

if TYPE_CHECKING:
    from muniment.ports import EntryRow, OwnerState, Transaction
    from muniment.records import Record

EVENT = "event"
CORRECTED, FORGOTTEN, WITHDRAWN = "corrected", "forgotten", "withdrawn"


@dataclass(frozen=True, slots=True)
class Changed:
    """What is not as it was.

    Attributes:
        ids: Ids of records, of events, and of what changed records rest on.
        numbers: Numbers of events by their thread's place.
        reason: `corrected`, `forgotten` or `withdrawn`.
        actor: Who did it.
    """

    ids: frozenset[str]
    numbers: Mapping[int, frozenset[int]]
    reason: str
    actor: str


def sources_of(records: Sequence[Record]) -> frozenset[str]:
    """Return the ids by which a summary may refer to records or to what they rest on."""
    return frozenset(
        one
        for record in records
        for one in (record.memory_id, record.source.source_id, *record.evidence)
    )


def make_stale(tx: Transaction, state: OwnerState, changed: Changed, now: int) -> int:
    """Take the text out of every summary that rests on what changed; return how many there are.

    They wait to be made anew. Goals and open work stay, but after a deletion those that do not say
    that they rest on something else.
    """
    stale = [row for row in tx.summaries(state) if _rests(tx, state, row, changed)]
    for row in stale:
        label = {**unpacked_object(row.label), "stale": changed.reason}
        content = _emptied(unpacked_object(row.content), changed)
        stub = replace(
            row,
            label=packed("label", label),
            content=packed("content", content),
            changed_at=now,
        )
        tx.put_entry(state, stub)
    if stale:
        tx.append_audit(
            state,
            at=now,
            actor=changed.actor,
            action="stale_summary",
            memory_ids=[row.name for row in stale],
            reason=changed.reason,
        )
    return len(stale)


def _rests(tx: Transaction, state: OwnerState, row: EntryRow, changed: Changed) -> bool:
    said = unpacked_object(row.label)
    first, last, references = said["first"], said["last"], said["references"]
    assert isinstance(first, int)
    assert isinstance(last, int)
    assert isinstance(references, list)
    if not changed.ids.isdisjoint(str(one) for one in references):
        return True
    if any(first <= number <= last for number in changed.numbers.get(row.thread, ())):
        return True
    if any(not changed.ids.isdisjoint(_references(one)) for one in _open_items(row)):
        return True
    named = (tx.entry(state, row.thread, EVENT, one) for one in changed.ids)
    return any(one is not None and first <= one.number <= last for one in named)


def _open_items(row: EntryRow) -> list[JSONValue]:
    content = unpacked_object(row.content)
    goals, unresolved = content["goals"], content["unresolved"]
    assert isinstance(goals, list)
    assert isinstance(unresolved, list)
    return [*goals, *unresolved]


def _references(item: JSONValue) -> Collection[str]:
    found = item.get("references", []) if isinstance(item, Mapping) else []
    return {str(one) for one in found} if isinstance(found, list) else set()


def _emptied(content: dict[str, JSONValue], changed: Changed) -> dict[str, JSONValue]:
    """Return a summary's content without its text, and without what may repeat what is gone."""

    def kept(item: JSONValue) -> bool:
        references = _references(item)
        return changed.reason == CORRECTED or (
            bool(references) and changed.ids.isdisjoint(references)
        )

    goals, unresolved = content["goals"], content["unresolved"]
    assert isinstance(goals, list)
    assert isinstance(unresolved, list)
    return {
        "text": "",
        "goals": [one for one in goals if kept(one)],
        "unresolved": [one for one in unresolved if kept(one)],
    }
