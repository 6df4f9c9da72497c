"""Which records of a ranking only repeat one before them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import JSONValue, canonical_json
from muniment.rules.text import normalise

if TYPE_CHECKING:
    from muniment.records import Record

ALIKE = 0.97
_MARKS = ".,;:!\"'()…،؛«»“”"
_WEIGHTLESS = frozenset({"a", "an", "the", "user", "please", "also", "کاربر", "لطفا"})


class Wording(NamedTuple):
    """What two records are compared by; holds hashes and no text.

    Attributes:
        gist: Hash of its kind, field, value and times, and of its words but those without weight.
        words: Hash of its words, however they are written and punctuated.
    """

    gist: bytes
    words: bytes


def wording(record: Record) -> Wording:
    """Return what a record is compared by."""
    words = [word.strip(_MARKS) or word for word in normalise(record.text).split()]
    rest = [word for word in words if word not in _WEIGHTLESS]
    times = (record.valid_from, record.valid_until, record.expires_at)
    papers = [record.kind, record.field, record.value, record.reference, *map(str, times)]
    return Wording(_digest([*papers, *(rest or words)]), _digest(words))


def _digest(parts: Sequence[JSONValue]) -> bytes:
    given = canonical_json([*parts]).encode("utf-8", "surrogatepass")
    return blake2b(given, digest_size=16).digest()


def repeats(said: Sequence[Wording], cosine: Callable[[int, int], float]) -> list[int]:
    """Return the places of records that repeat an earlier one, in order.

    A record repeats another of the same kind, field, value and times if it has the same words in
    the same order, however they are written and punctuated; or if it has them but for words
    without weight (an article, "the user") and their embeddings have a cosine of at least .97.
    Everything else that differs keeps two records apart, however near their embeddings are: a
    sign ("C", "C++"), a number, a "not", an order.

    Args:
        said: The wording of each record, best first.
        cosine: Returns the cosine of two records, by place; 0 without an embedding.
    """
    seen: dict[bytes, list[int]] = {}
    found = []
    for place, one in enumerate(said):
        earlier = seen.setdefault(one.gist, [])
        if any(said[at].words == one.words or cosine(place, at) >= ALIKE for at in earlier):
            found.append(place)
        else:
            earlier.append(place)
    return found
