"""Looks for bytes in a database's files. Run it as a process of its own, never inside one.

Usage: python -m muniment.storage.bytescan DATABASE < NEEDLES

A process that opens a live SQLite file by another path than its connection drops the locks of that
connection when it closes the file (sqlite.org/howtocorrupt.html, section 2.2). Needles are given
in hexadecimal, one a line, so that no text is on a command line; the output is one JSON object of
how often each file holds each of them, in order.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

SUFFIXES = ("", "-wal", "-journal")


def count_bytes(database: Path, needles: Sequence[bytes]) -> dict[str, list[int]]:
    """Return how often each file of a database holds each needle.

    Args:
        database: The main file; its log and its journal are looked at too, where they exist.
        needles: What to look for.
    """
    found = {}
    for suffix in SUFFIXES:
        file = database.with_name(database.name + suffix)
        if file.exists():
            content = file.read_bytes()
            found[file.name] = [content.count(needle) for needle in needles]
    return found


def main(arguments: Sequence[str]) -> int:
    """Read needles from the standard input and write the counts; return 1 if one was found."""
    if len(arguments) != 1 or not Path(arguments[0]).exists():
        sys.stderr.write("bytescan: give the path of one database that exists.\n")
        return 2
    needles = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    found = count_bytes(Path(arguments[0]), needles)
    sys.stdout.write(json.dumps(found) + "\n")
    return int(any(any(counts) for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
