"""How records were used, as frozen values without text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from muniment.records import Plain, Status


@dataclass(frozen=True, slots=True)
class Usefulness(Plain):
    """How one record was used. Holds no text.

    Attributes:
        memory_id: The record.
        kind: Its kind.
        status: Where it stands.
        considered: How often it was among the best of a recall.
        shown: How often it was put into a packet.
        shown_at: When last, UTC; None when never.
        cited: How often an answer named it.
        corrected: How often it was corrected: 1 for what a correction replaced.
        helpful: How often it was rated helpful.
        unhelpful: How often it was rated unhelpful.
    """

    memory_id: str
    kind: str
    status: Status
    considered: int
    shown: int
    shown_at: datetime | None
    cited: int
    corrected: int
    helpful: int
    unhelpful: int


@dataclass(frozen=True, slots=True)
class UsefulnessPage(Plain):
    """One page of how records were used, newest first.

    Attributes:
        items: The records of this page.
        cursor: Pass it to the next call; None on the last page.
    """

    items: tuple[Usefulness, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Usefulness]:
        """Iterate over the records of this page."""
        return iter(self.items)

    def __len__(self) -> int:
        """Return the number of records on this page."""
        return len(self.items)
