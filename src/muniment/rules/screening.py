"""Looks at a text before it is stored: refuses characters that hide text from a reader."""

from __future__ import annotations

import re
from collections.abc import Sequence

from muniment.records import WritePath
from muniment.results import Finding

_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]"
    "|[\u00ad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb]"
    "|[\u202a-\u202e\u2066-\u2069]"
    "|[\U000e0000-\U000e007f]"
)
_MARKS = re.compile("[\u200e\u200f\u061c]")


class CharacterScreener:
    """Refuses control, zero-width, bidirectional-override and tag characters.

    The zero-width non-joiner and joiner, which Persian and emoji need, pass. Direction marks are
    reported but do not refuse the text.
    """

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        """Return the characters seen, in order of position."""
        if text.isascii() and text.isprintable():
            return ()
        hidden = [(match, True) for match in _HIDDEN.finditer(text)]
        marks = [(match, False) for match in _MARKS.finditer(text)]
        return [
            Finding("hidden_characters" if refuses else "direction_marks", *match.span(), refuses)
            for match, refuses in sorted(hidden + marks, key=lambda found: found[0].start())
        ]
