"""The verbs of one scope that carry its memory out and in."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from muniment.errors import InvalidInputError
from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import Progress, ScopedBase

if TYPE_CHECKING:
    from muniment.transfers import ExportReport, ImportReport


@checks_arguments
class ScopedExchanging(ScopedBase):
    """Export one scope; take in exports, and what other systems keep."""

    def export(
        self,
        target: Path | TextIO,
        *,
        layout: str = "jsonl",
        progress: Progress | None = None,
    ) -> ExportReport:
        """Write everything of this scope to a file.

        The layout `jsonl` holds records of every status with their history, candidates,
        tombstones and the audit, one JSON object a line; docs/export.md describes it, and
        `import_export` takes it back without loss. The layout `pam` is Portable AI Memory 1.0 and
        holds the records.

        Args:
            target: A path, replaced at the end if all went well and readable by its owner only; or
                a text open for writing.
            layout: `"jsonl"` or `"pam"`.
            progress: Called with how many lines are written and how many there will be.

        Raises:
            InvalidInputError: The target cannot be written to, or there is no such layout.
            StoreError: The database failed.
        """
        if layout not in ("jsonl", "pam"):
            raise InvalidInputError("layout must be 'jsonl' or 'pam'.")
        exporting = self._services.exchange.exporting
        if layout == "pam":
            return exporting.portable(self._scope, target)
        return exporting.scope(self._scope, target, progress)

    def import_export(
        self,
        source: Path | TextIO,
        *,
        mode: str = "all_or_nothing",
        trust: str = "reviewed",
        rescope: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in an export, into this scope and no other, in one transaction.

        Ids, history, statuses, times and reviews come back as they were; the file's audit is kept
        as provenance beside this scope's own. What is here already is skipped. What contradicts
        what is here, or was forgotten here, is never taken in.

        Args:
            source: The file's path, or a text open for reading.
            mode: `"all_or_nothing"`, or `"skip"` to leave out what cannot be taken in.
            trust: `"reviewed"`: a record that nobody stated or confirmed waits for review;
                `"operator"`: it is a record at once.
            rescope: Whether the export of one other scope may go to this one, under new ids. An
                operator says so, never the file.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            InvalidInputError: The file cannot be read, or an argument is unknown.
            ImportFileError: A line is malformed; nothing was written.
            ForbiddenError: The file is another scope's.
            BatchError: A line cannot be taken in; nothing was written.
            StoreError: The database failed; nothing was written.
        """
        return self._services.exchange.restoring.scope(
            self._scope, source, mode=mode, trust=trust, rescope=rescope, progress=progress
        )

    def import_from(
        self,
        origin: str,
        source: Path | TextIO,
        *,
        mode: str = "all_or_nothing",
        approved_by_operator: bool = False,
        kind: str | None = None,
        known_as: str | None = None,
        namespace: Sequence[str] = (),
        assume_utc: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in what another system keeps of this scope, in one transaction.

        What was only inferred there waits for review here, unless the operator approves it. Each
        item has a source_id made from its old one, so that a second run changes nothing. The
        source is only read.

        Args:
            origin: `"durable_memory"` (a SQLite file with the table of that name or its second
                version), `"memories"` (one with users, keys and values), `"documents"` (JSON of a
                memory index), `"langgraph"` (a store's items as JSON, or its SQLite file), `"mem0"`
                or `"pam"` (JSON).
            source: The file's path or, for JSON, a text open for reading.
            mode: `"all_or_nothing"`, or `"skip"` to leave out what cannot be taken in.
            approved_by_operator: Whether what was only inferred becomes records at once.
            kind: The kind of items that name none. None for `verified_fact`.
            known_as: The person's id in the other system, when it differs.
            namespace: The beginning of this scope's namespace, for `langgraph`.
            assume_utc: Whether times without an offset are UTC.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            InvalidInputError: The source cannot be read, or an argument is unknown.
            ImportFileError: The file is malformed; nothing was written.
            BatchError: An item cannot be taken in; nothing was written.
            StoreError: A database failed; nothing was written.
        """
        from muniment.services.exchange.migrate import Wishes

        wishes = Wishes(mode, approved_by_operator, kind, tuple(namespace), assume_utc, progress)
        return self._services.exchange.migrating.scope(
            self._scope, origin, source, wishes, known_as
        )
