"""What an owner already holds, or buried, about a new statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from muniment.ports.rows import Filed, OwnerState, Proposed


class PastView(Protocol):
    """The part of a snapshot that a write looks at before it decides."""

    def filed(self, owner: OwnerState, source_id: str, now: int) -> Filed | None:
        """Return what was written under a source_id, or None."""
        ...

    def filed_among(self, owner: OwnerState, source_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some source_ids under which the owner has a record. One read for all."""
        ...

    def proposed(self, owner: OwnerState, source_id: str) -> Proposed | None:
        """Return what was proposed under a source_id, or None."""
        ...

    def buried_source(self, owner: OwnerState, source_digest: bytes) -> str | None:
        """Return the reason of a tombstone of this source_id, or None."""
        ...

    def buried_value(self, owner: OwnerState, value_digest: bytes) -> frozenset[str]:
        """Return the reasons of every tombstone of this value."""
        ...

    def has_precedent(
        self,
        owner: OwnerState,
        source_id: str,
        source_digest: bytes,
        value_digests: Sequence[bytes],
    ) -> bool:
        """Return whether anything of the owner may stand before a new statement.

        When it is false, no record and no candidate, hidden ones included, has the source_id, no
        tombstone has one of the digests, and no deletion hides records. One read for all of it.

        Args:
            owner: Whose statement it is.
            source_id: Its source_id.
            source_digest: The digest by which a tombstone knows the source_id.
            value_digests: Those by which a tombstone knows what it says; one to six.
        """
        ...
