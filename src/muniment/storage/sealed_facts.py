"""What filters look at, kept open for the scopes asked last, so that it is not opened each time."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import TypeAlias

from muniment.ports import OwnerState
from muniment.rules.filters import Facts

MOST_ROWS = 100_000

Rows: TypeAlias = list[tuple[int, Facts]]


class OpenFacts:
    """Facts by owner, each at one version of it. Safe to use from several threads.

    Args:
        most: Most rows to keep over all owners.
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int, bytes], tuple[int, Rows]] = OrderedDict()

    def get(self, owner: OwnerState) -> Rows | None:
        """Return an owner's facts at exactly its version, or None."""
        with self._lock:
            version, rows = self._kept.get(_key(owner), (None, None))
            if version != owner.version:
                return None
            self._kept.move_to_end(_key(owner))
            return rows

    def put(self, owner: OwnerState, rows: Rows) -> None:
        """Keep an owner's facts in the place of those of another version."""
        with self._lock:
            self._kept.pop(_key(owner), None)
            self._kept[_key(owner)] = owner.version, rows
            while sum(len(kept) for _, kept in self._kept.values()) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing: keys were destroyed or replaced."""
        with self._lock:
            self._kept.clear()


def _key(owner: OwnerState) -> tuple[str, int, bytes]:
    return owner.owner.tenant_id, owner.owner_no, owner.incarnation
