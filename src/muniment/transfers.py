"""What export and import return, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass

from muniment.records import Plain


@dataclass(frozen=True, slots=True)
class ExportReport(Plain):
    """What an export holds.

    Attributes:
        records: Records, whatever their status.
        candidates: Candidates, whatever their status; 0 in a layout that has none.
        tombstones: Tombstones; 0 in a layout that has none.
        receipts: Receipts of deletions; 0 in a layout that has none.
        audit: Audit entries; 0 in a layout that has none.
        lines: Lines of the file.
        sha256: Hexadecimal SHA-256 of the lines between header and footer, or of the document.
        threads: Threads; 0 in a layout that has none.
        entries: What lies in them; 0 in a layout that has none.
    """

    records: int
    candidates: int
    tombstones: int
    receipts: int
    audit: int
    lines: int
    sha256: str
    threads: int = 0
    entries: int = 0


@dataclass(frozen=True, slots=True)
class SkippedLine(Plain):
    """A line that an import left out.

    Attributes:
        line: Number of the line, or place of the row or item, from 1.
        reason: known, duplicate, conflict, tombstoned, refused, invalid, inactive or other_scope.
        item_id: The file's id of the item, or None; always None for another scope's.
    """

    line: int
    reason: str
    item_id: str | None


@dataclass(frozen=True, slots=True)
class ImportReport(Plain):
    """What an import did. `read` is `saved` and the skipped together.

    Attributes:
        read: Lines, rows or items that were read.
        saved: How many of them are in the store because of this import.
        skipped: What was left out, in order, and why.
        candidates: How many of the saved wait for review.
        notes: What an operator should know, one sentence each.
    """

    read: int
    saved: int
    skipped: tuple[SkippedLine, ...]
    candidates: int
    notes: tuple[str, ...]
