"""Keeps out what arrives late: writes of what is being forgotten, and what rests on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muniment.errors import TombstonedError
from muniment.keys import Keys, digest
from muniment.rules.tombstones import Burial, admits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muniment.ports import OwnerState, Snapshot
    from muniment.records import WritePath
    from muniment.scope import Owner


def event_digest(keys: Keys, owner: Owner, event_id: str) -> bytes:
    """Return the keyed digest by which a tombstone knows an event."""
    return digest(keys.tombstone(owner), "event", event_id)


def thread_digest(keys: Keys, owner: Owner, sort: str, name: str) -> bytes:
    """Return the keyed digest by which a tombstone knows a thread."""
    return digest(keys.tombstone(owner), "thread", sort, name)


def thread_name(keys: Keys, owner: Owner, sort: str, name: str) -> str:
    """Return how audit and tombstones name a thread: nothing that the caller's id says."""
    return f"thr_{thread_digest(keys, owner, sort, name).hex()}"


def refuse_late(
    view: Snapshot,
    state: OwnerState,
    keys: Keys,
    *,
    source_id: str,
    path: WritePath,
    evidence: Sequence[str],
) -> None:
    """Refuse a write that would bring back what is being forgotten, or that rests on it.

    A large deletion hides its records at once and leaves their tombstones one by one; until they
    are all there, only a person may write to the owner, and not under a source_id that is going.

    Raises:
        TombstonedError: The write comes too late.
    """
    hidden = view.hidden(state, source_id)
    if hidden.source or (hidden.any and not admits(Burial.FORGOTTEN, path, None)):
        raise TombstonedError(
            "What this scope held is being forgotten just now; run maintenance to let the "
            "deletion finish, or state it again under a new source_id."
        )
    for number, event in enumerate(evidence):
        buried = view.buried_source(state, event_digest(keys, state.owner, event))
        if buried is not None or Burial.FORGOTTEN in view.buried_id(state, event):
            raise TombstonedError(
                f"evidence[{number}] was forgotten; nothing that rests on it is kept."
            )
