"""How the tests of forgetting look at what is left."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from muniment import Receipt, ScopedMemory

EVERYTHING = {"minimum_score": -1.0, "limit": 1000, "budget": None}


def readable(me: ScopedMemory) -> set[str]:
    """Return every text that any way of reading gives."""
    listed = me.list(limit=1000, superseded=True)
    recalled = me.recall("tea", minimum_score=-1.0, limit=1000, budget=None)
    asked = me.recall("What do you know about me?", minimum_score=-1.0, limit=1000, budget=None)
    texts = {record.text for record in listed}
    texts |= {item.record.text for item in (*recalled, *asked)}
    for status in ("pending", "approved", "rejected", "lapsed"):
        texts |= {one.statement.text for one in me.candidates(status=status)}
    return texts


def surfaces(receipt: Receipt) -> dict[str, tuple[int, int, int]]:
    """Return what a receipt found, removed and read back, by surface."""
    return {one.name: (one.found, one.removed, one.left) for one in receipt.surfaces}


def steps(receipt: Receipt) -> list[str]:
    """Return the steps that a receipt says are done."""
    return [name for name, _ in receipt.states]


def spellings(text: str) -> list[bytes]:
    """Return a text's bytes in every encoding in which a file may hold it."""
    return [
        text.encode(),
        text.encode("utf-16-le"),
        text.encode("utf-16-be"),
        json.dumps(text).strip('"').encode(),
    ]


def scan(path: Path, needles: Sequence[bytes]) -> dict[str, list[int]]:
    """Return how often each file of a database holds each needle, as another process sees it."""
    done = subprocess.run(
        [sys.executable, "-m", "muniment.storage.bytescan", str(path)],
        input="\n".join(needle.hex() for needle in needles),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr
    found: dict[str, list[int]] = json.loads(done.stdout)
    return found
