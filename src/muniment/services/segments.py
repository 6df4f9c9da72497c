"""The hot scopes' segments, bounded in bytes, each read fresh at every recall."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING

from muniment.segment.segment import Segment

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Snapshot

CAPACITY = 256 * 1024 * 1024
_Key = tuple[str, int, bytes, int | None]


class _Place:
    """One scope's place in the cache; its lock makes building single-flight."""

    __slots__ = ("lock", "segment")

    def __init__(self) -> None:
        self.lock = Lock()
        self.segment: Segment | None = None


class Segments:
    """Least-recently-used cache of segments. Safe to use from several threads.

    A segment is keyed by the scope's incarnation and the model's slot, so neither an erased scope
    nor another model's vectors can be served from it. One that is larger than the whole cache is
    built for the one recall and not kept.

    Args:
        capacity: Most bytes to keep.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._reset()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._lock = Lock()
        self._places: OrderedDict[_Key, _Place] = OrderedDict()
        self._sizes: dict[_Key, int] = {}
        self._total = 0

    def current(
        self, view: Snapshot, owner: OwnerState, slot: int | None, dimensions: int
    ) -> Segment:
        """Return the scope's segment at exactly the version of the view.

        Args:
            view: The snapshot of this recall.
            owner: The scope's state in that snapshot.
            slot: The model whose vectors are wanted, or None.
            dimensions: Length of its vectors; 0 without a model.
        """
        key = (owner.owner.tenant_id, owner.owner_no, owner.incarnation, slot)
        place = self._place(key)
        with place.lock:
            known = place.segment
            if known is not None and known.version == owner.version:
                return known
            if known is None or known.version > owner.version:
                changes = view.index_changes(owner, 0, slot)
                segment = Segment.of(changes, owner.version, dimensions)
            else:
                changes = view.index_changes(owner, known.version, slot)
                segment = known.apply(changes, owner.version)
            if known is None or known.version < owner.version:
                place.segment = segment
        self._account(key, segment.nbytes)
        return segment

    def _place(self, key: _Key) -> _Place:
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            place = self._places.get(key)
            if place is None:
                place = self._places[key] = _Place()
            self._places.move_to_end(key)
            return place

    def _account(self, key: _Key, size: int) -> None:
        """Note a scope's new size and drop the scopes used longest ago until all fit."""
        with self._lock:
            if key not in self._places:
                return
            self._total += size - self._sizes.get(key, 0)
            self._sizes[key] = size
            if size > self._capacity:
                self._drop(key)
            while self._total > self._capacity:
                self._drop(next(iter(self._places)))

    def _drop(self, key: _Key) -> None:
        del self._places[key]
        self._total -= self._sizes.pop(key, 0)

    @property
    def nbytes(self) -> int:
        """Bytes held now."""
        return self._total

    def __len__(self) -> int:
        """Return how many scopes are held."""
        return len(self._places)
