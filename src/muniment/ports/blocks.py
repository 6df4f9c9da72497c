"""What a cold recall reads at once: an owner's records and their vectors as they were packed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from muniment.ports.integrity import Head
from muniment.ports.rows import Block, OwnerState

Room = Callable[[int], memoryview]
"""Gives the memory for a block's content of so many bytes."""


class Thinner(Protocol):
    """Takes vectors out of a block."""

    def __call__(self, head: Head, block: Block, seqs: AbstractSet[int], /) -> bytes | None:
        """Return a block's content without some records; None when no record is left.

        Args:
            head: Whose block it is.
            block: As it is stored.
            seqs: The records, which need not be in it.
        """
        ...


class BlockView(Protocol):
    """The part of a snapshot from which a segment is built."""

    def packed_version(self, owner: OwnerState) -> int:
        """Return the version at which the owner's words were packed last; 0 when they are not."""
        ...

    def blocks(
        self, owner: OwnerState, slot: int | None, room: Room | None = None
    ) -> Iterator[Block]:
        """Yield the owner's packed words, if any, and then the packed vectors of a model by seq.

        Each is read when it is asked for, within the snapshot. What changed after a block's version
        is not in it: see `index_changes`.

        Args:
            owner: Whose they are.
            slot: The model, or None.
            room: Where the content of a block of vectors may be read to, if the back end can; it is
                then that memory.

        Raises:
            TamperedError: One was changed behind muniment's back.
        """
        ...

    def vector_blocks(self, owner: OwnerState, slot: int, low: int, high: int) -> list[Block]:
        """Return by seq the packed vectors of a model that may belong to a range of records.

        Raises:
            TamperedError: One was changed behind muniment's back.
        """
        ...

    def block_places(self, owner: OwnerState, slot: int) -> list[int]:
        """Return the seq of every block of a model's vectors, in order."""
        ...

    def slots(self, owner: OwnerState) -> list[int]:
        """Return the numbers, in order, of all models that the owner's server knows."""
        ...

    def own_vectors(self, owner: OwnerState, slot: int) -> list[tuple[int, bytes]]:
        """Return seq and vector, by seq, of active records whose vector lies in no block."""
        ...

    def packed_vectors(self, owner: OwnerState, slot: int) -> Mapping[int, bool]:
        """Return by seq whether it is active, of every record whose vector lies in a block."""
        ...


class BlockWriter(Protocol):
    """The part of a transaction that packs.

    When a record is removed, erased or archived, or loses a vector, the packed words of its owner
    go in the same transaction, and its vectors are taken out of their blocks before it ends.
    """

    def put_block(self, owner: OwnerState, block: Block) -> None:
        """Store a block in the place of one with the same slot and seq."""
        ...

    def drop_block(self, owner: OwnerState, slot: int, seq: int) -> None:
        """Remove a block, if it is there."""
        ...

    def drop_words(self, owner: OwnerState) -> None:
        """Remove the owner's packed words, if there are any."""
        ...

    def hold(self, owner: OwnerState, slot: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Let records that have a vector of a model hold it themselves, or leave it to a block.

        Args:
            owner: Whose records they are.
            slot: The model.
            vectors: Seq and vector; empty for one that lies in a block from now on.
        """
        ...

    def tidy(self, thinner: Thinner | None = None) -> None:
        """Take out of blocks the vectors that were removed in this transaction so far.

        Args:
            thinner: Knows how to open blocks that are sealed; None where they are not.
        """
        ...
