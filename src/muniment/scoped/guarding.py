"""The verbs that guard a whole store: verify it, anchor it, give it other keys."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muniment.results import Verification
from muniment.rules.arguments import checks_arguments

if TYPE_CHECKING:
    from muniment.services.guarding import Guarding


@checks_arguments
class StoreGuarding:
    """What an operator does to know that nothing was changed behind muniment's back."""

    _guarding: Guarding

    def verify(self, *, anchor: str | Path | None = None) -> Verification:
        """Check every row and audit entry against the store's key, and all against the anchor.

        Sees what was edited, added, dropped, moved or reordered in the database, and whether it
        is an older state than the anchor knows. Reads everything; reads and writes go on meanwhile.

        Args:
            anchor: A copy of the anchor file that was kept elsewhere; None for the one beside the
                database.

        Raises:
            StoreError: The database cannot be read.
        """
        return self._guarding.verify(None if anchor is None else Path(anchor))

    def anchor(self) -> None:
        """Believe the present state from now on: write a new anchor.

        For a database that was restored from a backup on purpose, or whose anchor was lost.

        Raises:
            StoreError: The database cannot be read, or the anchor cannot be written.
        """
        self._guarding.anchor()

    def rotate_keys(self, new_key: object = None, *, reseal: bool = False) -> int:
        """Guard a sealed store by another master key; the old one opens it no more.

        Args:
            new_key: As `key` of `open`; None for a new key in the key file beside the database.
            reseal: Whether every scope gets a new data key too and all its rows are sealed again.

        Returns:
            How many data keys were wrapped again.

        Raises:
            InvalidInputError: The store is not sealed, or its key is elsewhere and none is given.
            KeyMissingError: The new key is not there.
            StoreError: The database failed; calling it again goes on where it stopped.
        """
        from muniment.providers.keys import open_key

        return self._guarding.rotate(open_key(new_key), reseal=reseal)
