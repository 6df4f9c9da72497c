"""Reads named SQL from files, so that no statement is ever built from a string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_HEADER = re.compile(r"^-- name: (\w+)\n-- (.+)\n", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql")


_SHARED = ("common", "queries.sql")
_DIALECTS = ("sqlite", "postgres")


def _read(*parts: str) -> str:
    return files(__package__).joinpath("sql", *parts).read_text(encoding="utf-8")


def sources(dialect: str) -> tuple[str, ...]:
    """Return the texts in which a dialect's statements stand.

    Args:
        dialect: `sqlite` or `postgres`, which share most statements and differ in `dialect.sql`,
            or another folder under `sql` with its own `queries.sql`.
    """
    if dialect in _DIALECTS:
        return (_read(*_SHARED), _read(dialect, "dialect.sql"))
    return (_read(dialect, "queries.sql"),)


@cache
def queries(dialect: str) -> Mapping[str, str]:
    """Return the statements of a dialect by name.

    Args:
        dialect: Name of a folder under `sql`, such as `sqlite`.
    """
    found: dict[str, str] = {}
    for text in sources(dialect):
        _, *pieces = _HEADER.split(text)
        bodies = zip(pieces[::3], pieces[2::3], strict=True)
        found.update((name, body.strip()) for name, body in bodies)
    return found


@cache
def schema(dialect: str) -> str:
    """Return the whole present schema of a dialect."""
    return _read(dialect, "schema.sql")


@cache
def migrations(dialect: str) -> tuple[tuple[int, str], ...]:
    """Return the migrations of a dialect in order, each with its number from 1."""
    folder = files(__package__).joinpath("sql", dialect, "migrations")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".sql"))
    found = []
    for number, name in enumerate(names, start=1):
        match = _MIGRATION.fullmatch(name)
        if match is None or int(match[1]) != number:
            raise AssertionError(f"migration {name} is not number {number:04}")
        found.append((number, _read(dialect, "migrations", name)))
    return tuple(found)
