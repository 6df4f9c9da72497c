"""Which checkpoints of a thread nothing needs any more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from muniment.threads import SavedCheckpoint

DELTAS = "counters_since_delta_snapshot"
"""Where the metadata of a checkpoint names its delta channels, which hold no value of their own."""


def superfluous(
    rows: Iterable[SavedCheckpoint], serde: SerializerProtocol
) -> Mapping[str, list[str]]:
    """Return the checkpoints of one thread that can go, by namespace.

    The latest of each namespace stays, and so do its ancestors back to where every delta channel
    of it has a value: a delta channel is rebuilt from that value and the writes since.

    Args:
        rows: The checkpoints of the thread, the latest first.
        serde: How bytes become values.
    """
    spaces: dict[str, dict[str, SavedCheckpoint]] = {}
    for row in rows:
        spaces.setdefault(row.namespace, {})[row.checkpoint_id] = row
    return {
        namespace: list(by_id.keys() - _needed(by_id, serde))
        for namespace, by_id in spaces.items()
        if len(by_id) > 1
    }


def _needed(by_id: Mapping[str, SavedCheckpoint], serde: SerializerProtocol) -> set[str]:
    latest = next(iter(by_id.values()))
    deltas = latest.metadata.get(DELTAS)
    missing = set(deltas) if isinstance(deltas, Mapping) else set()
    missing -= _valued(latest, serde) if missing else set()
    needed = {latest.checkpoint_id}
    row = by_id.get(latest.parent_id or "")
    while row is not None and missing:
        needed.add(row.checkpoint_id)
        missing -= _valued(row, serde)
        row = by_id.get(row.parent_id or "")
    return needed


def _valued(row: SavedCheckpoint, serde: SerializerProtocol) -> set[str]:
    return set(serde.loads_typed((row.type, row.value))["channel_values"])
