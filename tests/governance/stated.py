"""What the reference model is made of: a statement, a record, a candidate."""

from __future__ import annotations

from dataclasses import dataclass

DISGUISES = str.maketrans({"Т": "t", "Е": "e", "А": "a", "а": "a", "е": "e", "é": "e"})


def word(text: str) -> str:
    """Return the word that a text says, whatever it is disguised as."""
    return text.translate(DISGUISES).casefold().strip()


@dataclass(frozen=True)
class Said:
    """A statement, as it was given; text and value are each one word in some disguise."""

    kind: str
    text: str
    source: str
    field: str | None = None
    value: str | None = None
    expires: int | None = None

    @property
    def claim(self) -> str:
        return self.text if self.value is None else self.value

    @property
    def prints(self) -> set[tuple[str, ...]]:
        if self.field is None or self.value is None:
            return {("text", word(self.text))}
        return {("text", word(self.text)), ("value", self.field, word(self.value))}


@dataclass
class Row:
    """A record."""

    id: str
    said: Said
    rank: int
    actor: str
    made: int
    expires: int | None
    old: str | None = None
    new: str | None = None
    replaced: int | None = None

    def is_kept(self, now: int) -> bool:
        return self.expires is None or self.expires > now

    def is_active(self, now: int) -> bool:
        return self.replaced is None and self.is_kept(now)


@dataclass
class Waiting:
    """A candidate, whatever became of it; `path` is how it came in."""

    id: str
    said: Said
    asked: Said
    path: str
    rank: int
    actor: str
    made: int
    contested: str | None = None
    same: str | None = None
    status: str = "pending"
    became: str | None = None
