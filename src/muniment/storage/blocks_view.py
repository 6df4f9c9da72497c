"""Packed records of an owner over one connection: read whole, checked, and dropped as a whole."""

from __future__ import annotations

from muniment.ports import Block, OwnerState
from muniment.storage.ledger import GuardedView, Ledger, key_of


class BlockSnapshot(GuardedView):
    """The part of a snapshot from which a segment is built at once."""

    def block(self, owner: OwnerState) -> Block | None:
        """Return an owner's packed records, or None."""
        for row in self._checked("blocks", "all_blocks", key_of(owner)):
            return Block(row["seq"], row["version"], row["content"])
        return None

    def vectors(self, owner: OwnerState, slot: int) -> list[tuple[int, bytes]]:
        """Return every vector of a model, ordered by seq."""
        rows: list[tuple[int, bytes]] = self._all("slot_vectors", {**key_of(owner), "slot": slot})
        return rows


class BlockTransaction(Ledger, BlockSnapshot):
    """The part of a transaction that packs."""

    def pack(self, owner: OwnerState, block: Block) -> None:
        """Put a block in the place of the one there is."""
        key = key_of(owner)
        self._all("delete_blocks", key)
        self._insert("blocks", "insert_block", {**key, **block._asdict()})
