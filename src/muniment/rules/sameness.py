"""When two records say the same: one rule for recall and for deduplication."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import canonical_json
from muniment.rules.text import normalise

if TYPE_CHECKING:
    from muniment.records import Record

ALIKE = 0.97
_MARKS = ".,;:!\"'()…،؛«»“”"
_WEIGHTLESS = frozenset({"a", "an", "the", "user", "please", "also", "کاربر", "لطفا"})


class Wording(NamedTuple):
    """What two records are compared by; holds hashes and no text.

    Attributes:
        gist: Hash of what it is about, and of its words but those without weight.
        words: Hash of its words, however they are written and punctuated.
    """

    gist: bytes
    words: bytes


def wording(record: Record, *also: str | None) -> Wording:
    """Return what a record is compared by.

    Args:
        record: The record. Its kind, field, value, reference and validity say what it is about.
        also: What else has to be equal.
    """
    words = [word.strip(_MARKS) or word for word in normalise(record.text).split()]
    value = None if record.value is None else canonical_json(record.value)
    times = (str(record.valid_from), str(record.valid_until))
    papers = ascii([record.kind, record.field, value, record.reference, *times, *also])
    said = gist = " ".join(words)
    if not _WEIGHTLESS.isdisjoint(words):
        gist = " ".join([word for word in words if word not in _WEIGHTLESS]) or said
    return Wording(_digest(papers + gist), _digest(said))


def likeness(one: Wording, other: Wording, cosine: Callable[[], float]) -> float:
    """Return how surely two records say the same: 1 for the same words, 0 when they do not.

    They say the same when what they are about is equal and they have the same words in the same
    order, however they are written and punctuated; or have them but for words without weight (an
    article, "the user") while their embeddings have a cosine of at least .97, which is returned.
    Everything else that differs keeps two records apart, however near their embeddings are: a
    sign ("C", "C++"), a number, a "not", a question mark, an order.

    Args:
        one: A record.
        other: Another one.
        cosine: Returns the cosine of their embeddings; 0 without one. Asked only if it matters.
    """
    if one.gist != other.gist:
        return 0.0
    near = 1.0 if one.words == other.words else cosine()
    return near if near >= ALIKE else 0.0


def _digest(said: str) -> bytes:
    return blake2b(said.encode("utf-8", "surrogatepass"), digest_size=16).digest()
