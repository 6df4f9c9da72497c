"""Puts our checkpointer and store under LangGraph's own engine tests.

The suite's fixtures take them from functions of its `conftest`; those are replaced by name. What
encrypts by itself gets our checkpointer with LangGraph's encrypting serialiser.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import pytest
from langgraph.checkpoint.serde.encrypted import EncryptedSerializer

import muniment
from muniment.adapters.langgraph import MunimentSaver, MunimentStore

SEALED = bool(os.environ.get("CONFORMANCE_SEALED"))


@contextmanager
def _memory() -> Iterator[muniment.ScopedMemory]:
    with muniment.open(":memory:", embedder="none", sealed=SEALED or None) as memory:
        yield memory.scoped(tenant_id="tenant", user_id="user", agent_id="agent")


@contextmanager
def _saver() -> Iterator[MunimentSaver]:
    with _memory() as memory:
        yield MunimentSaver(memory)


@contextmanager
def _encrypting_saver() -> Iterator[MunimentSaver]:
    serde = EncryptedSerializer.from_pycryptodome_aes(key=b"1234567890123456")
    with _memory() as memory:
        yield MunimentSaver(memory, serde=serde)


@asynccontextmanager
async def _async_saver() -> AsyncIterator[MunimentSaver]:
    with _saver() as saver:
        yield saver


@contextmanager
def _store() -> Iterator[MunimentStore]:
    with _memory() as memory:
        yield MunimentStore(memory)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Drop the cases of LangGraph's in-memory checkpointer, some of which look into it."""
    items[:] = [item for item in items if "memory" not in _parameters(item)]


def _parameters(item: pytest.Item) -> set[object]:
    case = getattr(item, "callspec", None)
    given = {} if case is None else case.params
    return {given.get(name) for name in ("sync_checkpointer", "async_checkpointer")}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Replace what the fixtures call, once the suite's modules are there."""
    replacements: dict[str, object] = {
        "_checkpointer_sqlite": _saver,
        "_checkpointer_sqlite_aes": _encrypting_saver,
        "_checkpointer_sqlite_aio": _async_saver,
        "_store_memory": _store,
    }
    conftest = sys.modules["tests.conftest"]
    for name, ours in replacements.items():
        setattr(conftest, name, ours)
