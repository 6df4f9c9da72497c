"""What an owner already holds, or buried, about a new statement, over one connection."""

from __future__ import annotations

from collections.abc import Sequence

from muniment.ports import Filed, OwnerState, Proposed
from muniment.records import EmbeddingState
from muniment.storage.base import status_at, texts_json
from muniment.storage.ledger import GuardedView, key_of

_VALUES = ("value_a", "value_b", "value_c", "value_d", "value_e", "value_f")


class PastSnapshot(GuardedView):
    """The part of a snapshot that a write looks at before it decides."""

    def filed(self, owner: OwnerState, source_id: str, now: int) -> Filed | None:
        """Return what was written under a source_id, or None."""
        row = self._one("filed", {**key_of(owner), "source_id": source_id})
        if row is None:
            return None
        memory_id, status, expires_at, digest, embedding = row
        standing = status_at(status, expires_at, now)
        return Filed(memory_id, standing, digest, EmbeddingState(embedding))

    def filed_among(self, owner: OwnerState, source_ids: Sequence[str]) -> frozenset[str]:
        """Return those of some source_ids under which the owner has a record."""
        if len(source_ids) == 1:
            (source_id,) = source_ids
            row = self._one("filed", {**key_of(owner), "source_id": source_id})
            return frozenset() if row is None else frozenset(source_ids)
        values = {**key_of(owner), "source_ids": texts_json(source_ids)}
        return frozenset(row[0] for row in self._all("filed_among", values))

    def proposed(self, owner: OwnerState, source_id: str) -> Proposed | None:
        """Return what was proposed under a source_id, or None."""
        row = self._one("candidate_by_source", {**key_of(owner), "source_id": source_id})
        return None if row is None else Proposed._make(row)

    def buried_source(self, owner: OwnerState, source_digest: bytes) -> str | None:
        """Return the reason of a tombstone of this source_id, or None."""
        values = {**key_of(owner), "source_digest": source_digest}
        row = self._one("tombstone_by_source", values)
        return None if row is None else str(row[0])

    def buried_value(self, owner: OwnerState, value_digest: bytes) -> frozenset[str]:
        """Return the reasons of every tombstone of this value."""
        values = {**key_of(owner), "value_digest": value_digest}
        return frozenset(row[0] for row in self._all("tombstones_by_value", values))

    def has_precedent(
        self,
        owner: OwnerState,
        source_id: str,
        source_digest: bytes,
        value_digests: Sequence[bytes],
    ) -> bool:
        """Return whether anything of the owner may stand before a new statement."""
        values = {**key_of(owner), "source_id": source_id, "source_digest": source_digest}
        spare = [value_digests[0]] * (len(_VALUES) - len(value_digests))
        values.update(zip(_VALUES, [*value_digests, *spare], strict=True))
        ((found,),) = self._all("precedent", values)
        return bool(found)
