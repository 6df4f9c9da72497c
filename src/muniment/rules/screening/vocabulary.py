"""Lists of words and phrases as fast patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_WORD = re.compile(r"[^\W_]+")
_UNSPACED = re.compile("[\u2e80-\ud7ff]")
_LAST = "(?![^\\W_])"
_BETWEEN = "[\\s_-]?"


class Vocabulary:
    """Words and phrases parted by `|`.

    A space in a phrase stands for any white space, a hyphen, an underscore or nothing. A trailing
    `*` lets the word go on. Words of a script without spaces may begin and end anywhere.

    Attributes:
        heads: How the words of a text may begin that holds one of the phrases.
    """

    __slots__ = ("_pattern", "_unspaced", "heads")

    def __init__(self, listing: str) -> None:
        phrases = [phrase.strip() for phrase in listing.split("|") if phrase.strip()]
        unspaced = [phrase for phrase in phrases if _UNSPACED.match(phrase)]
        spaced = [phrase for phrase in phrases if phrase not in unspaced]
        tree = _tree([_steps(phrase) for phrase in spaced])
        inner = "".join(f"|{re.escape(phrase.rstrip('*'))}" for phrase in unspaced)
        self._pattern = re.compile(f"(?<![^\\W_])(?:{tree}){inner}")
        self.heads = frozenset(head for phrase in spaced for head in _heads(phrase))
        self._unspaced = bool(unspaced)

    def may_occur(self, heads: frozenset[str]) -> bool:
        """Tell whether a text whose words begin as in `heads` may hold one of the phrases."""
        return self._unspaced or not self.heads.isdisjoint(heads)

    def within(self, text: str, start: int, end: int) -> bool:
        """Tell whether one of the phrases stands in a part of a text."""
        return self._pattern.search(text, max(0, start), end) is not None

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield where the phrases stand in a text."""
        for found in self._pattern.finditer(text):
            yield found.span()


@cache
def vocabulary(listing: str) -> Vocabulary:
    """Return the vocabulary of a list, made once."""
    return Vocabulary(listing)


def heads_of(text: str) -> frozenset[str]:
    """Return the first three and the first four letters of every word of a text."""
    words = set(_WORD.findall(text))
    return frozenset([word[:4] for word in words] + [word[:3] for word in words])


def _heads(phrase: str) -> tuple[str, str]:
    """Return how a word may begin that is the first of a phrase, or all of it written as one."""
    words = phrase.rstrip("*").split()
    return words[0][:4], "".join(words)[:4]


def _steps(phrase: str) -> list[str]:
    """Return a phrase as pieces of pattern: its letters, what may part its words, and its end."""
    words = phrase.rstrip("*").split()
    steps = [piece for word in words for piece in (*map(re.escape, word), _BETWEEN)][:-1]
    return steps if phrase.endswith("*") else [*steps, _LAST]


def _tree(paths: list[list[str]]) -> str:
    """Return an alternation whose branches share what they begin with."""
    if [] in paths:
        return ""
    branches: dict[str, list[list[str]]] = {}
    for path in paths:
        branches.setdefault(path[0], []).append(path[1:])
    parts = [first + _tree(rest) for first, rest in branches.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"
