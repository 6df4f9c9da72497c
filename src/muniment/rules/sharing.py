"""How much of a packet one source may fill, so that it cannot crowd out the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from muniment.records import WritePath

if TYPE_CHECKING:
    from muniment.records import Record

Source = tuple[WritePath, str]
_OWN_WORD = (WritePath.REMEMBER, WritePath.CORRECT)


def source_of(record: Record) -> Source | None:
    """Return which source a record is from: who brought it, and by which path.

    What a person or a reviewer stated themselves is of no source: it crowds nobody out.
    """
    return None if record.source.path in _OWN_WORD else (record.source.path, record.actor)


def crowding(sources: Sequence[Source | None], limit: int) -> list[int]:
    """Return the places of records beyond their source's share of a packet, in order.

    A source fills at most half of the places while others can fill the rest.

    Args:
        sources: The source of each record, best first.
        limit: How many places there are.
    """
    if len(sources) <= limit:
        return []
    share, taken = max(1, limit // 2), dict[Source, int]()
    over = []
    for place, source in enumerate(sources):
        if source is not None:
            taken[source] = taken.get(source, 0) + 1
            if taken[source] > share:
                over.append(place)
    return over
