"""Chroma's persistent client: one collection, owners as metadata."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from muniment.bench.peers import Owner
from muniment.bench.sample import RandomEmbedder

_BATCH = 1000
_PARTS = ("tenant", "user", "agent")


class Chroma:
    """A collection with a filter on the owner."""

    def __init__(self, collection: Any, embedder: RandomEmbedder) -> None:
        self._collection = collection
        self._embedder = embedder

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add in batches."""
        whose = dict(zip(_PARTS, owner, strict=True))
        for start in range(0, len(ids), _BATCH):
            batch = list(texts[start : start + _BATCH])
            self._collection.add(
                ids=list(ids[start : start + _BATCH]),
                embeddings=np.stack([self._embedder.embed_query(text) for text in batch]),
                documents=batch,
                metadatas=[whose] * len(batch),
            )

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest."""
        whose = [{name: part} for name, part in zip(_PARTS, owner, strict=True)]
        found = self._collection.query(
            query_embeddings=[self._embedder.embed_query(query)],
            n_results=limit,
            where={"$and": whose},
            include=["documents", "distances"],
        )
        ids: list[str] = found["ids"][0]
        return ids

    def close(self) -> None:
        """Nothing needs closing."""


def open_chroma(folder: Path, embedder: RandomEmbedder) -> Chroma:
    """Open it on an empty folder."""
    settings = import_module("chromadb.config").Settings(anonymized_telemetry=False)
    client = import_module("chromadb").PersistentClient(path=str(folder), settings=settings)
    collection = client.get_or_create_collection(
        "bench", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    return Chroma(collection, embedder)
