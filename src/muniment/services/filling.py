"""Bringing rows and the vectors that lie in blocks together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.errors import TamperedError
from muniment.segment import matrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muniment.ports import Block, OwnerState, Snapshot
    from muniment.segment.rows import IndexChanges, IndexRow


def filled(
    view: Snapshot, owner: OwnerState, slot: int | None, rows: list[IndexRow]
) -> list[IndexRow]:
    """Return rows with the vectors that lie in blocks.

    Args:
        view: Where the rows come from.
        owner: Whose they are.
        slot: The model whose vectors were asked for, or None.
        rows: As the view gave them, in any order.

    Raises:
        TamperedError: A block is gone.
    """
    missing = [row.seq for row in rows if row.vector == b""]
    if slot is None or not missing:
        return rows
    found = _vectors(view.vector_blocks(owner, slot, min(missing), max(missing)))
    if not found.keys() >= set(missing):
        raise missing_block(owner)
    return [row._replace(vector=found[row.seq]) if row.vector == b"" else row for row in rows]


def _vectors(blocks: Iterable[Block]) -> dict[int, bytes]:
    return {seq: vector for one in blocks for seq, vector in matrix.decode(one.content).stored()}


def missing_block(owner: OwnerState) -> TamperedError:
    """Return the error of vectors that should lie in a block and do not."""
    return TamperedError(
        f"Packed vectors of owner number {owner.owner_no} are not where they were put; run a "
        "verification and restore them from a backup.",
        table="blocks",
        id=f"number {owner.owner_no}",
    )


def changes_since(view: Snapshot, owner: OwnerState, since: int, slot: int | None) -> IndexChanges:
    """Return what happened to an owner's active records after a version, with their vectors.

    Args:
        view: Where to look.
        owner: Whose they are.
        since: The version; 0 for all active records.
        slot: The model whose vectors are wanted, or None.

    Raises:
        TamperedError: A block is gone.
    """
    changes = view.index_changes(owner, since, slot)
    return changes._replace(rows=filled(view, owner, slot, changes.rows))
