"""What lies in threads, as frozen values: events, checkpoints, items, summaries.

Nothing here is a record: none of it is recalled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from muniment.records import JSONValue, Plain


@dataclass(frozen=True, slots=True)
class ThreadInfo(Plain):
    """A thread as it stands.

    Attributes:
        thread_id: The application's id, unique in the scope among threads of its type.
        type: What sort of thread, such as `conversation` or `workflow`.
        version: Grows with each change; a writer may ask for the one it saw.
        last_number: The number of the last event that was ever appended.
        state: The application's own state of the thread.
        created_at: When it was made.
        changed_at: When it was changed last.
        expires_at: When to stop keeping it with everything in it, or None.
    """

    thread_id: str
    type: str
    version: int
    last_number: int
    state: Mapping[str, JSONValue]
    created_at: datetime
    changed_at: datetime
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class NewEvent:
    """An event to append.

    Attributes:
        content: What happened; any JSON value.
        event_id: The application's stable id, which makes a repeated append harmless. None for a
            new one.
    """

    content: JSONValue
    event_id: str | None = None


@dataclass(frozen=True, slots=True)
class Event(Plain):
    """One thing that happened in a thread.

    Attributes:
        event_id: Its id in the thread.
        number: Its place, from 1. A number is never used again, so a gap is a withdrawn event.
        content: What happened.
        created_at: When it was appended.
    """

    event_id: str
    number: int
    content: JSONValue
    created_at: datetime


@dataclass(frozen=True, slots=True)
class NewWrite:
    """What a task of a graph wrote before its checkpoint was made.

    Attributes:
        task_id: The task.
        index: Its place among the writes of the task.
        channel: Where it goes.
        type: How the value is to be read.
        value: The value, opaque.
        task_path: Where the task stands in the graph.
    """

    task_id: str
    index: int
    channel: str
    type: str
    value: bytes
    task_path: str = ""


@dataclass(frozen=True, slots=True)
class SavedCheckpoint:
    """A checkpoint of a framework, opaque.

    Attributes:
        thread_id: The thread.
        namespace: Which of the thread's graphs.
        checkpoint_id: Its id; the greatest is the latest.
        parent_id: The one before it, or None.
        type: How the value is to be read.
        value: The value.
        metadata: What the framework says about it.
        run_id: The run that made it, or None.
        writes: What was written for the next one, by task path, task and index.
        created_at: When it was put.
    """

    thread_id: str
    namespace: str
    checkpoint_id: str
    parent_id: str | None
    type: str
    value: bytes
    metadata: Mapping[str, JSONValue]
    run_id: str | None
    writes: tuple[NewWrite, ...]
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Item(Plain):
    """A value that the application keeps under a namespace and a key. It is not a record.

    Attributes:
        namespace: Labels inside the scope.
        key: Its key within the namespace.
        value: The value; a JSON object.
        created_at: When it was put first.
        updated_at: When it was put last.
        expires_at: When to stop keeping it whatever its use, or None.
        idle_until: When its time is over unless it is used before, or None.
        score: Cosine to what was searched, or None.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, JSONValue]
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None = None
    idle_until: datetime | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class NewItem:
    """An item to put.

    Attributes:
        namespace: Labels inside the scope.
        key: Its key.
        value: The value; a JSON object.
        idle: How long it lives after its last use. None for ever.
        expires_at: When to stop keeping it whatever its use; an aware `datetime`, or how long from
            now. None for never.
        vectors: Embeddings by path of what they embed.
        model: The embedder's name and version; vectors of two models are never compared.
    """

    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, JSONValue]
    idle: timedelta | None = None
    expires_at: datetime | str | timedelta | None = None
    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    model: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall(Plain):
    """A call of a tool that has an effect outside.

    Attributes:
        step: The step that makes it.
        tool_call_id: The model's id of the call, or None.
        idempotency_key: What the tool is given so that a repeated call has its effect once.
    """

    step: str
    tool_call_id: str | None
    idempotency_key: str


@dataclass(frozen=True, slots=True)
class Effect(Plain):
    """Where a step with an effect stands.

    Attributes:
        call: The call.
        status: `new` when it is to run now; `done` when its result is recorded; `uncertain` when
            it was begun before and nobody knows whether it had its effect; `failed` when it is
            known that it had none.
        result: What it returned, once done.
        started_at: When it was begun first.
        finished_at: When its result was recorded, or None.
    """

    call: ToolCall
    status: str
    result: JSONValue
    started_at: datetime
    finished_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint(Plain):
    """Everything that is needed to resume a workflow; exact, never a paraphrase.

    Attributes:
        workflow_id: The workflow.
        version: Grows with each change.
        current_step: The step that was begun last and is not completed, or None.
        completed_steps: The steps whose results are recorded, in order.
        pending_approval: What a person has to decide before it goes on, or None.
        tool_call: The call of the current step, or None.
        uncertain: Whether nobody knows if the current step had its effect.
        decisions: What persons decided, by the name of the question.
        artifacts: What was produced, by name.
        outcome: The last verified outcome, or None.
        changed_at: When it was changed last.
    """

    workflow_id: str
    version: int
    current_step: str | None
    completed_steps: tuple[str, ...]
    pending_approval: Mapping[str, JSONValue] | None
    tool_call: ToolCall | None
    uncertain: bool
    decisions: Mapping[str, JSONValue]
    artifacts: Mapping[str, JSONValue]
    outcome: JSONValue
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class OpenItem(Plain):
    """A goal, or work that is not done, with the events or records that it rests on.

    Attributes:
        text: What is to be done.
        references: Ids of events and records.
    """

    text: str
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NewSummary:
    """A summary to keep.

    Attributes:
        text: What it says.
        last: Number of the last event that it covers.
        first: Number of the first one.
        goals: What the thread is for.
        unresolved: Work that is not done.
        resolved: Texts of earlier goals and open items that are done; the others stay.
        references: Ids of important events and records.
        summariser: What made it, with its version.
        prompt_version: With which prompt.
    """

    text: str
    last: int
    first: int = 1
    goals: tuple[OpenItem, ...] = ()
    unresolved: tuple[OpenItem, ...] = ()
    resolved: tuple[str, ...] = ()
    references: tuple[str, ...] = ()
    summariser: str = "application"
    prompt_version: str = "1"


@dataclass(frozen=True, slots=True)
class Summary(Plain):
    """A lossy index over a range of a thread's events. It is never recalled.

    Attributes:
        summary_id: `sum_` and 32 hexadecimal digits.
        thread_id: The thread.
        type: What sort of thread that is.
        first: Number of the first event that it covers.
        last: Number of the last one.
        text: What it says; empty while it is stale.
        goals: What the thread is for.
        unresolved: Work that is not done.
        references: Ids of important events and records.
        summariser: What made it, with its version.
        prompt_version: With which prompt.
        created_at: When it was made.
        stale: Why it has to be made anew (`corrected`, `forgotten`, `withdrawn`), or None.
    """

    summary_id: str
    thread_id: str
    type: str
    first: int
    last: int
    text: str
    goals: tuple[OpenItem, ...]
    unresolved: tuple[OpenItem, ...]
    references: tuple[str, ...]
    summariser: str
    prompt_version: str
    created_at: datetime
    stale: str | None = None
