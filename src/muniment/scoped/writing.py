"""The verbs of one scope that write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from muniment.errors import InvalidInputError, NotApprovedError
from muniment.records import JSONValue, Statement
from muniment.results import Batch, Preview, Written
from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import OnError, Progress, ScopedBase


@checks_arguments
class ScopedWriting(ScopedBase):
    """Remember, record and correct within one scope."""

    def remember(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        approved: bool,
        field: str | None = None,
        value: JSONValue = None,
        expires_at: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
        follows: str | None = None,
        override_tombstone: str | None = None,
    ) -> Written:
        """Store one statement that the application has approved.

        The same source_id with the same statement returns the same record, also under concurrency.
        A new statement about the same field supersedes the old one, unless a source of higher rank
        or another person said otherwise: then the outcome is `contested` and a reviewer decides.

        Args:
            text: The statement, at most 100,000 characters; white space around it is trimmed.
            kind: A kind of the policy, such as `preference`.
            source_id: The application's stable id of the source: the idempotency key in the scope.
            approved: That the application approves it. There is no default.
            field: Name of the structured part, such as `seat_preference`.
            value: The structured part, such as `aisle`; any JSON value.
            expires_at: When to stop keeping it; an aware `datetime` or ISO-8601 text with an
                offset. None for the kind's own lifetime.
            valid_from: From when it is true.
            valid_until: Until when it is true (exclusive).
            metadata: The application's own labels; JSON values.
            follows: source_id of the statement before it in its thread. A short statement is
                embedded with the end of that one in front, so that "yes, on Friday" is found.
            override_tombstone: Why a value that was rejected or corrected may come back; audited.

        Raises:
            NotApprovedError: `approved` is not True.
            InvalidInputError: Something is missing, malformed or too long.
            RefusedError: Screening refused the text.
            ConflictError: The source_id already identifies a different statement.
            TombstonedError: The statement was forgotten, or its value rejected or corrected.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import SUBJECT

        _require_approval(approved=approved)
        statement = Statement(
            kind=kind,
            text=text,
            source_id=source_id,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata={} if metadata is None else metadata,
            follows=follows,
        )
        author = SUBJECT
        if override_tombstone is not None:
            author = replace(SUBJECT, override=override_tombstone)
        return self._services.writes.remember(self._scope, statement, author)

    def remember_many(
        self,
        statements: Sequence[Statement],
        *,
        approved: bool,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store several approved statements in one transaction.

        Args:
            statements: What to remember, in order.
            approved: That the application approves all of them. There is no default.
            on_error: `"raise"` writes all or nothing; `"skip"` leaves out what is wrong.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            NotApprovedError: `approved` is not True.
            BatchError: At least one statement is wrong; `items` says which. Nothing was written.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import SUBJECT

        _require_approval(approved=approved)
        return self._services.writes.remember_many(
            self._scope, statements, SUBJECT, skip=_skips(on_error), progress=progress
        )

    def import_many(
        self,
        statements: Sequence[Statement],
        *,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store statements that an operator brings in from elsewhere, in one transaction.

        Unlike `remember_many`, it never brings back a value that was forgotten.

        Args:
            statements: What to import, in order.
            on_error: `"raise"` writes all or nothing; `"skip"` leaves out what is wrong.
            progress: Called with how many statements are embedded and how many there are.

        Raises:
            BatchError: At least one statement is wrong; `items` says which. Nothing was written.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import OPERATOR

        return self._services.writes.remember_many(
            self._scope, statements, OPERATOR, skip=_skips(on_error), progress=progress
        )

    def preview(
        self,
        text: str,
        *,
        kind: str,
        source_id: str,
        field: str | None = None,
        value: JSONValue = None,
        expires_at: datetime | str | None = None,
        valid_from: datetime | str | None = None,
        valid_until: datetime | str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
    ) -> Preview:
        """Return what `remember` would do with a statement, without writing anything.

        Takes the arguments of `remember` and returns the normalised statement, what screening saw,
        and what it would supersede.

        Raises:
            InvalidInputError: Something is missing, malformed or too long.
        """
        from muniment.services.writes import SUBJECT

        statement = Statement(
            kind=kind,
            text=text,
            source_id=source_id,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata={} if metadata is None else metadata,
        )
        return self._services.writes.preview(self._scope, statement, SUBJECT)

    def record_outcome(
        self,
        text: str,
        *,
        source_id: str,
        succeeded: bool,
        actions: Sequence[str],
        field: str | None = None,
        value: JSONValue = None,
        reference: str | None = None,
        metadata: Mapping[str, JSONValue] | None = None,
    ) -> Written:
        """Store what the application itself observed, word for word.

        Args:
            text: What happened.
            source_id: The application's stable id of the event: the idempotency key in the scope.
            succeeded: Whether it succeeded. A failed attempt is shown as failed.
            actions: What was done, in order.
            field: Name of the structured part.
            value: The structured part; any JSON value, stored verbatim.
            reference: Where a system of record keeps the live value. With it the record has the
                rank of that system.
            metadata: The application's own labels; JSON values.

        Raises:
            InvalidInputError: Something is missing, malformed or too long.
            RefusedError: Screening refused the text.
            ConflictError: The source_id already identifies a different statement.
            TombstonedError: The statement was forgotten, or its value rejected or corrected.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import APPLICATION, SYSTEM

        if not isinstance(succeeded, bool):
            raise InvalidInputError("succeeded must be True or False.")
        said: dict[str, JSONValue] = {"succeeded": succeeded, "actions": list(actions)}
        statement = Statement(
            kind="outcome",
            text=text,
            source_id=source_id,
            field=field,
            value=value,
            metadata={**(metadata or {}), **said},
            reference=reference,
        )
        author = APPLICATION if reference is None else SYSTEM
        return self._services.writes.remember(self._scope, statement, author)

    def correct(
        self, memory_id: str, *, override_tombstone: str | None = None, **changes: object
    ) -> Written:
        """Replace an active record by a corrected one; the old value stays out from now on.

        Kind, field, metadata, validity and expiry stay unless they are among the changes, and so
        does what it follows.

        Args:
            memory_id: The record.
            override_tombstone: Why a value that was itself rejected or corrected may come back.
            **changes: Any of `text`, `value`, `expires_at`, `valid_from`, `valid_until`,
                `metadata`, `source_id`, as in `remember`.

        Raises:
            NotFoundError: This scope has no such active record.
            InvalidInputError: A change is malformed, or nothing changes.
            RefusedError: Screening refused the text.
            TombstonedError: The new value was rejected or corrected before.
            StoreError: The database failed; nothing was written.
        """
        from muniment.services.writes import CORRECTING

        author = replace(CORRECTING, override=override_tombstone)
        return self._services.writes.correct(self._scope, memory_id, changes, author)


def _require_approval(*, approved: bool) -> None:
    if approved is not True:
        raise NotApprovedError(
            "remember stores only what the application approves; pass approved=True for a "
            "statement the person made or confirmed."
        )


def _skips(on_error: str) -> bool:
    if on_error not in ("raise", "skip"):
        raise InvalidInputError("on_error must be 'raise' or 'skip'.")
    return on_error == "skip"
