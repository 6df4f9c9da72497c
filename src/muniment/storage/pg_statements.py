"""SQLite's and PostgreSQL's common statements as PostgreSQL's driver wants them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from muniment.storage.sqlfiles import queries

_NAME = re.compile(r"(?<!:):([a-z_]+)")
_HINT = re.compile(r" INDEXED BY \w+")
_GIVES_ROWS = re.compile(r"^\s*(?:SELECT|WITH)\b|\bRETURNING\b", re.IGNORECASE)


class Wide(StrEnum):
    """How far a statement must see beyond the owners it names."""

    NO = ""
    TENANT = "tenant"
    STORE = "store"


_WIDE = {
    Wide.TENANT: frozenset(
        {
            "deletion",
            "insert_owner",
            "lock_tenant",
            "owners_of_user",
            "receipt",
            "receipt_by_number",
            "receipt_head",
            "taken_id",
            "tenant_receipts",
        }
    ),
    Wide.STORE: frozenset({"ended_rows", "expired", "open_deletions", "owners", "whole_owners"}),
}
"""The statements that row-level security lets see more than the owners of their transaction.

Nothing else may: a statement that forgets its owner and is not listed here finds nothing foreign.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and what its transaction must do for it first.

    Attributes:
        name: Its name.
        text: Its text with the driver's placeholders.
        wide: How far it must see.
        gives_rows: Whether anybody waits for what it gives.
    """

    name: str
    text: str
    wide: Wide
    gives_rows: bool


def translate(text: str) -> str:
    """Return a statement with the driver's placeholders and without hints to SQLite."""
    return _NAME.sub(r"%(\1)s", _HINT.sub("", text).replace("%", "%%"))


def _statement(name: str, text: str) -> Statement:
    wide = next((reach for reach, names in _WIDE.items() if name in names), Wide.NO)
    return Statement(name, translate(text), wide, bool(_GIVES_ROWS.search(text)))


@cache
def statements() -> Mapping[str, Statement]:
    """Return every statement by its text in the files."""
    every = {**queries("postgres"), **queries("copying")}
    return {text: _statement(name, text) for name, text in every.items()}


@cache
def own_statements() -> Mapping[str, Statement]:
    """Return the statements that only PostgreSQL's sessions run, by name."""
    return {name: _statement(name, text) for name, text in queries("wall").items()}
