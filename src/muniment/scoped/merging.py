"""The verbs of deduplication: over a whole store, and back again within one scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.records import Record
from muniment.rules.arguments import checks_arguments
from muniment.scoped.base import ScopedBase

if TYPE_CHECKING:
    from muniment.scoped.base import Services
    from muniment.upkeep import CleanUp, Deduplication


@checks_arguments
class ScopedMerging(ScopedBase):
    """Take apart what deduplication merged."""

    def unmerge(self, memory_id: str) -> Record:
        """Make a record active again that deduplication put behind another one.

        Args:
            memory_id: The record that was dropped.

        Raises:
            NotFoundError: This scope has no such record, or it was not merged.
            ConflictError: Another record about its field is active.
            TombstonedError: What it says was rejected, corrected or retracted since.
            StoreError: The database failed; nothing was changed.
        """
        from muniment.services.writes import SUBJECT

        return self._services.merging.unmerge(self._scope, memory_id, SUBJECT)


@checks_arguments
class StoreMerging:
    """What an operator does about records that only repeat another one."""

    _services: Services

    def deduplicate(self, *, supersede: bool = False, dry_run: bool = False) -> Deduplication:
        """Find active records that only repeat another one of their scope.

        Of equal authority, the one that was shown more often stays. A pair is proposed to the
        reviewer, or merged at once: the other one then stands before it in its history, is
        recalled no more, and comes back by `unmerge`. Nothing is deleted.

        Args:
            supersede: Whether to merge at once. In a shared space a reviewer decides all the same.
            dry_run: Whether only to report.

        Raises:
            StoreError: The database failed; what was done stays done.
        """
        return self._services.merging.deduplicate(supersede=supersede, rehearse=dry_run)

    def clean_up(self, *, dry_run: bool = False) -> CleanUp:
        """Delete old, unused records of kinds whose policy has a `clean_up`, as `maintain` does.

        Each is deleted as by `forget`, with a receipt, but may be said again by anybody. Records
        that another process has shown since it last wrote its counts down look unused.

        Args:
            dry_run: Whether only to name them.

        Raises:
            StoreError: The database failed; what was done stays done.
        """
        return self._services.sweeping.clean_up(rehearse=dry_run)
