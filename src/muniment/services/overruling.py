"""Own procedures and constraints that a shared space overrules, found before anything is ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from muniment.rules.statement import field_key
from muniment.scope import Scope

if TYPE_CHECKING:
    from muniment.ports import Snapshot
    from muniment.records import Record
    from muniment.services.found import Reading

BINDING = ("procedure", "constraint")
"""Kinds of which a space's record about a field wins over one's own."""

_NOTHING = np.zeros(0, dtype=np.int64)


def overruled(view: Snapshot, readings: Sequence[Reading], now: int) -> NDArray[np.int64]:
    """Return the places of own records that a space's record about the same field overrules.

    Args:
        view: The snapshot of the recall.
        readings: Own scope first, then the readable spaces.
        now: The present instant, microseconds since 1970, UTC.
    """
    if len(readings) < 2 or not isinstance(readings[0].state.owner, Scope):
        return _NOTHING
    own = list(_rules(view, readings[0], now))
    if not own:
        return _NOTHING
    shared = {_subject(record) for reading in readings[1:] for record in _rules(view, reading, now)}
    seqs = [record.seq for record in own if _subject(record) in shared]
    return np.array(seqs, dtype=np.int64)


def _rules(view: Snapshot, reading: Reading, now: int) -> Iterator[Record]:
    seen = reading.view
    if seen.kind_names.isdisjoint(BINDING):
        return
    seqs = seen.seqs[seen.live & seen.of_kinds(BINDING)]
    records = view.records(reading.state, seqs.tolist(), now)
    yield from (record for record in records if record.field is not None)


def _subject(record: Record) -> tuple[str, str]:
    return record.kind, field_key(record.field or "")
