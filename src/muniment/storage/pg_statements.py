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

_COPIED = frozenset(
    {
        "active_rows",
        "archived_candidates",
        "archived_entries",
        "archived_records",
        "archived_threads",
        "audit_page",
        "changed_rows",
        "facts",
        "gone_rows",
        "imported_audit_page",
        "imported_receipt_page",
        "page",
        "rows_as_of",
        "segment_blocks",
        "superseded_rows",
        "tombstone_page",
        "vector_blocks",
        "whole_records",
    }
)
"""The statements of recalls, lists and exports that may give much and depend on one owner alone.

An owner's own row covers all of them: every transaction that changes one of the rows stamps it
anew, with the digest of them all and the head of the audit chain.
"""


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, and what its transaction must do for it first.

    Attributes:
        name: Its name.
        text: Its text with the driver's placeholders.
        wide: How far it must see.
        gives_rows: Whether anybody waits for what it gives.
        is_copied: Whether a replica may give its rows.
    """

    name: str
    text: str
    wide: Wide
    gives_rows: bool
    is_copied: bool = False


def translate(text: str) -> str:
    """Return a statement with the driver's placeholders and without hints to SQLite."""
    return _NAME.sub(r"%(\1)s", _HINT.sub("", text).replace("%", "%%"))


def _statement(name: str, text: str) -> Statement:
    wide = next((reach for reach, names in _WIDE.items() if name in names), Wide.NO)
    gives_rows = bool(_GIVES_ROWS.search(text))
    return Statement(name, translate(text), wide, gives_rows, name in _COPIED)


@cache
def statements() -> Mapping[str, Statement]:
    """Return every statement by its text in the files."""
    every = {**queries("postgres"), **queries("copying")}
    return {text: _statement(name, text) for name, text in every.items()}


@cache
def own_statements() -> Mapping[str, Statement]:
    """Return the statements that only PostgreSQL's sessions run, by name."""
    return {name: _statement(name, text) for name, text in queries("wall").items()}
