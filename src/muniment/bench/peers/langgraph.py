"""LangGraph's `InMemoryStore`, `SqliteStore` and `PostgresStore`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from muniment.bench.peers import Owner
from muniment.bench.sample import DIMENSIONS, RandomEmbedder


class Store:
    """A LangGraph store; the owner is its namespace."""

    def __init__(self, store: Any, stack: ExitStack) -> None:
        self._store = store
        self._stack = stack
        self._put = import_module("langgraph.store.base").PutOp

    def add(self, owner: Owner, ids: Sequence[str], texts: Sequence[str]) -> None:
        """Put every text in one batch."""
        pairs = zip(ids, texts, strict=True)
        self._store.batch([self._put(owner, one, {"text": text}) for one, text in pairs])

    def recall(self, owner: Owner, query: str, limit: int) -> list[str]:
        """Return the keys of the nearest."""
        return [item.key for item in self._store.search(owner, query=query, limit=limit)]

    def close(self) -> None:
        """Close the connection."""
        self._stack.close()


def _index(embedder: RandomEmbedder) -> dict[str, Any]:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [embedder.embed_query(text).tolist() for text in texts]

    return {"dims": DIMENSIONS, "embed": embed, "fields": ["text"], "text_fields": ["text"]}


def open_memory(folder: Path, embedder: RandomEmbedder) -> Store:
    """Open a store in memory."""
    del folder
    module = import_module("langgraph.store.memory")
    return Store(module.InMemoryStore(index=_index(embedder)), ExitStack())


def open_sqlite(folder: Path, embedder: RandomEmbedder) -> Store:
    """Open a store in a file; it loads an extension, which not every Python's SQLite can."""
    if find_spec("pysqlite3"):
        sys.modules["sqlite3"] = import_module("pysqlite3")
    module, stack = import_module("langgraph.store.sqlite"), ExitStack()
    path = str(folder / "store.db")
    store = stack.enter_context(module.SqliteStore.from_conn_string(path, index=_index(embedder)))
    store.setup()
    return Store(store, stack)


def open_postgres(url: str, embedder: RandomEmbedder) -> Store:
    """Open a store in a database; its role may make the extension `vector`."""
    module, stack = import_module("langgraph.store.postgres"), ExitStack()
    store = module.PostgresStore.from_conn_string(url, index=_index(embedder))
    opened = stack.enter_context(store)
    opened.setup()
    return Store(opened, stack)
