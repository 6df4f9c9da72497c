"""Puts our session in the place of the Agents SDK's own: a scope and a database file each.

The suites make a session of `session_id` and `db_path`, and two of the same file see one store, so
memories are shared by path here. `OPENAI_SESSION` says which of the SDK's classes is replaced.
With `CONFORMANCE_POSTGRES`, the place of a store in PostgreSQL, each file stands for a user of it.
"""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from itertools import count
from pathlib import Path
from typing import Any

import agents
import agents.extensions.memory
import agents.extensions.memory.async_sqlite_session
import agents.memory
import agents.memory.sqlite_session

import muniment
from muniment import Memory, Scope
from muniment.adapters.openai_agents import MunimentSession
from muniment.errors import StoreClosedError
from muniment.storage import Postgres

_POSTGRES = json.loads(os.environ.get("CONFORMANCE_POSTGRES", "null"))
_numbers = count()
_OPENED: dict[Path, Memory] = {}
_USERS: Counter[Path] = Counter()


def _scope() -> Scope:
    return Scope("acme", f"user_{next(_numbers)}", "suite")


_SCOPES: defaultdict[Path, Scope] = defaultdict(_scope)


def _open(path: str | Path, *, sealed: bool | None) -> Memory:
    if _POSTGRES:
        return muniment.open(Postgres(**_POSTGRES), embedder="none")
    return muniment.open(path, embedder="none", sealed=sealed)


def _memory(db_path: str | Path) -> tuple[Path, Memory]:
    path = Path(f"{db_path}.muniment")
    if path not in _OPENED:
        _OPENED[path] = _open(path, sealed=True)
    _USERS[path] += 1
    return path, _OPENED[path]


class SuiteSession(MunimentSession):
    """Our session with the constructor of the SDK's."""

    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        *_: object,
        session_settings: Any = None,
    ) -> None:
        self._path: Path | None = None
        if str(db_path) == ":memory:":
            memory, scope = _open(":memory:", sealed=None), _scope()
        else:
            self._path, memory = _memory(db_path)
            scope = _SCOPES[self._path]
        self._opened = memory
        super().__init__(session_id, memory, scope=scope, session_settings=session_settings)

    async def add_items(self, items: Any, **context: Any) -> None:
        """Append items; the SDK's own words when it is closed."""
        try:
            await super().add_items(items, **context)
        except StoreClosedError as closed:
            raise RuntimeError("SQLiteSession is closed") from closed

    def close(self) -> None:
        """Close the memory with its last user."""
        if self._path is None:
            self._opened.close()
            return
        _USERS[self._path] -= 1
        if not _USERS[self._path]:
            _OPENED.pop(self._path).close()


class AsyncSuiteSession(SuiteSession):
    """The same, closed by awaiting."""

    async def close(self) -> None:  # type: ignore[override]
        """Close the memory with its last user."""
        super().close()


if os.environ["OPENAI_SESSION"] == "sync":
    for place in (agents, agents.memory, agents.memory.sqlite_session):
        place.SQLiteSession = SuiteSession  # type: ignore[attr-defined]
else:
    for other in (agents.extensions.memory, agents.extensions.memory.async_sqlite_session):
        other.AsyncSQLiteSession = AsyncSuiteSession  # type: ignore[attr-defined]
