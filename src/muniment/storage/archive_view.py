"""Everything of an owner in order, for export and import, over one connection."""

from __future__ import annotations

import json

from muniment.clock import to_instant
from muniment.ports import (
    ArchivedRecord,
    ImportedEntry,
    ImportedReceipt,
    NewTombstone,
    OwnerState,
)
from muniment.records import canonical_json
from muniment.results import Candidate
from muniment.storage.base import to_audit_entry, to_candidate, to_owner, to_record
from muniment.storage.rows_view import key_of
from muniment.storage.threads_view import ThreadSnapshot, ThreadTransaction

_ENTRY = ("number", "at", "actor", "action", "memory_ids", "reason", "digest")


class ArchiveSnapshot(ThreadSnapshot):
    """A consistent view of everything that an export holds."""

    def owners_of_user(self, tenant_id: str, user_id: str) -> list[OwnerState]:
        """Return every scope of one user and the user's own space."""
        values = {"tenant_id": tenant_id, "user_id": user_id}
        return [to_owner(row) for row in self._all("owners_of_user", values)]

    def archived_records(
        self, owner: OwnerState, after: int, limit: int, now: int
    ) -> list[ArchivedRecord]:
        """Return records with a seq above `after`, oldest first."""
        values = {**key_of(owner), "after": after, "limit": limit}
        rows = self._checked("records", "archived_records", values)
        return [
            ArchivedRecord(to_record(row, owner.owner, now), row["superseded_at"]) for row in rows
        ]

    def archived_candidates(self, owner: OwnerState, after: int, limit: int) -> list[Candidate]:
        """Return candidates with a seq above `after`, oldest first."""
        values = {**key_of(owner), "after": after, "limit": limit}
        rows = self._checked("candidates", "archived_candidates", values)
        return [to_candidate(row, owner.owner) for row in rows]

    def tombstones(
        self, owner: OwnerState, after: tuple[str, str, bytes], limit: int
    ) -> list[NewTombstone]:
        """Return tombstones above a memory_id, reason and value digest, in order."""
        names = ("memory_id", "reason", "value_digest")
        values = {**key_of(owner), **dict(zip(names, after, strict=True)), "limit": limit}
        return [NewTombstone(*row) for row in self._all("tombstone_page", values)]

    def has_tombstone(self, owner: OwnerState, tombstone: NewTombstone) -> bool:
        """Return whether the owner has this tombstone, whenever it was made."""
        values = {
            **key_of(owner),
            "memory_id": tombstone.memory_id,
            "reason": tombstone.reason,
            "value_digest": tombstone.value_digest,
        }
        return bool(self._all("tombstone_by_key", values))

    def buried_id(self, owner: OwnerState, memory_id: str) -> frozenset[str]:
        """Return the reasons of every tombstone of a record or candidate."""
        rows = self._all("tombstones_by_id", {**key_of(owner), "memory_id": memory_id})
        return frozenset(row[0] for row in rows)

    def is_taken(self, owner: OwnerState, item_id: str) -> bool:
        """Return whether another owner of the tenant has this id."""
        return bool(self._all("taken_id", {**key_of(owner), "item_id": item_id}))

    def imported_audit(self, owner: OwnerState, after: int, limit: int) -> list[ImportedEntry]:
        """Return imported audit entries after the first `after`, in file order."""
        values = {**key_of(owner), "after": after, "limit": limit}
        rows = self._checked("imported_audit", "imported_audit_page", values)
        return [
            ImportedEntry(row["chain"], to_audit_entry(tuple(row[name] for name in _ENTRY)))
            for row in rows
        ]

    def imported_receipts(self, owner: OwnerState, after: str, limit: int) -> list[ImportedReceipt]:
        """Return imported receipts with an id above `after`, by id."""
        values = {**key_of(owner), "after": after, "limit": limit}
        rows = self._checked("imported_receipts", "imported_receipt_page", values)
        return [ImportedReceipt(row["receipt_id"], json.loads(row["content"])) for row in rows]


class ArchiveTransaction(ArchiveSnapshot, ThreadTransaction):
    """A view that can also keep what only an import brings."""

    def append_imported_audit(self, owner: OwnerState, imported: ImportedEntry) -> bool:
        """Keep an audit entry of another store; return whether it was new here."""
        entry = imported.entry
        values = {
            **key_of(owner),
            "chain": imported.chain,
            "number": entry.number,
            "at": to_instant("at", entry.at),
            "actor": entry.actor,
            "action": entry.action,
            "memory_ids": canonical_json(list(entry.memory_ids)),
            "reason": entry.reason,
            "digest": bytes.fromhex(entry.digest),
        }
        return bool(self._all("insert_imported_audit", values))

    def keep_receipt(self, owner: OwnerState, receipt: ImportedReceipt) -> bool:
        """Keep a receipt of another store; return whether it was new here."""
        content = canonical_json(receipt.content)
        values = {**key_of(owner), "receipt_id": receipt.receipt_id, "content": content}
        return bool(self._all("insert_imported_receipt", values))
