"""Puts our checkpointer in the place of LangGraph's SQLite ones."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import ModuleType

import langgraph.checkpoint.sqlite as in_sqlite
import langgraph.checkpoint.sqlite.aio as in_sqlite_async

import muniment
from muniment.adapters.langgraph import MunimentSaver

SEALED = bool(os.environ.get("CONFORMANCE_SEALED"))


class Saver(MunimentSaver):
    """Ours, made as the SQLite checkpointer is."""

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn_string: str) -> Iterator[Saver]:  # type: ignore[override]
        if conn_string != ":memory:":
            conn_string = str(Path(tempfile.mkdtemp()) / "saver.db")
        with muniment.open(conn_string, embedder="none", sealed=SEALED or None) as memory:
            yield cls(memory.scoped(tenant_id="tenant", user_id="user", agent_id="agent"))


class AsyncSaver(Saver):
    """Ours, made as the asynchronous SQLite checkpointer is."""

    @classmethod
    @asynccontextmanager
    async def from_conn_string(  # type: ignore[override]
        cls, conn_string: str
    ) -> AsyncIterator[AsyncSaver]:
        with super().from_conn_string(conn_string) as saver:
            assert isinstance(saver, AsyncSaver)
            yield saver


REPLACED: dict[tuple[ModuleType, str], object] = {
    (in_sqlite, "SqliteSaver"): Saver,
    (in_sqlite_async, "AsyncSqliteSaver"): AsyncSaver,
}
for (module, name), ours in REPLACED.items():
    setattr(module, name, ours)
