"""Records of a hot scope that were read and verified at its present version."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import deepcopy
from dataclasses import fields
from operator import attrgetter
from sys import getsizeof
from typing import TYPE_CHECKING, NamedTuple

from muniment.records import PacketItem, Record
from muniment.rules.packet import line
from muniment.rules.sameness import Wording, wording

if TYPE_CHECKING:
    from muniment.ports import OwnerState, Snapshot

MOST = 2 * 1024 * 1024
_EACH = 1536
_NAMES = tuple(field.name for field in fields(Record))
_values = attrgetter(*_NAMES)
_VALUE, _METADATA = map(_NAMES.index, ("value", "metadata"))
_SCALARS = (str, int, float, type(None))


class Shown(NamedTuple):
    """A record, its line of a packet as long as nothing contradicts it, and its wording."""

    record: Record
    line: str
    said: Wording


class _Known(NamedTuple):
    """A record that a caller has, copies of what the caller could change in it, and the rest."""

    record: Record
    held: tuple[tuple[int, object], ...]
    line: str
    said: Wording

    def shown(self) -> Shown:
        values = list(_values(self.record))
        for place, held in self.held:
            values[place] = _copied(held)
        return Shown(Record(*values), self.line, self.said)


def _copied(held: object) -> object:
    return deepcopy(held) if held else type(held)()


class KnownRecords:
    """Active records of one version of a scope.

    A record read once need not be read, verified and encoded again until the scope's version moves
    past it. Every caller gets a record of its own. Bounded in bytes: over the bound it starts anew.
    Safe to use from several threads.

    Args:
        known: What is known of the same version, by seq.
    """

    def __init__(self, known: dict[int, _Known] | None = None) -> None:
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
        found = {seq: one.shown() for seq in seqs if (one := known.get(seq)) is not None}
        missing = [seq for seq in seqs if seq not in found]
        for record in view.records(state, missing, now) if missing else ():
            found[record.seq] = self._keep(record)
        return [found[seq] for seq in seqs if seq in found]

    def _keep(self, record: Record) -> Shown:
        said = wording(record, str(record.expires_at))
        shown = Shown(record, line(PacketItem(record, 0.0)), said)
        named = ((_VALUE, record.value), (_METADATA, record.metadata))
        held = tuple((at, _copied(one)) for at, one in named if not isinstance(one, _SCALARS))
        one = _Known(record, held, shown.line, shown.said)
        size = _size(one)
        if self.nbytes + size > MOST:
            self._known, self.nbytes = {}, 0
        if size <= MOST:
            self._known[record.seq] = one
            self.nbytes += size
        return shown


def _size(one: _Known) -> int:
    """Return about how many bytes a record and its line take in memory."""
    return _EACH + 2 * getsizeof(one.line)
