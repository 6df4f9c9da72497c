"""Which records of one owner say the same, and which of them stays. Decisions only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import canonical_json
from muniment.rules.sameness import Wording, likeness, wording

if TYPE_CHECKING:
    from muniment.records import Record

Cosine = Callable[[int, int], float]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two records that say the same.

    Attributes:
        kept: The one that stays.
        dropped: The one that it makes superfluous.
        likeness: 1 for the same text, else the cosine of their embeddings.
    """

    kept: Record
    dropped: Record
    likeness: float


class _Said(NamedTuple):
    """A record, and what it is compared by."""

    record: Record
    said: Wording


def duplicates(records: Sequence[Record], shown: Mapping[int, int], cosine: Cosine) -> list[Pair]:
    """Return the records that only repeat another one, each with the one that stays.

    Two records say the same as `sameness.likeness` has it, when their metadata is equal too.

    The one of higher authority stays; of equals the one that was shown more often, then the one
    that is kept longer, then the older. It never lives shorter than the one it replaces.

    Args:
        records: Active records of one owner.
        shown: By seq, how often a record was shown.
        cosine: Returns the cosine of two records, by seq; 0 without an embedding.
    """
    groups: dict[bytes, list[_Said]] = {}
    for record in records:
        said = wording(record, canonical_json(record.metadata))
        groups.setdefault(said.gist, []).append(_Said(record, said))
    return [pair for group in groups.values() for pair in _pairs(group, shown, cosine)]


def _pairs(group: Sequence[_Said], shown: Mapping[int, int], cosine: Cosine) -> list[Pair]:
    staying: list[_Said] = []
    found = []
    for one in sorted(group, key=lambda one: _rank(one.record, shown)):
        for kept in staying:
            near = likeness(kept.said, one.said, partial(cosine, kept.record.seq, one.record.seq))
            if near and _longevity(kept.record) >= _longevity(one.record):
                found.append(Pair(kept.record, one.record, near))
                break
        else:
            staying.append(one)
    return found


def _rank(record: Record, shown: Mapping[int, int]) -> tuple[float, ...]:
    return (-record.authority, -shown.get(record.seq, 0), -_longevity(record), record.seq)


def _longevity(record: Record) -> float:
    return float("inf") if record.expires_at is None else record.expires_at.timestamp()
