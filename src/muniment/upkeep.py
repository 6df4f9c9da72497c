"""What maintenance did, and what is left to do, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from muniment.records import Plain
from muniment.scope import Owner


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
        cleaned: Old, unused records that were deleted, as their kind's policy says.
        lapsed: Candidates whose review ended because nobody decided.
        retired: Tombstones that were kept long enough.
        compacted: Whether the database was rewritten.
        packed: Scopes and spaces whose records were packed for the next cold recall.
        finished: Deletions that were finished and verified.
        waiting: Deletions that wait for the next round.
    """

    resumed: int
    deleted: int
    archived: int
    ended: int
    cleaned: int
    lapsed: int
    retired: int
    compacted: bool
    packed: int
    finished: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Duplicate(Plain):
    """Two active records of one scope that say the same.

    Attributes:
        owner: Whose they are.
        kept: memory_id of the one that stays.
        dropped: memory_id of the one that it makes superfluous.
        likeness: 1 for the same text, else the cosine of their embeddings.
    """

    owner: Owner
    kept: str
    dropped: str
    likeness: float


@dataclass(frozen=True, slots=True)
class Deduplication(Plain):
    """What one round of deduplication found and did.

    Attributes:
        examined: Active records that were compared.
        groups: Records that stay and have at least one duplicate.
        duplicates: Every duplicate, with the record that stays.
        proposed: How many were newly proposed to the reviewer.
        merged: How many were merged.
        left: How many were left as they are: proposed or decided before, or gone meanwhile.
    """

    examined: int
    groups: int
    duplicates: tuple[Duplicate, ...]
    proposed: int
    merged: int
    left: int


@dataclass(frozen=True, slots=True)
class CleanUp(Plain):
    """What one round of clean-up found and did.

    Attributes:
        examined: Active records of kinds whose policy has a clean-up.
        unused: memory_ids of those that are old and unused, by owner.
        deleted: How many were deleted.
    """

    examined: int
    unused: tuple[str, ...]
    deleted: int
