"""Packing a scope's records, so that the next cold recall reads them at once."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from muniment.ports import Block
from muniment.segment import block, matrix
from muniment.segment.part import build

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muniment.ports import OwnerState, Snapshot, Transaction
    from muniment.scope import Owner

LEAST, SHARE = 256, 4
"""A write packs after so many changes at least, and one for so many that were packed."""

LEAST_UPKEEP, SHARE_UPKEEP = 64, 32
"""The same of maintenance, which has time."""

EVERY = 64
"""Versions between two looks whether a write should pack."""

MOST = 20_000
"""Versions up to which a write packs by itself; larger scopes wait for maintenance."""

VECTORS = 2048
"""Most vectors in a block: what a removal or a new tail rewrites."""

RESTING = 8
"""A block is rewritten when one in so many of its vectors belongs to no active record."""


def is_due(view: Snapshot, owner: OwnerState, *, is_upkeep: bool = False) -> bool:
    """Return whether enough has changed since the owner's records were packed."""
    packed = view.packed_version(owner)
    least, share = (LEAST_UPKEEP, SHARE_UPKEEP) if is_upkeep else (LEAST, SHARE)
    return owner.version - packed >= max(least, packed // share)


def falls_due(before: OwnerState | None, after: OwnerState | None) -> bool:
    """Return whether a write that moved an owner from one state to another looks at its block."""
    if after is None or after.version > MOST:
        return False
    passed = 0 if before is None else before.version // EVERY
    return after.version // EVERY > passed


def pack(tx: Transaction, owner: Owner, *, is_upkeep: bool = False) -> bool:
    """Pack the active records of an owner if it is due; return whether it was.

    Words are copied, so that their block may be dropped and packed anew at any time. Vectors move:
    each lies in its row or in a block, and never in both.
    """
    state = tx.owner(owner)
    if state is None or not is_due(tx, state, is_upkeep=is_upkeep):
        return False
    rows = tx.index_changes(state, 0, None).rows
    if not rows:
        return False
    part = build(rows, 0)
    embedded = {}
    for slot in tx.slots(state):
        _move(tx, state, slot)
        whole = block.with_vectors(part, _matrices(tx, state, slot))
        if whole.embedded.any():
            embedded[slot] = replace(whole, vectors=whole.vectors[:0])
    tx.drop_words(state)
    tx.put_block(state, Block(rows[0].seq, state.version, block.encode(part, embedded)))
    return True


def _matrices(tx: Transaction, owner: OwnerState, slot: int) -> Iterator[bytes]:
    for place in tx.block_places(owner, slot):
        for one in tx.vector_blocks(owner, slot, place, place):
            yield one.content


def _move(tx: Transaction, owner: OwnerState, slot: int) -> None:
    """Move a model's vectors of active records into blocks."""
    packed = tx.packed_vectors(owner, slot)
    fresh = tx.own_vectors(owner, slot)
    places = tx.block_places(owner, slot) or [0]
    arriving: dict[int, list[tuple[int, bytes]]] = {place: [] for place in places}
    for seq, vector in fresh:
        arriving[_place(places, seq)].append((seq, vector))
    resting = dict.fromkeys(places, 0)
    for seq, is_active in packed.items():
        resting[_place(places, seq)] += 1 if is_active else -RESTING
    for place, moving in arriving.items():
        if moving or resting[place] < 0:
            _rewrite(tx, owner, slot, place, moving, packed)
    tx.hold(owner, slot, [(seq, b"") for seq, _ in fresh])


def _place(places: Sequence[int], seq: int) -> int:
    """Return the seq of the block that a record belongs to."""
    return places[max(bisect_right(places, seq) - 1, 0)]


def _rewrite(
    tx: Transaction,
    owner: OwnerState,
    slot: int,
    place: int,
    arriving: list[tuple[int, bytes]],
    packed: Mapping[int, bool],
) -> None:
    """Pack arriving vectors with those of the block at a place; what is not active leaves it."""
    held = [
        matrix.decode(one.content)
        for one in tx.vector_blocks(owner, slot, place, place)
        if one.seq == place
    ]
    kept = []
    for one in held:
        state = [packed.get(seq) for seq in one.seqs.tolist()]
        if len(one) >= VECTORS and all(state) and arriving[0][0] > one.seqs[-1]:
            break
        leaving, staying = (np.array([is_it is way for is_it in state]) for way in (False, True))
        tx.hold(owner, slot, one.kept(leaving).stored())
        tx.drop_block(owner, slot, place)
        kept.append(one.kept(staying))
    if arriving:
        kept.append(matrix.from_rows(arriving))
    whole = matrix.joined(kept)
    for start in range(0, len(whole), VECTORS):
        piece = whole.kept(np.arange(len(whole)) // VECTORS == start // VECTORS)
        content = matrix.encode(piece)
        tx.put_block(owner, Block(int(piece.seqs[0]), owner.version, content, slot))
