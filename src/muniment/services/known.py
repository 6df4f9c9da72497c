"""Records of a hot scope that were read and verified at its present version."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import deepcopy
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import PacketItem, Record
from muniment.rules.packet import Line, line
from muniment.rules.sameness import Wording, wording
from muniment.rules.sharing import Source, source_of

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Snapshot

MOST = 8 * 1024 * 1024
_EACH = 1536
_SCALARS = (str, int, float, type(None))


class Shown(NamedTuple):
    """What recall keeps ready of a record.

    Attributes:
        record: The record; to look at, not to give away.
        held: Copies of what a caller could change in it, by name; None: no more than that its
            metadata is empty.
        line: Its line of a packet, as long as nothing contradicts it.
        said: What it is compared by.
        source: The source that it counts for, or None.
    """

    record: Record
    held: Mapping[str, object] | None
    line: Line
    said: Wording
    source: Source | None

    def own(self) -> Record:
        """Return an equal record that is the caller's alone."""
        held = {"metadata": {}} if self.held is None else deepcopy(self.held)
        return self.record.copied(held)


class KnownRecords:
    """Active records of one version of a scope.

    A record read once need not be read, verified and encoded again until the scope's version moves
    past it. Bounded in bytes: over the bound it starts anew. Safe to use from several threads.

    Args:
        known: What is known of the same version, by seq.
    """

    def __init__(self, known: dict[int, Shown] | None = None) -> None:
        self._known = known or {}
        self.nbytes = sum(map(_size, self._known.values()))

    def without(self, moved: Collection[int]) -> KnownRecords:
        """Return what is still known when some records have changed or gone."""
        kept = {seq: one for seq, one in self._known.copy().items() if seq not in moved}
        return KnownRecords(kept)

    def read(self, view: Snapshot, state: OwnerState, seqs: Sequence[int], now: int) -> list[Shown]:
        """Return records in the order given; missing ones are left out.

        Args:
            view: A snapshot of the version that is known.
            state: The owner in that snapshot.
            seqs: Records that are true and kept at `now`.
            now: The present instant, microseconds since 1970, UTC.
        """
        known = self._known
        found = {seq: one for seq in seqs if (one := known.get(seq)) is not None}
        if len(found) < len(seqs):
            missing = [seq for seq in seqs if seq not in found]
            for record in view.records(state, missing, now):
                found[record.seq] = self._keep(record)
            return [found[seq] for seq in seqs if seq in found]
        return [*found.values()]

    def _keep(self, record: Record) -> Shown:
        held = None
        if record.metadata or not isinstance(record.value, _SCALARS):
            held = deepcopy({"value": record.value, "metadata": record.metadata})
        shown = Shown(
            record,
            held,
            Line(line(PacketItem(record, 0.0))),
            wording(record, str(record.expires_at)),
            source_of(record),
        )
        size = _size(shown)
        if self.nbytes + size > MOST:
            self._known, self.nbytes = {}, 0
        if size <= MOST:
            self._known[record.seq] = shown
            self.nbytes += size
        return shown


def _size(one: Shown) -> int:
    """Return about how many bytes a record and its line take in memory."""
    return _EACH + 2 * getsizeof(one.line.text)
