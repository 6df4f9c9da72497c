"""Looks for bytes in files, in a process of its own: the files may be open in the tests' process.

Usage: python scan.py FOLDER < NEEDLES

Every line of NEEDLES is looked for as UTF-8, as UTF-16 and as JSON. Prints what was found where.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

TAIL = 8
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
SHIFT = np.uint64(40)


def forms(needle: str) -> Iterator[bytes]:
    yield needle.encode()
    yield needle.encode("utf-16-le")
    yield needle.encode("utf-16-be")
    yield json.dumps(needle)[1:-1].encode()


class Scanner:
    """Finds many needles in one pass, whatever their number.

    The last eight bytes of every form are numbers of a set; so is every place of what is
    searched. Where a number is in the set, the whole form is compared, so nothing is guessed.

    Args:
        needles: What is looked for.
    """

    def __init__(self, needles: Iterable[str]) -> None:
        self._short: dict[bytes, str] = {}
        self._by_tail: defaultdict[int, dict[bytes, str]] = defaultdict(dict)
        for needle in needles:
            for form in forms(needle):
                if len(form) < TAIL:
                    self._short[form] = needle
                else:
                    self._by_tail[int.from_bytes(form[-TAIL:], "little")][form] = needle
        self._tails = np.array(sorted(self._by_tail), dtype=np.uint64)
        self._likely = np.zeros(1 << 24, dtype=bool)
        self._likely[(self._tails * MULTIPLIER) >> SHIFT] = True

    def found(self, held: bytes) -> set[str]:
        """Return the needles of which some form is in the bytes."""
        seen = {needle for form, needle in self._short.items() if form in held}
        for start in range(TAIL):
            count = (len(held) - start) // TAIL
            if count <= 0:
                break
            window = np.frombuffer(held, dtype="<u8", count=count, offset=start)
            likely = np.flatnonzero(self._likely[(window * MULTIPLIER) >> SHIFT])
            there = window[likely]
            sure = likely[self._tails[np.searchsorted(self._tails[:-1], there)] == there]
            for place in sure.tolist():
                end = start + (place + 1) * TAIL
                seen.update(self._ending(held, end, int(window[place])))
        return seen

    def _ending(self, held: bytes, end: int, tail: int) -> Iterator[str]:
        for form, needle in self._by_tail[tail].items():
            if held.endswith(form, 0, end):
                yield needle


def main() -> None:
    scanner = Scanner(sys.stdin.read().splitlines())
    for path in sorted(Path(sys.argv[1]).rglob("*")):
        if path.is_file():
            for needle in sorted(scanner.found(path.read_bytes())):
                sys.stdout.write(f"{path.name} {needle}\n")


if __name__ == "__main__":
    main()
