"""The facade of one scope: every verb that reads or writes records."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from muniment.errors import InvalidInputError, NotApprovedError
from muniment.records import AuditEntry, JSONValue, Page, Record, Statement
from muniment.results import Answer, Batch, Counts, Preview, Receipt, Written
from muniment.scope import Scope
from muniment.trace import Recall

if TYPE_CHECKING:
    from muniment.services.answer import Answering
    from muniment.services.forget import Forgetting
    from muniment.services.reads import Reads
    from muniment.services.recall import Recalling
    from muniment.services.writes import Writes

Progress = Callable[[int, int], None]
OnError = Literal["raise", "skip"]

DEFAULT_LIMIT = 5
DEFAULT_MINIMUM_SCORE = 0.25
DEFAULT_BUDGET = 2000


@dataclass(frozen=True, slots=True)
class Services:
    """The use cases that a scoped memory calls.

    Attributes:
        writes: The write gate.
        reads: One record, lists, histories, audit.
        recalling: Recall.
        answering: Answering.
        forgetting: Deletion.
    """

    writes: Writes
    reads: Reads
    recalling: Recalling
    answering: Answering
    forgetting: Forgetting


class ScopedMemory:
    """The memory of one scope. Nothing it does can reach another scope."""

    def __init__(self, services: Services, scope: Scope) -> None:
        self._services = services
        self._scope = scope

    @property
    def scope(self) -> Scope:
        """Whose memory this is."""
        return self._scope

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
    ) -> Written:
        """Store one statement that the application has approved.

        The same source_id with the same statement returns the same record, also under concurrency.
        A new statement about the same field supersedes the old one.

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

        Raises:
            NotApprovedError: `approved` is not True.
            InvalidInputError: Something is missing, malformed or too long.
            RefusedError: Screening refused the text.
            ConflictError: The source_id already identifies a different statement, or another
                source's record holds the field.
            TombstonedError: The statement was forgotten.
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
        )
        return self._services.writes.remember(self._scope, statement, SUBJECT)

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

    def recall(
        self,
        query: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        strict: bool = False,
    ) -> Recall:
        """Return the records of this scope that bear on a question.

        The scope is applied first, then time, kinds and filters; what is left is scored exactly.
        A question without content words, such as "What do you know about me?", lists the newest.

        Args:
            query: The question. Any text; only the first 8,000 characters are used.
            limit: Most records to return, up to 10,000.
            minimum_score: Least score to return, in [0, 1]; a negative one admits every record.
            kinds: Kinds to look in. None for all.
            filters: Conditions on fields and metadata, such as
                `{"metadata.tag": {"any": ["work"]}}`; see `muniment.rules.filters`.
            budget: Most tokens the packet may use. None without limit.
            strict: Raise when the embedder fails instead of recalling by words alone.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            ProviderError: `strict` is true and the embedder failed.
            StoreError: The database cannot be read.
        """
        from muniment.services.recall import Question

        question = Question(query, limit, minimum_score, kinds, filters, budget, strict)
        return self._services.recalling.recall(self._scope, question)

    def get(self, memory_id: str) -> Record:
        """Return one record, active or superseded.

        Raises:
            NotFoundError: This scope has no such record, or it has expired.
        """
        return self._services.reads.get(self._scope, memory_id)

    def list(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        superseded: bool = False,
    ) -> Page:
        """Return one page of records, newest first.

        Args:
            limit: Most records on the page, 1 to 1,000.
            cursor: The cursor of the page before, with the same filters. None for the first page.
            kinds: Kinds to list. None for all.
            filters: Conditions on fields and metadata.
            superseded: Whether to list superseded records too.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            CursorError: The cursor is not of this scope and these filters.
        """
        return self._services.reads.page(
            self._scope,
            limit=limit,
            cursor=cursor,
            kinds=kinds,
            filters=filters,
            superseded=superseded,
        )

    def history(self, memory_id: str) -> tuple[Record, ...]:
        """Return a record with all that it replaced and all that replaced it, oldest first.

        Raises:
            NotFoundError: This scope has no such record, or it has expired.
        """
        return self._services.reads.history(self._scope, memory_id)

    def forget(self, memory_id: str, *, wait: bool = False) -> Receipt:
        """Delete a record with everything derived from it, and return the evidence.

        A tombstone without content keeps late work from bringing it back.

        Args:
            memory_id: The record, whatever its status.
            wait: Whether to rewrite the database at once, so that no byte of it is left there.

        Raises:
            NotFoundError: This scope has no such record.
            StoreError: The database failed; the record is still there.
        """
        return self._services.forgetting.forget(
            self._scope, memory_id, actor="subject", compact=wait
        )

    def answer(
        self,
        question: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
    ) -> Answer:
        """Recall, and let the configured language model answer from the packet.

        The ids of the records it was shown are written to the audit trail; the prompt is not.

        Args:
            question: The question, also the query of the recall.
            limit: Most records to show, up to 10,000.
            minimum_score: Least score to show, in [0, 1].
            kinds: Kinds to look in. None for all.
            filters: Conditions on fields and metadata.
            budget: Most tokens the packet may use. None without limit.

        Raises:
            InvalidInputError: The question is blank or an argument is out of range.
            NoModelError: No language model is configured. Carries the packet.
            ProviderError: The model failed.
        """
        found = self.recall(
            question,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kinds,
            filters=filters,
            budget=budget,
        )
        return self._services.answering.answer(self._scope, question, found.packet, actor="agent")

    def audit(self) -> tuple[AuditEntry, ...]:
        """Return who did what to which record of this scope, oldest first. Holds no text."""
        return self._services.reads.audit(self._scope)

    def counts(self) -> Counts:
        """Return how many records this scope has of each sort."""
        return self._services.reads.counts(self._scope)


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
