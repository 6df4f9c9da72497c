"""One form for every way of writing the same digits, letters and separators, with positions."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from functools import cache
from itertools import accumulate

from muniment.rules.screening.vocabulary import heads_of

_DASHES = (0x00AD, *range(0x2010, 0x2016), 0x2043, 0x2212, 0xFE58, 0xFE63, 0xFF0D)
_SPACES = (0x00A0, 0x1680, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
_ZEROS = (
    *(0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66, 0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6),
    *(0x0D66, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x17E0, 0x1810),
)
_COMPATIBLE = (
    *range(0x00B2, 0x00BA),
    *range(0x2070, 0x209D),
    *range(0x2460, 0x24EB),
    *range(0xFF01, 0xFF5F),
    *range(0x1D400, 0x1D800),
)
_ACCENTED = (*range(0x00C0, 0x0250), *range(0x1E00, 0x1F00))
_LETTERS = {
    **dict.fromkeys(map(ord, "يى"), "ی"),
    **dict.fromkeys(map(ord, "ةۀ"), "ه"),
    **dict.fromkeys(map(ord, "\u2018\u2019\u201b\u02bc"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e"), '"'),
    **dict(zip(map(ord, "كıİłŁøØđĐ٫٬·•∙⁄∕"), "کiIlLoOdD.,...//", strict=True)),
    **dict(zip(map(ord, "аеосрхуіјѕАВЕКМНОРСТХІЈЅ"), "aeocpxyijsABEKMHOPCTXIJS", strict=True)),
}
_DROPPED = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff\u0300-\u036f\u0640\u064b-\u065f\u0670\x00-\x08\x0e-\x1f\x7f]+"
)

_PLAIN = re.compile(
    "[\x00-\x7f\u060c\u061b\u061f\u0621-\u0628\u062a-\u0642\u0644-\u0648\u0654-\u065f"
    "\u066d-\u06bf\u06c1-\u06ef\u00ab\u00bb]*+"
)
"""What English and Persian are mostly written with, and folding leaves alone."""


@cache
def _table() -> dict[int, str]:
    table = {zero + n: str(n) for zero in _ZEROS for n in range(10)}
    for code in _COMPATIBLE:
        plain = unicodedata.normalize("NFKC", chr(code))
        if len(plain) == 1:
            table[code] = plain
    for code in _ACCENTED:
        plain = unicodedata.normalize("NFD", chr(code))[0]
        if plain.isascii():
            table[code] = plain
    return table | dict.fromkeys(_SPACES, " ") | dict.fromkeys(_DASHES, "-") | _LETTERS


class Folded:
    """A text in one form, and where each of its characters came from.

    Digits of any script, full-width forms, look-alike spaces, dashes and letters, and accents are
    unified one to one; what is invisible is left out.

    Attributes:
        cased: The folded text.
        source: The text as it was given.
        text: The folded text in lower case, of the same length.
    """

    __slots__ = ("_dropped", "_heads", "cased", "source", "text")

    def __init__(self, source: str) -> None:
        self.source = source
        self._heads: frozenset[str] | None = None
        self._dropped: tuple[list[int], list[int]] | None = None
        if source.isascii():
            self.cased = source if source.isprintable() else _DROPPED.sub("", source)
        else:
            kept = _DROPPED.sub("", source)
            self.cased = kept if _PLAIN.fullmatch(kept) else kept.translate(_table())
        self.text = self.cased.lower()

    @property
    def heads(self) -> frozenset[str]:
        """The first three and four letters of every word."""
        if self._heads is None:
            self._heads = heads_of(self.text)
        return self._heads

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Return where a part of the folded text, not empty, lies in the source."""
        if len(self.cased) == len(self.source):
            return start, end
        return self._origin(start), self._origin(end - 1) + 1

    def _origin(self, position: int) -> int:
        """Return the source's index of a folded character."""
        if self._dropped is None:
            gaps = [(gap.start(), len(gap[0])) for gap in _DROPPED.finditer(self.source)]
            sizes = [0, *accumulate(size for _, size in gaps)]
            places = [start - size for (start, _), size in zip(gaps, sizes, strict=False)]
            self._dropped = (places, sizes)
        places, sizes = self._dropped
        return position + sizes[bisect_right(places, position)]
