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
        key = (owner.scope.tenant_id, owner.owner_no, owner.incarnation, slot)
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
        self._evict(key, segment)
        return segment

    def _place(self, key: _Key) -> _Place:
        if self._pid != os.getpid():
            self._reset()
        with self._lock:
            place = self._places.setdefault(key, _Place())
            self._places.move_to_end(key)
            return place

    def _evict(self, key: _Key, newest: Segment) -> None:
        with self._lock:
            if newest.nbytes > self._capacity:
                self._places.pop(key, None)
            sizes = {
                known: place.segment.nbytes
                for known, place in self._places.items()
                if place.segment is not None
            }
            total = sum(sizes.values())
            for known, size in sizes.items():
                if total <= self._capacity:
                    return
                del self._places[known]
                total -= size

    @property
    def nbytes(self) -> int:
        """Bytes held now."""
        with self._lock:
            segments = (place.segment for place in self._places.values())
            return sum(segment.nbytes for segment in segments if segment is not None)

    def __len__(self) -> int:
        """Return how many scopes are held."""
        return len(self._places)
