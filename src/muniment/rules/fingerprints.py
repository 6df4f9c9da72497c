"""What a tombstone remembers a statement by: what stays the same in every disguise of a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from muniment.records import JSONValue, canonical_json
from muniment.rules.lookalikes import drawn, visible
from muniment.rules.text import normalise

_ARABIC_GAP = re.compile("(?<=[\u0600-\u06ff])[ \u200c]+(?=[\u0600-\u06ff])")
_QUOTES = re.compile("[\"'\u201c\u201d\u201e\u00ab\u00bb]")
_SENTENCE_MARKS = re.compile(r"[.!?,;:\u2026\u3002\u060c\u061b\u061f]+(?=\s|$)")
_GAP = re.compile(r"(?<=[^\W_])[\s\u200c._/:-]+(?=[^\W_])")


def fingerprints(field: str | None, value: JSONValue, text: str) -> tuple[tuple[str, ...], ...]:
    """Return what a tombstone remembers a statement by, normalised but not yet hashed.

    Its text, whatever its kind and field; and its value together with its field, where it has one,
    whatever its kind and text; each also as it is drawn, when it holds a letter that is drawn like
    a Latin one. Two statements are the same when they have one of these in common. Case, white
    space, letter variants and invisible characters do not matter, nor whether Persian word parts
    are joined, spaced or held by a ZERO WIDTH NON-JOINER; other symbols do, so that `C`, `C++` and
    `C#` stay three values. A number is the same however it is typed (`3`, `3.0`, `"3"`; True and
    1), a field however its words are parted (`seat.preference`, `seatPreference`).
    """
    prints: dict[tuple[str, ...], None] = {}
    for look in (str,) if _is_plain(field, value, text) else (str, drawn):
        prints["text", _folded(look(text))] = None
        if field is not None and value is not None:
            name = _name(look(field))
            prints.update(dict.fromkeys(("value", name, one) for one in _forms(value, look)))
    return tuple(prints)


def _is_plain(field: str | None, value: JSONValue, text: str) -> bool:
    """Return whether every letter is plain ASCII, which is drawn like nothing else."""
    said = "" if value is None else f"{field}{canonical_json(value)}"
    return text.isascii() and said.isascii()


def _forms(value: JSONValue, look: Callable[[str], str]) -> tuple[str, ...]:
    """Return every form under which a value is known."""
    if isinstance(value, bool):
        return str(int(value)), canonical_json(value)
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return str(int(value)), f"{int(value)}.0"
    if isinstance(value, str):
        return (_folded(look(value)),)
    return (canonical_json(_plain(value, look)),)


def _plain(value: JSONValue, look: Callable[[str], str]) -> JSONValue:
    """Return a value whose every name and leaf is written in one way."""
    if isinstance(value, Mapping):
        pairs = ([_name(look(name)), _plain(item, look)] for name, item in value.items())
        return sorted(pairs, key=canonical_json)
    if isinstance(value, list):
        return [_plain(item, look) for item in value]
    if value is None or (isinstance(value, float) and not value.is_integer()):
        return value
    return _forms(value, look)[0]


def _name(field: str) -> str:
    return _GAP.sub(_parted, normalise(field)) or field


def _parted(gap: re.Match[str]) -> str:
    """Keep two numbers of a name apart, so that `v1.1` is not `v11`."""
    before, after = gap.string[gap.start() - 1], gap.string[gap.end()]
    return "." if before.isdigit() and after.isdigit() else ""


def _folded(text: str) -> str:
    said = _QUOTES.sub("", normalise(visible(text)))
    plain = " ".join(_SENTENCE_MARKS.sub(" ", said).split())
    joined = plain if plain.isascii() else _ARABIC_GAP.sub("", plain)
    return joined or text.strip()
