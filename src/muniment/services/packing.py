"""Packing a scope's records, so that the next cold recall reads them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.ports import Block
from muniment.segment.block import encode
from muniment.segment.part import build

if TYPE_CHECKING:
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


def is_due(view: Snapshot, owner: OwnerState, *, is_upkeep: bool = False) -> bool:
    """Return whether enough has changed since the owner's records were packed."""
    block = view.block(owner)
    packed = 0 if block is None else block.version
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

    What a block holds follows from the rows, so that it may be dropped and packed anew at any time.
    """
    state = tx.owner(owner)
    if state is None or not is_due(tx, state, is_upkeep=is_upkeep):
        return False
    rows = tx.index_changes(state, 0, None).rows
    if not rows:
        return False
    tx.pack(state, Block(rows[0].seq, state.version, encode(build(rows, 0))))
    return True
