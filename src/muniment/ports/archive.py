"""What export and import need of a store: everything of an owner, in order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol, TypeAlias

from muniment.ports.rows import NewTombstone, OwnerState
from muniment.records import AuditEntry, JSONValue, Record
from muniment.results import Candidate

OldTables: TypeAlias = Callable[[Path, Sequence[str]], Mapping[str, list[Mapping[str, object]]]]
"""Reads the rows of the named tables of another system's database, as far as it has them."""


class ArchivedRecord(NamedTuple):
    """A record with the instant at which it was replaced, or None; for export."""

    record: Record
    superseded_at: int | None


class ImportedEntry(NamedTuple):
    """An audit entry of another store's chain; the chain is named by the digest of its first."""

    chain: str
    entry: AuditEntry


class ImportedReceipt(NamedTuple):
    """The content of a receipt that another store issued."""

    receipt_id: str
    content: Mapping[str, JSONValue]


class ArchiveView(Protocol):
    """The part of a snapshot that export and import read."""

    def owners_of_user(self, tenant_id: str, user_id: str) -> list[OwnerState]:
        """Return every scope of one user and the user's own space, ordered by type and agent."""
        ...

    def archived_records(
        self, owner: OwnerState, after: int, limit: int, now: int
    ) -> list[ArchivedRecord]:
        """Return up to `limit` records with a seq above `after`, oldest first, any status."""
        ...

    def archived_candidates(self, owner: OwnerState, after: int, limit: int) -> list[Candidate]:
        """Return up to `limit` candidates with a seq above `after`, oldest first, any status."""
        ...

    def tombstones(
        self, owner: OwnerState, after: tuple[str, str, bytes], limit: int
    ) -> list[NewTombstone]:
        """Return up to `limit` tombstones above a memory_id, reason and value digest, in order."""
        ...

    def has_tombstone(self, owner: OwnerState, tombstone: NewTombstone) -> bool:
        """Return whether the owner has this tombstone, whenever it was made."""
        ...

    def buried_id(self, owner: OwnerState, memory_id: str) -> frozenset[str]:
        """Return the reasons of every tombstone of a record or candidate."""
        ...

    def is_taken(self, owner: OwnerState, item_id: str) -> bool:
        """Return whether another owner of the tenant has a record or candidate with this id."""
        ...

    def imported_audit(self, owner: OwnerState, after: int, limit: int) -> list[ImportedEntry]:
        """Return up to `limit` imported audit entries after the first `after`, in file order."""
        ...

    def imported_receipts(self, owner: OwnerState, after: str, limit: int) -> list[ImportedReceipt]:
        """Return up to `limit` imported receipts with an id above `after`, by id."""
        ...


class ArchiveWriter(Protocol):
    """The part of a transaction that only import writes."""

    def append_imported_audit(self, owner: OwnerState, imported: ImportedEntry) -> bool:
        """Keep an audit entry of another store; return whether it was new here."""
        ...

    def keep_receipt(self, owner: OwnerState, receipt: ImportedReceipt) -> bool:
        """Keep a receipt of another store; return whether it was new here."""
        ...
