"""When two records say the same: one rule for recall and for deduplication."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import canonical_json
from muniment.rules.text import normalise

if TYPE_CHECKING:
    from muniment.records import Record

ALIKE = 0.97
_QUOTES = "\"'"
_MARKS = f".,;:!(){_QUOTES}…،؛«»“”"
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
    words = [_bare(word) for word in normalise(record.text).split()]
    value = None if record.value is None else canonical_json(record.value)
    times = (str(record.valid_from), str(record.valid_until))
    papers = ascii([record.kind, record.field, value, record.reference, *times, *also])
    papers += ascii(_raised(record.text))
    said = gist = " ".join(words)
    if not _WEIGHTLESS.isdisjoint(words):
        gist = " ".join([word for word in words if word not in _WEIGHTLESS]) or said
    return Wording(_digest(papers + gist), _digest(said))


def _bare(word: str) -> str:
    """Return a word without the marks around it, but for those that make another thing of it.

    `.5` is not `5` and `.net` not `net`; `5'` are feet or minutes and `5"` inches or seconds.
    """
    if word.isalnum():
        return word
    bare = word.strip(_MARKS)
    start = word.find(bare)
    before, after = word[:start], word[start + len(bare) :]
    is_point = before.endswith(".") and not before.endswith("..") and bare[:1].isalnum()
    point = "." if is_point else ""
    sign = after[:1] if bare[-1:].isdigit() and after[:1] in _QUOTES else ""
    return f"{point}{bare}{sign}" or word


def _raised(text: str) -> str:
    """Return the characters that the search form takes for plain digits, such as that of 10³."""
    return "" if text.isascii() else "".join([c for c in text if unicodedata.category(c) == "No"])


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
