"""Packed records of an owner over one connection: read whole, checked, thinned when one goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from muniment.ports import Block, Head, OwnerState
from muniment.ports.blocks import Room, Thinner
from muniment.segment.matrix import without
from muniment.storage.inspect_view import RowInspection
from muniment.storage.ledger import GuardedView, Ledger, Place, Row, key_of

WORDS = 0


class BlockSnapshot(GuardedView):
    """The part of a snapshot from which a segment is built at once."""

    def _segment_rows(self, values: Mapping[str, Any], room: Room | None) -> Iterable[Row]:
        del room
        return self._all("segment_blocks", values)

    def _blocks(self, found: Iterable[Row]) -> Iterator[Block]:
        for one in found:
            (row,) = self._intact("blocks", [one])
            yield Block(row["seq"], row["version"], row["content"], row["slot"])

    def packed_version(self, owner: OwnerState) -> int:
        """Return the version at which the owner's words were packed last."""
        row = self._one("packed_version", key_of(owner))
        return 0 if row is None else int(row[0])

    def blocks(
        self, owner: OwnerState, slot: int | None, room: Room | None = None
    ) -> Iterator[Block]:
        """Yield the owner's packed words and the packed vectors of a model."""
        return self._blocks(self._segment_rows({**key_of(owner), "slot": slot}, room))

    def vector_blocks(self, owner: OwnerState, slot: int, low: int, high: int) -> list[Block]:
        """Return the packed vectors of a model that may belong to a range of records."""
        values = {**key_of(owner), "slot": slot, "low": low, "high": high}
        return list(self._blocks(self._all("vector_blocks", values)))

    def block_places(self, owner: OwnerState, slot: int) -> list[int]:
        """Return the seq of every block of a model's vectors, in order."""
        return [row[0] for row in self._all("block_places", {**key_of(owner), "slot": slot})]

    def slots(self, owner: OwnerState) -> list[int]:
        """Return the numbers, in order, of all models that the owner's server knows."""
        return [row[0] for row in self._all("slots", key_of(owner))]

    def own_vectors(self, owner: OwnerState, slot: int) -> list[tuple[int, bytes]]:
        """Return seq and vector of active records whose vector lies in no block."""
        rows: list[tuple[int, bytes]] = self._all("own_vectors", {**key_of(owner), "slot": slot})
        return rows

    def packed_vectors(self, owner: OwnerState, slot: int) -> Mapping[int, bool]:
        """Return by seq whether it is active, of every record whose vector lies in a block."""
        rows = self._all("packed_vectors", {**key_of(owner), "slot": slot})
        return {seq: bool(is_active) for seq, is_active in rows}


class BlockTransaction(Ledger, BlockSnapshot, RowInspection):
    """The part of a transaction that packs."""

    def put_block(self, owner: OwnerState, block: Block) -> None:
        """Store a block in the place of one with the same slot and seq."""
        values = {**key_of(owner), **block._asdict()}
        self._all("delete_block", values)
        self._insert("blocks", "insert_block", values)

    def drop_block(self, owner: OwnerState, slot: int, seq: int) -> None:
        """Remove a block, if it is there."""
        self._all("delete_block", {**key_of(owner), "slot": slot, "seq": seq})

    def drop_words(self, owner: OwnerState) -> None:
        """Remove the owner's packed words, if there are any."""
        self._all("delete_blocks", key_of(owner))

    def hold(self, owner: OwnerState, slot: int, vectors: Sequence[tuple[int, bytes]]) -> None:
        """Let records hold a vector themselves, or leave it to a block.

        All rows go before they come back, as SQLite joins half-empty pages only when a row goes.
        """
        loose = self._take_loose()
        key = {**key_of(owner), "slot": slot}
        held = [pair for pair in vectors if self._all("delete_vector", {**key, "seq": pair[0]})]
        self._take_loose()
        self._loose.update(loose)
        for seq, vector in held:
            self._insert("vectors", "insert_vector", {**key, "seq": seq, "vector": vector})

    def tidy(self, thinner: Thinner | None = None) -> None:
        """Take out of blocks the vectors that were removed in this transaction so far."""
        for (tenant_id, owner_no), found in self._take_loose().items():
            head = self.head(tenant_id, owner_no)
            assert head is not None
            key = {"tenant_id": tenant_id, "owner_no": owner_no}
            self._all("delete_blocks", key)
            for slot in sorted({slot for slot, _ in found}):
                seqs = frozenset(seq for where, seq in found if where == slot)
                self._thin({**key, "slot": slot}, head, seqs, thinner or _thinned)

    def _thin(
        self, key: dict[str, Any], head: Head, seqs: AbstractSet[int], thinner: Thinner
    ) -> None:
        span = {"low": min(seqs), "high": max(seqs)}
        for block in self._blocks(self._all("vector_blocks", {**key, **span})):
            content = thinner(head, block, seqs)
            if content is None:
                self._all("delete_block", {**key, "seq": block.seq})
            elif content is not block.content:
                self._all("put_block", {**key, "seq": block.seq, "content": content})

    def settle(self) -> dict[Place, Row]:
        """Tidy up, then give every owner that was touched its new digest."""
        self.tidy()
        return super().settle()


def _thinned(head: Head, block: Block, seqs: AbstractSet[int], /) -> bytes | None:
    del head
    return without(block.content, seqs)
