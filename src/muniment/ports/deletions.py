"""What deletions and sweeps need of a store: jobs, their items and evidence, and receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from muniment.ports.rows import OwnerState
from muniment.records import JSONValue, Record
from muniment.rules.deletion import Step, Target, Waiting


@dataclass(frozen=True, slots=True)
class Deletion:
    """One owner's part of a deletion. Holds no text.

    Attributes:
        deletion_id: The same for every part; also the id of its receipt.
        owner: Whose part it is, as the owner is now.
        target: What was asked to be forgotten.
        subject: Hexadecimal keyed hash of who or what that was.
        whole: Whether everything of the owner goes.
        incarnation: The owner's before the deletion.
        actor: Who asked.
        remains: How much of what is related stays, by name: versions, dependants.
        state: The last step done.
        steps: Every step done and its instant, microseconds since 1970, UTC.
        surfaces: Rows found, removed and read back by surface.
        waiting: Why it is not finished, or None.
    """

    deletion_id: str
    owner: OwnerState
    target: Target
    subject: str
    whole: bool
    incarnation: bytes
    actor: str
    remains: Mapping[str, int]
    state: Step
    steps: tuple[tuple[Step, int], ...]
    surfaces: Mapping[str, tuple[int, int, int]]
    waiting: Waiting | None


class ExpiredRow(NamedTuple):
    """A record that a sweep has to deal with."""

    owner: OwnerState
    seq: int
    kind: str


class Hidden(NamedTuple):
    """Whether records of an owner are being forgotten, and whether one has a certain source_id."""

    any: bool
    source: bool


class ReceiptLink(NamedTuple):
    """One link of a tenant's chain of receipts: its number, content and digest."""

    number: int
    content: Mapping[str, JSONValue]
    digest: str


class DeletionView(Protocol):
    """The part of a snapshot that deletions read."""

    def hidden(self, owner: OwnerState, source_id: str) -> Hidden:
        """Return whether a deletion of this owner has records that are hidden but not yet gone."""
        ...

    def next_seq(self, owner: OwnerState) -> int:
        """Return the place that the owner's next record or candidate will get."""
        ...

    def inferred(self, owner: OwnerState, now: int) -> list[Record]:
        """Return the records of an owner that came out of a proposal."""
        ...

    def expired(self, now: int, limit: int) -> list[ExpiredRow]:
        """Return up to `limit` records of any owner past their expiry, not yet swept."""
        ...

    def deletion(self, tenant_id: str, deletion_id: str) -> list[Deletion]:
        """Return every owner's part of a deletion; empty when there is none."""
        ...

    def deletion_state(self, owner: OwnerState, deletion_id: str) -> Step | None:
        """Return how far one owner's part of a deletion has come, or None when there is none."""
        ...

    def open_deletions(self) -> list[Deletion]:
        """Return every part of every deletion that is not verified as a whole, oldest first."""
        ...

    def item_ids(self, owner: OwnerState, deletion_id: str, limit: int) -> list[str]:
        """Return up to `limit` memory_ids of an unfinished deletion, in order of writing."""
        ...

    def count_traces(self, owner: OwnerState, deletion_id: str) -> dict[str, int]:
        """Return how many rows of a deletion's items each surface still has."""
        ...

    def receipt(
        self, tenant_id: str, receipt_id: str
    ) -> tuple[int, Mapping[str, JSONValue]] | None:
        """Return the owner number (0: several) and newest content of a receipt, or None."""
        ...

    def receipts(
        self, tenant_id: str, owner_no: int | None, limit: int
    ) -> list[Mapping[str, JSONValue]]:
        """Return the newest content of receipts, newest first; of the whole tenant when None."""
        ...

    def receipt_link(self, tenant_id: str, number: int) -> ReceiptLink | None:
        """Return one link of a tenant's chain of receipts, or None."""
        ...

    def receipt_head(self, tenant_id: str) -> tuple[int, str]:
        """Return the number and digest of a tenant's last receipt; 0 and an empty text at first."""
        ...


class DeletionWriter(Protocol):
    """The part of a transaction that deletions write."""

    def renew(self, owner: OwnerState) -> OwnerState:
        """Give an erased owner a new incarnation and return the new state."""
        ...

    def open_deletion(self, deletion: Deletion) -> None:
        """Store a new part of a deletion."""
        ...

    def save_deletion(self, deletion: Deletion) -> None:
        """Store how far a part has come."""
        ...

    def hide(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int] | None) -> int:
        """Make records items of a deletion and take them out of every read.

        Pending candidates no longer contradict them.

        Args:
            owner: The owner at its new version.
            deletion_id: The deletion.
            seqs: The records' places, or None for every one of the owner.

        Returns:
            How many were hidden; those of an earlier deletion do not count.
        """
        ...

    def note_candidates(self, owner: OwnerState, deletion_id: str, seqs: Sequence[int]) -> None:
        """Make candidates items of a deletion."""
        ...

    def doomed(self, owner: OwnerState, deletion_id: str, limit: int, now: int) -> list[Record]:
        """Return up to `limit` hidden records of a deletion that are still there, in order."""
        ...

    def erase(
        self, owner: OwnerState, deletion_id: str, surfaces: Sequence[str], low: int, high: int
    ) -> dict[str, int]:
        """Remove a deletion's items with a seq from `low` to `high` from some surfaces.

        Vectors of other records that saw their text go too; those records wait for new ones.

        Returns:
            Rows removed by surface.
        """
        ...

    def drop_items(self, owner: OwnerState, deletion_id: str) -> None:
        """Drop the list of items of a part that is verified."""
        ...

    def archive(self, owner: OwnerState, seqs: Sequence[int]) -> int:
        """Keep expired records for exports only: their words and vectors go."""
        ...

    def retire_tombstones(self, owner: OwnerState, before: int) -> int:
        """Remove tombstones of forgotten and expired records made before an instant."""
        ...

    def append_receipt(
        self, tenant_id: str, owner_no: int, receipt_id: str, link: ReceiptLink
    ) -> None:
        """Add a link to a tenant's chain of receipts; owner number 0 stands for several."""
        ...
