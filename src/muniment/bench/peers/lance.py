"""LanceDB: one table without an approximate index, filtered before the search."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from muniment.bench.peers import Owner
from muniment.bench.sample import DIMENSIONS, RandomEmbedder


class Lance:
    """A table with the owner in three columns."""

    def __init__(self, table: Any, embedder: RandomEmbedder) -> None:
        self._table = table
        self._embedder = embedder

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add all at once."""
        tenant, user, agent = owner
        self._table.add(
            [
                {
                    "tenant": tenant,
                    "user": user,
                    "agent": agent,
                    "one": one,
                    "text": text,
                    "vector": self._embedder.embed_query(text),
                }
                for one, text in zip(ids, texts, strict=True)
            ]
        )

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest."""
        tenant, user, agent = owner
        within = f"tenant = '{tenant}' AND user = '{user}' AND agent = '{agent}'"
        asked = self._table.search(self._embedder.embed_query(query)).distance_type("cosine")
        asked = asked.where(within, prefilter=True).select(["one", "text"]).limit(limit)
        return [row["one"] for row in asked.to_list()]

    def close(self) -> None:
        """Nothing needs closing."""


def open_lance(folder: Path, embedder: RandomEmbedder) -> Lance:
    """Open it on an empty folder."""
    os.environ.setdefault("LANCE_LOG", "error")
    arrow = import_module("pyarrow")
    names = ("tenant", "user", "agent", "one", "text")
    columns = [(name, arrow.string()) for name in names]
    columns.append(("vector", arrow.list_(arrow.float32(), DIMENSIONS)))
    database = import_module("lancedb").connect(str(folder))
    return Lance(database.create_table("bench", schema=arrow.schema(columns)), embedder)
