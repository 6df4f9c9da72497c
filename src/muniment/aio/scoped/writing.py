# Generated from scoped/writing.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.writing`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.records import JSONValue, Statement
from muniment.results import Batch, Preview, Written
from muniment.scoped.base import OnError, Progress


class AsyncScopedWriting(AsyncScopedBase):
    """Remember, record and correct within one scope."""

    async def remember(
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
        """Store one statement that the application has approved."""
        return await self._workers.store(
            self._sync.remember,
            text,
            kind=kind,
            source_id=source_id,
            approved=approved,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=metadata,
            follows=follows,
            override_tombstone=override_tombstone,
        )

    async def remember_many(
        self,
        statements: Sequence[Statement],
        *,
        approved: bool,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store several approved statements in one transaction."""
        return await self._workers.store(
            self._sync.remember_many,
            statements,
            approved=approved,
            on_error=on_error,
            progress=progress,
        )

    async def import_many(
        self,
        statements: Sequence[Statement],
        *,
        on_error: OnError = "raise",
        progress: Progress | None = None,
    ) -> Batch:
        """Store statements that an operator brings in from elsewhere, in one transaction."""
        return await self._workers.store(
            self._sync.import_many, statements, on_error=on_error, progress=progress
        )

    async def preview(
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
        """Return what `remember` would do with a statement, without writing anything."""
        return await self._workers.store(
            self._sync.preview,
            text,
            kind=kind,
            source_id=source_id,
            field=field,
            value=value,
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=metadata,
        )

    async def record_outcome(
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
        """Store what the application itself observed, word for word."""
        return await self._workers.store(
            self._sync.record_outcome,
            text,
            source_id=source_id,
            succeeded=succeeded,
            actions=actions,
            field=field,
            value=value,
            reference=reference,
            metadata=metadata,
        )

    async def correct(
        self, memory_id: str, *, override_tombstone: str | None = None, **changes: object
    ) -> Written:
        """Replace an active record by a corrected one; the old value stays out from now on."""
        return await self._workers.store(
            self._sync.correct, memory_id, override_tombstone=override_tombstone, **changes
        )
