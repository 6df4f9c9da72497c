"""The hot scopes' segments, bounded in bytes, each read fresh at every recall."""

from __future__ import annotations

import os
from collections import OrderedDict
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from muniment.segment.block import decode
from muniment.segment.matrix import Gathering
from muniment.segment.segment import Segment
from muniment.services.filling import changes_since, missing_block
from muniment.services.known import KnownRecords

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Snapshot

CAPACITY = 256 * 1024 * 1024
_Key = tuple[str, int, bytes, int | None]


class Hot(NamedTuple):
    """A scope's segment, its records that were read at the segment's version, and its bytes."""

    segment: Segment
    records: KnownRecords
    size: int

    @property
    def nbytes(self) -> int:
        """Bytes both take in memory."""
        return self.size + self.records.nbytes


class _Place:
    """One scope's place in the cache; its lock makes building single-flight."""

    __slots__ = ("hot", "lock")

    def __init__(self) -> None:
        self.lock = Lock()
        self.hot: Hot | None = None


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
        """Return the scope's segment at exactly the version of the view; see `hot`."""
        return self.hot(view, owner, slot, dimensions).segment

    def hot(self, view: Snapshot, owner: OwnerState, slot: int | None, dimensions: int) -> Hot:
        """Return the scope's segment and known records at exactly the version of the view.

        Args:
            view: The snapshot of this recall.
            owner: The scope's state in that snapshot.
            slot: The model whose vectors are wanted, or None.
            dimensions: Length of its vectors; 0 without a model.
        """
        key = (owner.owner.tenant_id, owner.owner_no, owner.incarnation, slot)
        place = self._place(key)
        with place.lock:
            known = place.hot
            version = 0 if known is None else known.segment.version
            if known is None or version != owner.version:
                hot = _brought(known, view, owner, slot, dimensions)
                if version < owner.version:
                    place.hot = hot
            else:
                hot = known
        self._account(key, hot.nbytes)
        return hot

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
        if self._sizes.get(key) == size:
            return
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


def _brought(
    known: Hot | None, view: Snapshot, owner: OwnerState, slot: int | None, dimensions: int
) -> Hot:
    """Return what is known of a scope, brought to the version of the view, or built anew."""
    records = KnownRecords()
    if known is None or known.segment.version > owner.version:
        segment = _built(view, owner, slot, dimensions)
    else:
        changes = changes_since(view, owner, known.segment.version, slot)
        segment = known.segment.apply(changes, owner.version)
        records = known.records.without({*changes.gone, *(row.seq for row in changes.rows)})
    return Hot(segment, records, segment.nbytes)


def _built(view: Snapshot, owner: OwnerState, slot: int | None, dimensions: int) -> Segment:
    """Return a scope's segment from its blocks and what changed since, or from its rows."""
    gathering = Gathering(dimensions)
    blocks = view.blocks(owner, slot, gathering.room)
    words = next(blocks, None)
    if words is None or words.slot:
        changes = changes_since(view, owner, 0, slot)
        return Segment.of(changes, owner.version, dimensions)
    part, should = decode(words.content, (one.content for one in blocks), slot, gathering)
    segment = Segment.packed(part, words.version)
    if words.version != owner.version:
        changes = changes_since(view, owner, words.version, slot)
        segment = segment.apply(changes, owner.version, merges=False)
    if (should & ~part.embedded & ~segment.left).any():
        raise missing_block(owner)
    return segment
