"""Characters that hide text from a reader: control, zero-width, bidirectional and tag."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from muniment.records import WritePath
from muniment.results import Finding

_SUSPECT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e"
    "\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
_ONE_JOINER = ("\u200c", "\u200d")
_JOINERS = re.compile("[\u200c\u200d]+")
_MARKS = re.compile("[\u200e\u200f\u061c]+")
_TAGS = re.compile("[\U000e0000-\U000e0fff]+")
_SELECTOR = re.compile("[\ufe00-\ufe0f]")
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f")
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_BLACK_FLAG = "\U0001f3f4"
_JOINED_SCRIPT = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]"
)
_EMOJI = re.compile("[\u00a9\u00ae\u203c-\u3299\ufe0f\U0001f000-\U0001ffff]")
HIDDEN = "hidden_characters"
EMOJI_STYLE = "\ufe0f"
SOFT_HYPHEN = "\u00ad"
LONGEST_MARKS = 3
LONGEST_JOINERS = 2


class CharacterScreener:
    """Refuses control, zero-width, bidirectional-override and tag characters.

    The zero-width non-joiner and joiner pass beside a letter of a script that is joined, such as
    Persian, and the joiner between emoji; so do the tags of a flag. Direction marks and joiners
    that join nothing are reported but do not refuse the text.
    """

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        """Return the characters seen, in order of position; the same for every `path`."""
        del path
        return list(characters(text))


def characters(text: str) -> Iterator[Finding]:
    """Yield the hidden characters of a text, in order of position."""
    if text.isascii() and text.isprintable():
        return
    for found in _SUSPECT.finditer(text):
        start, end = found.span()
        name = _class_of(text, start, end)
        if name is not None:
            yield Finding(name, start, end, name == HIDDEN)


def _class_of(text: str, start: int, end: int) -> str | None:
    """Return the class of a run of characters that are not seen, or None when it belongs."""
    run = text[start:end]
    before = text[start - 1 : start]
    if run[0] == EMOJI_STYLE and _JOINERS.fullmatch(run[1:]):
        return _joiners(run[1:], run[0], text[end : end + 1])
    if run in _ONE_JOINER or _JOINERS.fullmatch(run):
        return _joiners(run, before, text[end : end + 1])
    if _MARKS.fullmatch(run):
        return "direction_marks" if len(run) <= LONGEST_MARKS else HIDDEN
    if run == SOFT_HYPHEN and _joinable(before):
        return "stray_joiners"
    belongs = _SELECTOR.fullmatch(run) or (_TAGS.fullmatch(run) and _tags_belong(before, run))
    return None if belongs else HIDDEN


def _tags_belong(before: str, tags: str) -> bool:
    """Tell whether tags spell a flag, or one selects the variant of an ideograph."""
    if before == _BLACK_FLAG:
        return _FLAG.fullmatch(tags) is not None
    selects = len(tags) == 1 and "\U000e0100" <= tags <= "\U000e01ef"
    return selects and _IDEOGRAPH.match(before) is not None


def _joiners(run: str, before: str, after: str) -> str | None:
    if len(run) > LONGEST_JOINERS or (_plain_letter(before) and _plain_letter(after)):
        return HIDDEN
    joined = _joinable(before) or _joinable(after) or _emoji_joined(before, after)
    return None if joined else "stray_joiners"


def _joinable(side: str) -> bool:
    return _JOINED_SCRIPT.match(side) is not None


def _plain_letter(side: str) -> bool:
    return side.isalnum() and not _joinable(side)


def _emoji_joined(before: str, after: str) -> bool:
    return _EMOJI.match(before) is not None and _EMOJI.match(after) is not None
