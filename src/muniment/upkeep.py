"""What maintenance did, and what is left to do, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muniment.records import Plain


@dataclass(frozen=True, slots=True)
class OpenDeletion(Plain):
    """A deletion that is not finished yet. Nothing it took is returned by any read.

    Attributes:
        receipt_id: Id of its receipt.
        tenant_id: Whose it is.
        target: What was asked for.
        state: The last step that is done for every scope it concerns.
        since: When it was asked for, UTC.
        records: How many records it took.
        waiting: Why it is not finished: compaction, reader, residue; None if interrupted.
    """

    receipt_id: str
    tenant_id: str
    target: str
    state: str
    since: datetime
    records: int
    waiting: str | None


@dataclass(frozen=True, slots=True)
class Upkeep(Plain):
    """What one round of maintenance did.

    Attributes:
        resumed: Interrupted deletions that were carried on.
        deleted: Expired records that were deleted.
        archived: Expired records that were archived.
        ended: Threads and items past their time that were deleted.
        lapsed: Candidates whose review ended because nobody decided.
        retired: Tombstones that were kept long enough.
        compacted: Whether the database was rewritten.
        finished: Deletions that were finished and verified.
        waiting: Deletions that wait for the next round.
    """

    resumed: int
    deleted: int
    archived: int
    ended: int
    lapsed: int
    retired: int
    compacted: bool
    finished: int
    waiting: int
