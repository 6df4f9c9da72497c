"""Qdrant's local mode on disk: one collection, owners as payload."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

from muniment.bench.peers import Owner
from muniment.bench.sample import DIMENSIONS, RandomEmbedder

_PARTS = ("tenant", "user", "agent")


class Qdrant:
    """A collection with a filter on the owner."""

    def __init__(self, client: Any, embedder: RandomEmbedder) -> None:
        self._client = client
        self._embedder = embedder
        self._models = import_module("qdrant_client.models")

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Upsert all at once."""
        whose = dict(zip(_PARTS, owner, strict=True))
        points = [
            self._models.PointStruct(
                id=str(uuid5(NAMESPACE_OID, one)),
                vector=self._embedder.embed_query(text).tolist(),
                payload={**whose, "one": one, "text": text},
            )
            for one, text in zip(ids, texts, strict=True)
        ]
        self._client.upsert("bench", points, wait=True)

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest."""
        models = self._models
        conditions = [
            models.FieldCondition(key=name, match=models.MatchValue(value=part))
            for name, part in zip(_PARTS, owner, strict=True)
        ]
        found = self._client.query_points(
            "bench",
            query=self._embedder.embed_query(query).tolist(),
            query_filter=models.Filter(must=conditions),
            limit=limit,
        )
        return [point.payload["one"] for point in found.points]

    def close(self) -> None:
        """Close the files."""
        self._client.close()


def open_qdrant(folder: Path, embedder: RandomEmbedder) -> Qdrant:
    """Open it on an empty folder."""
    client = import_module("qdrant_client").QdrantClient(path=str(folder))
    models = import_module("qdrant_client.models")
    size = models.VectorParams(size=DIMENSIONS, distance=models.Distance.COSINE)
    client.create_collection("bench", vectors_config=size)
    return Qdrant(client, embedder)
