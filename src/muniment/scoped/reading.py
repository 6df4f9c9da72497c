"""The verbs of one scope that read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

from muniment.records import AuditEntry, Page, Record
from muniment.results import Answer, Counts
from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import (
    DEFAULT_BUDGET,
    DEFAULT_LIMIT,
    DEFAULT_MINIMUM_SCORE,
    ScopedBase,
)
from muniment.trace import Recall


@checks_arguments
class ScopedReading(ScopedBase):
    """Recall, read and answer within one scope."""

    def get(self, memory_id: str) -> Record:
        """Return one record, active or superseded.

        Raises:
            NotFoundError: This scope has no such record, it has expired, or its kind is not shown
                to the person concerned.
        """
        from muniment.rules.kinds import Reader

        return self._services.reads.get(self._scope, memory_id, Reader.SUBJECT)

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

    def audit(self) -> tuple[AuditEntry, ...]:
        """Return who did what to which record of this scope, oldest first. Holds no text."""
        return self._services.reads.audit(self._scope)

    def counts(self) -> Counts:
        """Return how many records this scope has of each sort."""
        return self._services.reads.counts(self._scope)

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
        as_of: datetime | str | None = None,
        explain: bool = False,
    ) -> Recall:
        """Return the records of this scope and its readable spaces that bear on a question.

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
            strict: Raise when the embedder, reranker or resolver fails instead of recalling
                without it.
            as_of: A past instant: recall what was believed then, without what was forgotten since.
            explain: Also put into the trace the verdict on every record near the cut, with what
                each channel said of it; slower, for a person who asks why.

        Raises:
            InvalidInputError: An argument is out of range, or a kind or filter is wrong.
            ProviderError: `count_tokens` failed; or `strict` is true and the embedder, reranker or
                resolver did.
            StoreError: The database cannot be read.
        """
        from muniment.services.recall import Question

        question = Question(
            query, limit, minimum_score, kinds, filters, budget, strict, as_of, explain
        )
        return self._services.recalling.recall(self._scope, self._spaces, question)

    def answer(
        self,
        question: str,
        *,
        limit: int = DEFAULT_LIMIT,
        minimum_score: float = DEFAULT_MINIMUM_SCORE,
        kinds: Collection[str] | None = None,
        filters: Mapping[str, Any] | None = None,
        budget: int | None = DEFAULT_BUDGET,
        cite: bool = False,
    ) -> Answer:
        """Recall, and let the configured language model answer from the packet.

        The ids of the records it was shown are written to the audit trail; the prompt is not. Those
        that the answer names are counted as cited.

        Args:
            question: The question, also the query of the recall.
            limit: Most records to show, up to 10,000.
            minimum_score: Least score to show, in [0, 1].
            kinds: Kinds to look in. None for all.
            filters: Conditions on fields and metadata.
            budget: Most tokens the packet may use. None without limit.
            cite: Whether to ask the model to name the records that its answer rests on.

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
        return self._services.answering.answer(
            self._scope, question, found.packet, actor="agent", cite=cite
        )
