"""mem0 with its default local vector store and `infer=False`, so that no model is asked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from muniment.bench.peers import Owner
from muniment.bench.sample import DIMENSIONS, RandomEmbedder


class Mem0:
    """mem0; it has no tenant, so tenant and user together are its user."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Add one text after the other: there is no other way."""
        tenant, user, agent = owner
        for one, text in zip(ids, texts, strict=True):
            self._memory.add(
                [{"role": "user", "content": text}],
                user_id=f"{tenant}-{user}",
                agent_id=agent,
                metadata={"one": one},
                infer=False,
            )

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the ids of the nearest."""
        tenant, user, agent = owner
        within = {"user_id": f"{tenant}-{user}", "agent_id": agent}
        found = self._memory.search(query, filters=within, top_k=limit, threshold=0.0)
        return [item["metadata"]["one"] for item in found["results"]]

    def close(self) -> None:
        """Close the history and the vector store."""
        self._memory.close()
        self._memory.vector_store.client.close()


def open_mem0(folder: Path, embedder: RandomEmbedder) -> Mem0:
    """Open it on an empty folder."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder / "home")
    os.environ.setdefault("OPENAI_API_KEY", "none is used")
    base = import_module("mem0.embeddings.base").EmbeddingBase
    factories = import_module("mem0.utils.factory")

    class Ours(base):  # type: ignore[misc, valid-type]
        def embed(self, text: str, memory_action: object = None) -> list[float]:
            del memory_action
            return list(map(float, embedder.embed_query(text)))

    factories.EmbedderFactory.create = classmethod(lambda *_, **__: Ours())
    store = {
        "collection_name": "bench",
        "path": str(folder / "qdrant"),
        "embedding_model_dims": DIMENSIONS,
        "on_disk": True,
    }
    return Mem0(
        import_module("mem0").Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "history_db_path": str(folder / "history.db"),
            }
        )
    )
