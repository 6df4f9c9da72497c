"""Which records of one owner say the same, and which of them stays. Decisions only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.records import canonical_json
from muniment.rules.fingerprints import fingerprints
from muniment.rules.text import normalise

if TYPE_CHECKING:
    from muniment.records import Record

NEAR = 0.95
_MARKS = ".,;:!?\"'()\u2026\u060c\u061b\u061f\u00ab\u00bb"
_WEIGHTLESS = frozenset({"a", "an", "the", "user", "please", "also"})

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


def duplicates(records: Sequence[Record], shown: Mapping[int, int], cosine: Cosine) -> list[Pair]:
    """Return the records that only repeat another one, each with the one that stays.

    Two records say the same when kind, field, value, validity, reference and metadata are equal
    and their texts are the same apart from case, white space, punctuation at the ends of words
    and look-alike characters; or differ in nothing but words without weight (an article) while
    their embeddings have a cosine of at least .95. Everything else keeps two records apart, however
    near their embeddings are: a `not`, a number, `C` beside `C++`, another order of words.

    The one of higher authority stays; of equals the one that was shown more often, then the one
    that is kept longer, then the older. It never lives shorter than the one it replaces.

    Args:
        records: Active records of one owner.
        shown: By seq, how often a record was shown.
        cosine: Returns the cosine of two records, by seq; 0 without an embedding.
    """
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        groups.setdefault((*_papers(record), _weighty(record.text)), []).append(record)
    return [pair for group in groups.values() for pair in _pairs(group, shown, cosine)]


def _pairs(group: Sequence[Record], shown: Mapping[int, int], cosine: Cosine) -> list[Pair]:
    if len(group) < 2:
        return []
    best = sorted(
        group,
        key=lambda one: (-one.authority, -shown.get(one.seq, 0), -_longevity(one), one.seq),
    )
    staying: list[Record] = []
    found = []
    for record in best:
        for kept in staying:
            likeness = _likeness(kept, record, cosine)
            if likeness >= NEAR and _longevity(kept) >= _longevity(record):
                found.append(Pair(kept, record, likeness))
                break
        else:
            staying.append(record)
    return found


def _likeness(one: Record, other: Record, cosine: Cosine) -> float:
    same = fingerprints(None, None, one.text)[0] == fingerprints(None, None, other.text)[0]
    return 1.0 if same else cosine(one.seq, other.seq)


def _longevity(record: Record) -> float:
    return float("inf") if record.expires_at is None else record.expires_at.timestamp()


def _weighty(text: str) -> tuple[str, ...]:
    words = tuple(word.strip(_MARKS) or word for word in normalise(text).split())
    return tuple(word for word in words if word not in _WEIGHTLESS) or words


def _papers(record: Record) -> tuple[object, ...]:
    return (
        record.kind,
        record.field,
        canonical_json(record.value),
        record.reference,
        record.valid_from,
        record.valid_until,
        canonical_json(record.metadata),
    )
