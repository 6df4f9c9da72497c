"""Verification of a whole store against its key and its anchor; other keys for what is sealed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from muniment.ports import Anchored, Head, MasterKey, Snapshot, Store
from muniment.results import Flaw, Verification
from muniment.rules.integrity import compare


class Guarding:
    """Looks whether anything was changed behind muniment's back, and replaces keys."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def verify(self, anchor: Path | None) -> Verification:
        """Check every row, every audit chain and the anchor.

        Args:
            anchor: A copy of the anchor that was kept elsewhere, or None for the store's own.
        """
        anchored = self._store.anchored(anchor)
        noted = {} if anchored is None else _places(anchored)
        with self._store.snapshot() as view:
            return _verification(view, anchored, noted)

    def anchor(self) -> None:
        """Believe the present state: note it in a new anchor."""
        self._store.anchor(renew=True)

    def rotate(self, master: MasterKey | None, *, reseal: bool) -> int:
        """Guard the store by another master key; return how many data keys there are.

        Raises:
            InvalidInputError: The store is not sealed, or its key is elsewhere and none is given.
        """
        keys = self._store.rotate_master(master)
        if reseal:
            with self._store.snapshot() as view:
                owners = view.owners()
            for owner in owners:
                self._store.reseal(owner)
        return keys


def _places(anchored: Anchored) -> Mapping[tuple[str, int], Head]:
    return {(head.tenant_id, head.owner_no): head for head in anchored.heads}


def _verification(
    view: Snapshot, anchored: Anchored | None, noted: Mapping[tuple[str, int], Head]
) -> Verification:
    heads = {(head.tenant_id, head.owner_no): head for head in view.heads()}
    flaws: list[Flaw] = list(compare(heads, anchored))
    rows = entries = 0
    for place, head in heads.items():
        seen = view.inspect(head, noted.get(place))
        rows += seen.rows
        entries += seen.entries
        flaws += seen.flaws
    is_on = anchored is not None and anchored.is_there
    return Verification(
        owners=len(heads),
        rows=rows,
        entries=entries,
        anchored=len(noted),
        integrity="on" if is_on else "off",
        flaws=tuple(flaws),
    )
