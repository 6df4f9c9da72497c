"""Deletions, sweeps and receipts over one connection."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from muniment.ports import Deletion, ExpiredRow, Hidden, OwnerState, ReceiptLink
from muniment.records import JSONValue, Record, canonical_json
from muniment.rules.deletion import SURFACES, Step, Target, Waiting
from muniment.storage.archive_view import ArchiveSnapshot, ArchiveTransaction
from muniment.storage.rows_view import key_of

_ERASURE = (
    *("blocks", "contexts", "vectors", "words", "candidates", "records"),
    *("events", "checkpoints", "summaries", "items", "threads"),
)
"""The surfaces in the order in which foreign keys let them go.

A surface has two queries: `count_item_NAME` and `delete_item_NAME`. What keeps another copy of a
record, such as a summary or a thread, is added here, in `SURFACES` and with these two.
"""
_HIDING = 500


class DeletionSnapshot(ArchiveSnapshot):
    """A consistent view of deletions and receipts."""

    def hidden(self, owner: OwnerState, source_id: str) -> Hidden:
        """Return whether hidden records are not yet gone."""
        ((found, source),) = self._all("hidden", {**key_of(owner), "source_id": source_id})
        return Hidden(bool(found), bool(source))

    def inferred(self, owner: OwnerState, now: int) -> list[Record]:
        """Return the records of an owner that came out of a proposal."""
        seqs = [row[0] for row in self._all("inferred", key_of(owner))]
        return self.records(owner, seqs, now)

    def expired(self, now: int, limit: int) -> list[ExpiredRow]:
        """Return records of any owner past their expiry, not yet swept."""
        rows = self._all("expired", {"now": now, "limit": limit})
        owners = self._numbered() if rows else {}
        return [ExpiredRow(owners[tenant, number], *rest) for tenant, number, *rest in rows]

    def _numbered(self) -> dict[tuple[str, int], OwnerState]:
        return {(state.owner.tenant_id, state.owner_no): state for state in self.owners()}

    def deletion(self, tenant_id: str, deletion_id: str) -> list[Deletion]:
        """Return every owner's part of a deletion."""
        values = {"tenant_id": tenant_id, "deletion_id": deletion_id}
        return self._deletions("deletion", values)

    def deletion_state(self, owner: OwnerState, deletion_id: str) -> Step | None:
        """Return how far one part of a deletion has come."""
        row = self._one("deletion_state", {**key_of(owner), "deletion_id": deletion_id})
        return None if row is None else Step(row[0])

    def open_deletions(self) -> list[Deletion]:
        """Return every part of every deletion that is not verified as a whole."""
        return self._deletions("open_deletions", {})

    def _deletions(self, name: str, values: Mapping[str, Any]) -> list[Deletion]:
        rows = self._checked("deletions", name, values)
        owners = self._numbered() if rows else {}
        return [_to_deletion(row, owners[row["tenant_id"], row["owner_no"]]) for row in rows]

    def item_ids(self, owner: OwnerState, deletion_id: str, limit: int) -> list[str]:
        """Return memory_ids of an unfinished deletion."""
        values = {**key_of(owner), "deletion_id": deletion_id, "after": 0, "limit": limit}
        return [row[1] for row in self._all("item_page", values)]

    def count_traces(self, owner: OwnerState, deletion_id: str) -> dict[str, int]:
        """Return how many rows of a deletion's items each surface still has."""
        values = {**key_of(owner), "deletion_id": deletion_id}
        counted = {name: self._all(f"count_item_{name}", values) for name in SURFACES}
        return {name: int(rows[0][0]) for name, rows in counted.items()}

    def receipt(
        self, tenant_id: str, receipt_id: str
    ) -> tuple[int, Mapping[str, JSONValue]] | None:
        """Return the owner number and newest content of a receipt, or None."""
        values = {"tenant_id": tenant_id, "receipt_id": receipt_id}
        rows = self._checked("receipts", "receipt", values)
        return (rows[0]["owner_no"], json.loads(rows[0]["content"])) if rows else None

    def receipts(
        self, tenant_id: str, owner_no: int | None, limit: int
    ) -> list[Mapping[str, JSONValue]]:
        """Return the newest content of receipts, newest first."""
        values = {"tenant_id": tenant_id, "owner_no": owner_no, "limit": limit}
        name = "tenant_receipts" if owner_no is None else "owner_receipts"
        return [json.loads(row["content"]) for row in self._checked("receipts", name, values)]

    def receipt_link(self, tenant_id: str, number: int) -> ReceiptLink | None:
        """Return one link of a tenant's chain of receipts, or None."""
        values = {"tenant_id": tenant_id, "number": number}
        rows = self._checked("receipts", "receipt_by_number", values)
        links = [ReceiptLink(number, json.loads(row["content"]), row["digest"]) for row in rows]
        return links[0] if links else None

    def receipt_head(self, tenant_id: str) -> tuple[int, str]:
        """Return the number and digest of a tenant's last receipt."""
        row = self._one("receipt_head", {"tenant_id": tenant_id})
        return (0, "") if row is None else (row[0], row[1])


class DeletionTransaction(DeletionSnapshot, ArchiveTransaction):
    """A view that can also hide, erase and account for it."""

    def renew(self, owner: OwnerState) -> OwnerState:
        """Give an erased owner a new incarnation."""
        incarnation = os.urandom(16)
        self._all("renew_owner", {**key_of(owner), "incarnation": incarnation})
        return replace(owner, incarnation=incarnation)

    def open_deletion(self, deletion: Deletion) -> None:
        """Store a new part of a deletion."""
        values = {
            **_progress(deletion),
            "target": deletion.target.value,
            "subject": deletion.subject,
            "whole": deletion.whole,
            "incarnation": deletion.incarnation,
            "actor": deletion.actor,
            "remains": canonical_json(deletion.remains),
        }
        self._all("insert_deletion", values)

    def save_deletion(self, deletion: Deletion) -> None:
        """Store how far a part has come."""
        self._all("update_deletion", _progress(deletion))

    def hide(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int] | None) -> int:
        """Make records items of a deletion and take them out of every read."""
        values = {**key_of(owner), "deletion_id": deletion_id, "version": owner.version}
        if seqs is None:
            self._all("note_every_record", values)
        for seq in seqs or ():
            self._all("note_record", {**values, "seq": seq})
        count, after = 0, 0
        while page := self._all("item_page", {**values, "after": after, "limit": _HIDING}):
            low, after = page[0][0], page[-1][0]
            count += len(self._all("hide_items", {**values, "low": low, "high": after}))
        self._all("release_candidates", values)
        return count

    def note_candidates(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int]) -> None:
        """Make candidates items of a deletion."""
        for seq in seqs:
            values = {**key_of(owner), "deletion_id": deletion_id, "seq": seq}
            self._all("note_candidate", values)

    def doomed(self, owner: OwnerState, deletion_id: str, limit: int, now: int) -> list[Record]:
        """Return hidden records of a deletion that are still there, in order."""
        values = {**key_of(owner), "deletion_id": deletion_id, "limit": limit}
        return self.records(owner, [row[0] for row in self._all("doomed", values)], now)

    def erase(
        self, owner: OwnerState, deletion_id: str, surfaces: Sequence[str], low: int, high: int
    ) -> dict[str, int]:
        """Remove a deletion's items within a range from some surfaces."""
        values = {**key_of(owner), "deletion_id": deletion_id, "low": low, "high": high}
        values["version"] = owner.version
        removed = {}
        if "records" in surfaces:
            self._all("delete_item_usage", values)
        for name in _ERASURE:
            if name in surfaces:
                removed[name] = len(self._all(f"delete_item_{name}", values))
        if "contexts" in surfaces:
            self._all("unlink_item_followers", values)
        if "records" in surfaces:
            self._all("log_item_removals", values)
        return removed

    def drop_items(self, owner: OwnerState, deletion_id: str) -> None:
        """Drop the list of items of a part that is verified."""
        self._all("delete_deletion_items", {**key_of(owner), "deletion_id": deletion_id})

    def archive(self, owner: OwnerState, seqs: Sequence[int]) -> int:
        """Keep expired records for exports only."""
        count = 0
        self._all("delete_blocks", key_of(owner))
        for seq in seqs:
            values = {**key_of(owner), "seq": seq, "version": owner.version}
            if self._all("archive_record", values):
                self._all("delete_vectors", values)
                self._all("delete_words", values)
                count += 1
        return count

    def retire_tombstones(self, owner: OwnerState, before: int) -> int:
        """Remove tombstones of forgotten and expired records made before an instant."""
        return len(self._all("delete_old_tombstones", {**key_of(owner), "before": before}))

    def append_receipt(
        self, tenant_id: str, owner_no: int, receipt_id: str, link: ReceiptLink
    ) -> None:
        """Add a link to a tenant's chain of receipts."""
        values = {
            "tenant_id": tenant_id,
            "number": link.number,
            "owner_no": owner_no,
            "receipt_id": receipt_id,
            "content": canonical_json(link.content),
            "digest": link.digest,
        }
        self._all("insert_receipt", values)


def _progress(deletion: Deletion) -> dict[str, Any]:
    return {
        **key_of(deletion.owner),
        "deletion_id": deletion.deletion_id,
        "state": deletion.state.value,
        "steps": canonical_json([[step.value, at] for step, at in deletion.steps]),
        "surfaces": canonical_json({name: list(row) for name, row in deletion.surfaces.items()}),
        "waiting": None if deletion.waiting is None else deletion.waiting.value,
    }


def _to_deletion(row: Mapping[str, Any], owner: OwnerState) -> Deletion:
    surfaces = json.loads(row["surfaces"]).items()
    return Deletion(
        deletion_id=row["deletion_id"],
        owner=owner,
        target=Target(row["target"]),
        subject=row["subject"],
        whole=bool(row["whole"]),
        incarnation=row["incarnation"],
        actor=row["actor"],
        remains=json.loads(row["remains"]),
        state=Step(row["state"]),
        steps=tuple((Step(step), at) for step, at in json.loads(row["steps"])),
        surfaces={name: tuple(counts) for name, counts in surfaces},
        waiting=None if row["waiting"] is None else Waiting(row["waiting"]),
    )
