"""One round of maintenance: everything that is due, in the order in which it helps the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.rules.deletion import Waiting
from muniment.upkeep import Upkeep

if TYPE_CHECKING:
    from muniment.services.forgetting import Sweeping, ThreadForgetting
    from muniment.services.maintain import Maintenance

_COMPACTION = (Waiting.COMPACTION, Waiting.READER)


def keep_up(maintenance: Maintenance, forgetting: ThreadForgetting, sweeping: Sweeping) -> Upkeep:
    """Carry on deletions, end lifetimes, compact once for all that waits, and verify.

    Raises:
        StoreError: The database failed; what was done stays done.
    """
    resumed = forgetting.resume()
    deleted, archived = sweeping.sweep()
    ended = sweeping.sweep_threads()
    cleaned = sweeping.clean_up(rehearse=False).deleted
    lapsed, retired = maintenance.lapse(), sweeping.retire()
    due = sum(one.waiting in _COMPACTION for one in forgetting.open())
    finished = forgetting.finish()
    packed = maintenance.pack()
    waiting = forgetting.open()
    stuck = sum(one.waiting in _COMPACTION for one in waiting)
    return Upkeep(
        resumed=resumed,
        deleted=deleted,
        archived=archived,
        ended=ended,
        cleaned=cleaned,
        lapsed=lapsed,
        retired=retired,
        compacted=due > stuck,
        packed=packed,
        finished=finished,
        waiting=len(waiting),
    )
