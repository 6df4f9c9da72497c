"""The simplest thing that works: JSON lines, and cosine in plain Python."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from muniment.bench.peers import Owner
from muniment.bench.sample import RandomEmbedder


class Rows:
    """One file of JSON lines an owner; each recall reads it and compares number by number."""

    def __init__(self, folder: Path, embedder: RandomEmbedder) -> None:
        self._folder = folder
        self._embedder = embedder

    def _file(self, owner: Owner) -> Path:
        return self._folder / f"{json.dumps(owner).encode().hex()}.jsonl"

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Append a line a text."""
        with self._file(owner).open("a", encoding="utf-8") as lines:
            for one, text in zip(ids, texts, strict=True):
                vector = self._embedder.embed_query(text).tolist()
                lines.write(json.dumps({"id": one, "text": text, "vector": vector}) + "\n")

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest."""
        asked = self._embedder.embed_query(query).tolist()
        with self._file(owner).open(encoding="utf-8") as lines:
            rows = map(json.loads, lines)
            found = sorted(
                ((_cosine(asked, row["vector"]), row["id"]) for row in rows), reverse=True
            )
        return [one for _, one in found[:limit]]

    def close(self) -> None:
        """Nothing is open."""


def _cosine(one: list[float], other: list[float]) -> float:
    inner = sum(a * b for a, b in zip(one, other, strict=True))
    return inner / math.sqrt(sum(a * a for a in one) * sum(b * b for b in other))


def open_rows(folder: Path, embedder: RandomEmbedder) -> Rows:
    """Open it on an empty folder."""
    return Rows(folder, embedder)
