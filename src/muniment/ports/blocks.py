"""What a cold recall reads at once: an owner's records as they were packed, and all vectors."""

from __future__ import annotations

from typing import Protocol

from muniment.ports.rows import Block, OwnerState


class BlockView(Protocol):
    """The part of a snapshot from which a segment is built."""

    def block(self, owner: OwnerState) -> Block | None:
        """Return the owner's active records as they were packed last, or None.

        What changed after the block's version is not in it: see `index_changes`.

        Raises:
            TamperedError: It was changed behind muniment's back.
        """
        ...

    def vectors(self, owner: OwnerState, slot: int) -> list[tuple[int, bytes]]:
        """Return seq and vector of every record that has one of a model, ordered by seq."""
        ...


class BlockWriter(Protocol):
    """The part of a transaction that packs."""

    def pack(self, owner: OwnerState, block: Block) -> None:
        """Keep the owner's packed records instead of those packed before.

        A block goes, in the same transaction, with any record that is removed, erased or archived.
        """
        ...
