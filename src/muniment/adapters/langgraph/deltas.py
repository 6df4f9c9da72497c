"""What a delta channel is rebuilt from: a value of an ancestor and the writes since."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.base import DeltaChannelHistory

if TYPE_CHECKING:
    from langgraph.checkpoint.base import PendingWrite
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from muniment.threads import SavedCheckpoint


def delta_history(
    get: Callable[[str], SavedCheckpoint | None],
    start: SavedCheckpoint | None,
    channels: Sequence[str],
    serde: SerializerProtocol,
) -> Mapping[str, DeltaChannelHistory]:
    """Walk from a checkpoint to its ancestors, each once, as far as a channel has no value.

    Args:
        get: Returns a checkpoint of the same thread and namespace by its id.
        start: The checkpoint; its own value and writes are not looked at.
        channels: The channels.
        serde: How bytes become values.

    Returns:
        By channel the writes, oldest first, and the value that they came upon, if there is one.
    """
    writes: dict[str, list[PendingWrite]] = {name: [] for name in channels}
    seeds: dict[str, Any] = {}
    seen: set[str] = set()
    row = start
    while row is not None and row.parent_id and len(seeds) < len(writes):
        if row.parent_id in seen:
            break
        seen.add(row.parent_id)
        row = get(row.parent_id)
        if row is not None:
            _collect(row, writes, seeds, serde)
    return {name: _entry(found, name, seeds) for name, found in writes.items()}


def _collect(
    row: SavedCheckpoint,
    writes: Mapping[str, list[PendingWrite]],
    seeds: dict[str, Any],
    serde: SerializerProtocol,
) -> None:
    for one in reversed(row.writes):
        if one.channel in writes and one.channel not in seeds:
            value = serde.loads_typed((one.type, one.value))
            writes[one.channel].append((one.task_id, one.channel, value))
    values = serde.loads_typed((row.type, row.value))["channel_values"]
    seeds.update({name: values[name] for name in writes if name in values and name not in seeds})


def _entry(
    writes: list[PendingWrite], name: str, seeds: Mapping[str, object]
) -> DeltaChannelHistory:
    entry: DeltaChannelHistory = {"writes": writes[::-1]}
    if name in seeds:
        entry["seed"] = seeds[name]
    return entry
