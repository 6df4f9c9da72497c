"""Stored checkpoints as LangGraph's tuples."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from langgraph.checkpoint.base import CheckpointMetadata, CheckpointTuple

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.serde.base import SerializerProtocol

    from muniment.threads import SavedCheckpoint


def place_of(config: RunnableConfig) -> tuple[str, str]:
    """Return the thread and the graph within it that a config names."""
    named = config["configurable"]
    return str(named["thread_id"]), named.get("checkpoint_ns", "")


def config_of(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    """Return the config that names one checkpoint."""
    return {
        "configurable": {
            "thread_id": thread_id,
            "checkpoint_ns": namespace,
            "checkpoint_id": checkpoint_id,
        }
    }


def to_tuple(
    row: SavedCheckpoint, serde: SerializerProtocol, config: RunnableConfig | None = None
) -> CheckpointTuple:
    """Return a stored checkpoint as LangGraph reads it.

    Args:
        row: The checkpoint.
        serde: How bytes become values.
        config: The config that named it; None to make one.
    """
    place = row.thread_id, row.namespace
    return CheckpointTuple(
        config=config or config_of(*place, row.checkpoint_id),
        checkpoint=serde.loads_typed((row.type, row.value)),
        metadata=cast("CheckpointMetadata", dict(row.metadata)),
        parent_config=config_of(*place, row.parent_id) if row.parent_id else None,
        pending_writes=[
            (write.task_id, write.channel, serde.loads_typed((write.type, write.value)))
            for write in row.writes
        ],
    )
