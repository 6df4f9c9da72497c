"""Runs of digits in a folded text, and the numbers that their groups may spell."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

_RUN = re.compile(r"\d+(?:[\s.\-]{1,3}\d+)*")
_DAY = re.compile(r"(?<!\d)(?:19|20)\d\d([.-])(?:0\d|1[0-2])\1[0-3]\d(?!\d)")
_GROUP = re.compile(r"\d+")
SHORTEST = 9
LONGEST = 24
LONGEST_RUN = 64
"""A run of more groups is a table: read are its whole groups and lines of four times four."""

Span = tuple[int, int]


class Number(NamedTuple):
    """Digits without what parts them, and where they stand in the folded text."""

    digits: str
    start: int
    end: int


def numbers(text: str) -> Iterator[Number]:
    """Yield every number of 9 to 24 digits that consecutive groups of digits may spell.

    Groups are parted by up to three spaces, line breaks, dashes or dots. Single digits
    stand only at the ends, unless the whole run is spelled digit by digit.
    """
    for run in _RUN.finditer(text):
        start, end = run.span()
        if end - start >= SHORTEST and not _attached(text, start, end):
            for groups in _parts(text, start, end):
                yield from _spelled(text, groups)


def _spelled(text: str, groups: Sequence[Span]) -> Iterator[Number]:
    for first, last in _windows(text, groups):
        number = _joined(text, groups[first : last + 1])
        if not (first == last and _fraction(text, number)):
            yield number


def _parts(text: str, start: int, end: int) -> Iterator[Sequence[Span]]:
    """Yield the groups of a run between its dates, without the hour or minute of a time."""
    for day in (*_DAY.finditer(text, start, end), None):
        stop = day.start() if day else end
        if stop - start >= SHORTEST:
            groups = [group.span() for group in _GROUP.finditer(text, start, stop)]
            if text[start - 1 : start] == ":":
                groups = groups[1:]
            if text[end : end + 1] == ":" and stop == end:
                groups = groups[:-1]
            if groups and groups[-1][1] - groups[0][0] - len(groups) >= SHORTEST - 1:
                yield groups
        start = day.end() if day else end


def _attached(text: str, start: int, end: int) -> bool:
    """Tell whether a run continues a word of Latin letters."""
    before, after = text[start - 1 : start], text[end : end + 1]
    return any(side == "_" or (side.isascii() and side.isalpha()) for side in (before, after))


def _fraction(text: str, number: Number) -> bool:
    before = text[max(0, number.start - 2) : number.start]
    after = text[number.end : number.end + 2]
    return (before[-1:] == "." and before[:1].isdigit()) or (
        after[:1] == "." and after[1:].isdigit()
    )


def _joined(text: str, groups: Sequence[Span]) -> Number:
    return Number("".join(text[a:b] for a, b in groups), groups[0][0], groups[-1][1])


def _windows(text: str, groups: Sequence[Span]) -> Iterator[tuple[int, int]]:
    sizes = [end - start for start, end in groups]
    if len(groups) > LONGEST_RUN:
        yield from _table_windows(text, groups, sizes)
        return
    if len(groups) > 1 and max(sizes) == 1:
        if SHORTEST <= len(groups) <= LONGEST:
            yield 0, len(groups) - 1
        return
    for first in range(len(groups)):
        total = 0
        for last in range(first, len(groups)):
            total += sizes[last]
            if total > LONGEST:
                break
            if total >= SHORTEST:
                yield first, last
            if sizes[last] == 1 and last > first:
                break


def _table_windows(
    text: str, groups: Sequence[Span], sizes: Sequence[int]
) -> Iterator[tuple[int, int]]:
    row = max(sizes) >= 4
    for index, size in enumerate(sizes if row else ()):
        if SHORTEST <= size <= LONGEST:
            yield index, index
        elif row and sizes[index : index + 4] == [4, 4, 4, 4]:
            yield index, index + 3
        row = text[groups[index][1]] == "\n" if index + 1 < len(groups) else False
