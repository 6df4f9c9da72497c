"""Databases as applications leave them that kept their agents' memory in tables of their own."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

SECOND = """
CREATE TABLE durable_memory_v2 (
    id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, agent_id TEXT NOT NULL,
    kind TEXT NOT NULL, text TEXT NOT NULL, source_id TEXT NOT NULL, created_at TEXT NOT NULL,
    expires_at_epoch REAL, embedding_json TEXT NOT NULL,
    UNIQUE (tenant_id, user_id, agent_id, source_id))
"""
FIRST = """
CREATE TABLE durable_memory (
    id TEXT PRIMARY KEY, tenant_id TEXT NOT NULL, user_id TEXT NOT NULL, agent_id TEXT NOT NULL,
    kind TEXT NOT NULL, text TEXT NOT NULL, source_id TEXT NOT NULL, created_at TEXT NOT NULL,
    expires_at TEXT, embedding_json TEXT NOT NULL)
"""
FACTS = """
CREATE TABLE memories (
    user_id TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, UNIQUE (user_id, key))
"""
INSERTS = {
    table: f"INSERT INTO {table} VALUES (:id, :tenant_id, :user_id, :agent_id, :kind, :text, "
    f":source_id, :created_at, :{expiry}, :embedding_json)"
    for table, expiry in (
        ("durable_memory_v2", "expires_at_epoch"),
        ("durable_memory", "expires_at"),
    )
}


def row(number: int, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a row of a durable memory table, with a made-up embedding."""
    plain: dict[str, Any] = {
        "id": f"mem_{number:032x}",
        "tenant_id": "acme",
        "user_id": "user_42",
        "agent_id": "helper",
        "kind": "preference",
        "text": f"Statement {number}.",
        "source_id": f"profile_{number}",
        "created_at": f"2026-07-27T10:00:{number:02}+00:00",
        "expires_at": None,
        "expires_at_epoch": None,
        "embedding_json": json.dumps([0.1 * number, 1.0]),
    }
    return plain | changes


def made(
    path: Path,
    second: Iterable[Mapping[str, Any]] = (),
    first: Iterable[Mapping[str, Any]] = (),
    facts: Iterable[tuple[str, str, str]] = (),
) -> Path:
    """Make a database as an old application leaves it."""
    with closing(sqlite3.connect(path)) as db:
        for table, script, rows in (
            ("durable_memory_v2", SECOND, list(second)),
            ("durable_memory", FIRST, list(first)),
        ):
            if rows:
                db.execute(script)
                db.executemany(INSERTS[table], rows)
        known = list(facts)
        if known:
            db.execute(FACTS)
            db.executemany("INSERT OR REPLACE INTO memories VALUES (?, ?, ?)", known)
        db.commit()
    return path


def bytes_of(folder: Path) -> dict[str, str]:
    """Return the digest of every file in a folder."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
