# Generated from scoped/exchanging.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.exchanging`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from muniment.aio.scoped.base import AsyncScopedBase
from muniment.scoped.base import Progress

if TYPE_CHECKING:
    from muniment.transfers import ExportReport, ImportReport


class AsyncScopedExchanging(AsyncScopedBase):
    """Export one scope; take in exports, and what other systems keep."""

    async def export(
        self, target: Path | TextIO, *, layout: str = "jsonl", progress: Progress | None = None
    ) -> ExportReport:
        """Write everything of this scope to a file."""
        return await self._workers.store(
            self._sync.export, target, layout=layout, progress=progress
        )

    async def import_export(
        self,
        source: Path | TextIO,
        *,
        mode: str = "all_or_nothing",
        trust: str = "reviewed",
        rescope: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Take in an export, into this scope and no other, in one transaction."""
        return await self._workers.store(
            self._sync.import_export,
            source,
            mode=mode,
            trust=trust,
            rescope=rescope,
            progress=progress,
        )

    async def import_from(
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
        """Take in what another system keeps of this scope, in one transaction."""
        return await self._workers.store(
            self._sync.import_from,
            origin,
            source,
            mode=mode,
            approved_by_operator=approved_by_operator,
            kind=kind,
            known_as=known_as,
            namespace=namespace,
            assume_utc=assume_utc,
            progress=progress,
        )
