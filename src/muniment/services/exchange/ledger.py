"""Keeps the books of one import: what was read, saved and skipped, and why."""

from __future__ import annotations

from muniment.errors import (
    BatchError,
    BatchItem,
    ConflictError,
    InvalidInputError,
    MunimentError,
    RefusedError,
    TombstonedError,
)
from muniment.transfers import ImportReport, SkippedLine

ALL = "all_or_nothing"
SKIP = "skip"
HARMLESS = frozenset({"known", "duplicate", "other_scope", "inactive"})

LINE_ERRORS = (InvalidInputError, RefusedError, ConflictError, TombstonedError)
"""What can be wrong with one line; any other error ends the import."""

_REASONS = (
    (TombstonedError, "tombstoned"),
    (ConflictError, "conflict"),
    (RefusedError, "refused"),
)


class NothingSavedError(Exception):
    """An import saved nothing, so its transaction is undone and leaves no trace.

    Attributes:
        report: What it would have said.
    """

    def __init__(self, report: ImportReport) -> None:
        super().__init__("The import saved nothing.")
        self.report = report


class Ledger:
    """The books of one import.

    Args:
        mode: `all_or_nothing` or `skip`.
        trust: Whether what nobody confirmed may arrive as a record.

    Attributes:
        read: How many lines there are.
        saved: How many are in the store because of this import.
        candidates: How many of those wait for review.
        notes: What an operator should know.
    """

    def __init__(self, mode: str, trust: str) -> None:
        self._mode = mode
        self.trust = trust
        self.read = 0
        self.saved = 0
        self.candidates = 0
        self.notes: list[str] = []
        self._skipped: list[SkippedLine] = []
        self._wrong: list[BatchItem] = []

    def skip(self, line: int, reason: str, item_id: str | None) -> None:
        """Note a line that is left out and needs nobody's attention."""
        self._skipped.append(SkippedLine(line, reason, item_id))

    def fail(self, line: int, error: MunimentError, item_id: str | None) -> None:
        """Note a line that cannot be taken in."""
        reason = next((name for kind, name in _REASONS if isinstance(error, kind)), "invalid")
        self._skipped.append(SkippedLine(line, reason, item_id))
        self._wrong.append(BatchItem(line - 1, error))

    def note(self, sentence: str) -> None:
        """Note a sentence for the operator, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def check(self) -> None:
        """Stop an import that is all or nothing as soon as a line cannot be taken in.

        Raises:
            BatchError: One or more cannot.
        """
        if self._wrong and self._mode == ALL:
            items = sorted(self._wrong, key=lambda item: item.index)
            raise BatchError(
                f"{len(items)} of {self.read} lines cannot be taken in, so nothing was imported; "
                "mend them or import with mode 'skip'.",
                items,
            )

    def end(self) -> ImportReport:
        """Return the report.

        Raises:
            BatchError: The import is all or nothing and a line cannot be taken in.
            NothingSavedError: Nothing was saved.
        """
        self.check()
        skipped = tuple(sorted(self._skipped, key=lambda one: one.line))
        report = ImportReport(self.read, self.saved, skipped, self.candidates, tuple(self.notes))
        if not self.saved:
            raise NothingSavedError(report)
        return report


def check_mode(mode: str) -> str:
    """Return a mode, or say that there is no such mode.

    Raises:
        InvalidInputError: There is none.
    """
    if mode not in (ALL, SKIP):
        raise InvalidInputError(f"mode must be {ALL!r} or {SKIP!r}.")
    return mode
