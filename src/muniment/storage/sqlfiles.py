"""Reads named SQL from files, so that no statement is ever built from a string."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_HEADER = re.compile(r"^-- name: (\w+)\n-- (.+)\n", re.MULTILINE)
_MIGRATION = re.compile(r"(\d{4})_\w+\.sql")


def _read(dialect: str, *parts: str) -> str:
    return files(__package__).joinpath("sql", dialect, *parts).read_text(encoding="utf-8")


@cache
def queries(dialect: str) -> Mapping[str, str]:
    """Return the statements of a dialect by name.

    Args:
        dialect: Name of a folder under `sql`, such as `sqlite`.
    """
    _, *pieces = _HEADER.split(_read(dialect, "queries.sql"))
    return {
        name: body.strip()
        for name, _, body in zip(pieces[::3], pieces[1::3], pieces[2::3], strict=True)
    }


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
