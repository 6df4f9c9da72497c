"""Looking at every row of an owner, over one connection."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from muniment.clock import to_instant
from muniment.ports import Head, Inspection, Reveal, SealedRow
from muniment.records import AuditEntry
from muniment.results import Flaw
from muniment.storage.base import audit_digest, to_audit_entry
from muniment.storage.guard import MAC, element, unmask
from muniment.storage.ledger import GuardedView

_TABLES = {
    "records": "all_records",
    "words": "all_words",
    "vectors": "all_vectors",
    "candidates": "all_candidates",
    "tombstones": "all_tombstones",
    "blocks": "all_blocks",
    "threads": "all_threads",
    "entries": "all_entries",
    "deletions": "all_deletions",
    "deletion_items": "all_deletion_items",
    "receipts": "all_receipts",
    "imported_audit": "all_imported_audit",
    "imported_receipts": "all_imported_receipts",
}
_SEALED = {
    "records": "sealed_records",
    "words": "sealed_words",
    "vectors": "sealed_vectors",
    "candidates": "sealed_candidates",
    "blocks": "sealed_blocks",
    "threads": "sealed_threads",
    "entries": "sealed_entries",
}
_ITEMS = ("candidate_id", "memory_id", "deletion_id", "receipt_id", "place", "seq")
_EVERY = 2**62


class RowInspection(GuardedView):
    """The part of a snapshot that verification reads."""

    def heads(self) -> list[Head]:
        """Return the state of every owner, checked or not."""
        return [head_of(self._named("owners", row)) for row in self._all("whole_owners", {})]

    def head(self, tenant_id: str, owner_no: int) -> Head | None:
        """Return the state of one owner, checked or not, or None."""
        row = self._one("whole_owner", {"tenant_id": tenant_id, "owner_no": owner_no})
        return None if row is None else head_of(self._named("owners", row))

    def inspect(self, head: Head, noted: Head | None, reveal: Reveal | None = None) -> Inspection:
        """Look at every row of an owner."""
        key = {"tenant_id": head.tenant_id, "owner_no": head.owner_no}
        owner = self._named("owners", self._all("whole_owner", key)[0])
        flaws: list[Flaw] = []
        if not self._guard.holds("owners", owner):
            flaws.append(flaw("owner_edited", head))
        total = rows = 0
        for table, row in self._rows(key):
            rows += 1
            total ^= element(self._guard.key(head.tenant_id), row[MAC])
            if not self._guard.holds(table, row):
                flaws.append(flaw("row_edited", head, table, _item(row)))
        if total != unmask(self._guard.key(head.tenant_id), owner["content"]):
            flaws.append(flaw("rows_missing_or_added", head))
        problems = self._chain(key, head, noted, reveal)
        flaws += [flaw(problem, head, "audit") for problem in problems]
        ((entries,),) = self._all("count_audit", key)
        return Inspection(rows, entries, tuple(flaws))

    def sealed_rows(
        self, tenant_id: str, owner_no: int, table: str, low: int, high: int
    ) -> list[SealedRow]:
        """Return what of a table's rows is sealed in a sealed store."""
        values = {"tenant_id": tenant_id, "owner_no": owner_no, "low": low, "high": high}
        rows = self._all(_SEALED[table], values)
        return [SealedRow(table, seq, slot, tuple(parts)) for seq, slot, *parts in rows]

    def _rows(self, key: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
        for table, name in _TABLES.items():
            for row in self._connection.execute(self._sql[name], key):
                yield table, self._named(table, row)

    def _chain(
        self, key: dict[str, Any], head: Head, noted: Head | None, reveal: Reveal | None
    ) -> Iterator[str]:
        """Yield what is wrong with an audit chain; at most one break, since all after it is."""
        number, link = 0, b""
        is_whole = True
        for row in self._connection.execute(self._sql["audit_page"], _paged(key)):
            number += 1
            entry = _entry(row)
            if entry is None:
                is_whole = False
                continue
            link = self._link(key, link, entry if reveal is None else reveal(head, entry))
            is_whole = is_whole and entry.number == number and entry.digest == link.hex()
            if noted is not None and _is_other(entry, noted):
                yield "forked"
        if not is_whole:
            yield "chain_broken"
        elif (number, link) != (head.audit_number, head.audit_digest):
            yield "chain_cut"

    def _link(self, key: dict[str, Any], previous: bytes, entry: AuditEntry) -> bytes:
        return audit_digest(
            self._guard.keys.audit_of(key["tenant_id"]),
            previous,
            **key,
            number=entry.number,
            at=to_instant("at", entry.at),
            actor=entry.actor,
            action=entry.action,
            memory_ids=entry.memory_ids,
            reason=entry.reason,
        )


def _entry(row: tuple[Any, ...]) -> AuditEntry | None:
    """Return an audit entry, or None when an edit made something else of it."""
    try:
        return to_audit_entry(row)
    except (ValueError, OverflowError, TypeError):
        return None


def _item(row: dict[str, Any]) -> str:
    return str(next(row[name] for name in _ITEMS if row.get(name)))


def _is_other(entry: AuditEntry, noted: Head) -> bool:
    """Return whether an entry stands where an anchor noted another one."""
    return entry.number == noted.audit_number and entry.digest != noted.audit_digest.hex()


def _paged(key: dict[str, Any]) -> dict[str, Any]:
    return {**key, "after": 0, "limit": _EVERY}


def head_of(row: dict[str, Any]) -> Head:
    """Return the state of an owner from its own row."""
    return Head(
        tenant_id=row["tenant_id"],
        owner_no=row["owner_no"],
        incarnation=row["incarnation"],
        version=row["version"],
        last_seq=row["last_seq"],
        audit_number=row["audit_number"],
        audit_digest=row["audit_digest"],
        state=row[MAC] or b"",
    )


def flaw(name: str, head: Head, table: str = "owners", item: str | None = None) -> Flaw:
    """Return what is wrong with something of an owner."""
    return Flaw(name, head.tenant_id, head.owner_no, table, item)
