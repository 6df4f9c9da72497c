"""Looks for bytes in files, in a process of its own: the files may be open in the tests' process.

Usage: python scan.py FOLDER < NEEDLES

Every line of NEEDLES is looked for as UTF-8, as UTF-16 and as JSON. Prints what was found where.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path


def forms(needle: str) -> Iterator[bytes]:
    yield needle.encode()
    yield needle.encode("utf-16-le")
    yield needle.encode("utf-16-be")
    yield json.dumps(needle)[1:-1].encode()


def main() -> None:
    needles = sys.stdin.read().splitlines()
    for path in sorted(Path(sys.argv[1]).rglob("*")):
        if path.is_file():
            held = path.read_bytes()
            for needle in needles:
                if any(form in held for form in forms(needle)):
                    sys.stdout.write(f"{path.name} {needle}\n")


if __name__ == "__main__":
    main()
