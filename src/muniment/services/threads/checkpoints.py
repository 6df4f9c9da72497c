"""Checkpoints of a framework: opaque values by id, with what was written for the next one."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from muniment.clock import from_instant
from muniment.errors import InvalidInputError
from muniment.ports import EntryRow, OwnerState, Snapshot, ThreadRow, Transaction
from muniment.records import JSONValue
from muniment.results import Receipt
from muniment.services.threads.places import (
    LONGEST,
    Places,
    checked_id,
    is_over,
    packed,
    thread_key,
    unpacked_object,
    with_part,
)
from muniment.threads import NewWrite, SavedCheckpoint

if TYPE_CHECKING:
    from muniment.scope import Scope
    from muniment.services.forgetting import ThreadForgetting
    from muniment.services.gate import Gate

CHECKPOINT = "checkpoint"
WRITE = "write"
GRAPH = "graph"
KEPT = ("latest", "none")
Doomed: TypeAlias = Callable[[EntryRow], bool]


@dataclass(frozen=True, slots=True)
class NewCheckpoint:
    """A checkpoint to put; see `SavedCheckpoint`."""

    checkpoint_id: str
    namespace: str
    value: bytes
    type: str
    metadata: Mapping[str, JSONValue]
    parent_id: str | None
    run_id: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """Which checkpoints a list asks for; None for any.

    Attributes:
        namespace: Their namespace.
        checkpoint_id: Their id.
        before: What their id must be below.
        metadata: What their metadata must say.
        limit: Most of them.
    """

    namespace: str | None
    checkpoint_id: str | None
    before: str | None
    metadata: Mapping[str, JSONValue] | None
    limit: int | None

    def takes(self, row: EntryRow) -> bool:
        """Return whether a checkpoint is one of those."""
        namespace, checkpoint_id = json.loads(row.name)
        said = unpacked_object(row.label)["metadata"]
        assert isinstance(said, dict)
        return (
            self.namespace in (None, namespace)
            and self.checkpoint_id in (None, checkpoint_id)
            and (self.before is None or checkpoint_id < self.before)
            and all(said.get(name) == value for name, value in (self.metadata or {}).items())
        )


class CheckpointShelf(Places):
    """Keeps checkpoints of frameworks, and forgets them through the deletion job."""

    def __init__(self, gate: Gate, forgetting: ThreadForgetting) -> None:
        super().__init__(gate)
        self._forgetting = forgetting

    def put(self, owner: Scope, thread_id: str, new: NewCheckpoint) -> None:
        """Put a checkpoint; one with the same id and namespace is replaced.

        Raises:
            InvalidInputError: Something is malformed or too large.
        """
        key = thread_key(owner, GRAPH, thread_id)
        namespace = checked_id("namespace", new.namespace, empty=True)
        name = _name(namespace, checked_id("checkpoint_id", new.checkpoint_id))
        said: dict[str, JSONValue] = {
            "parent_id": new.parent_id,
            "type": new.type,
            "metadata": dict(new.metadata),
            "run_id": new.run_id,
        }
        label, value = packed("metadata", said), _checked_bytes(new.value)

        def work(
            tx: Transaction, state: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            self._file(tx, state, row, CHECKPOINT, name, namespace, label, value)
            latest = unpacked_object(row.content).get("latest", {})
            assert isinstance(latest, dict)
            greatest = max(str(latest.get(namespace, "")), new.checkpoint_id)
            self.audit(tx, state, key, "checkpoint")
            return None, with_part(row, "latest", {**latest, namespace: greatest})

        self.change(key, work)

    def _file(
        self,
        tx: Transaction,
        state: OwnerState,
        row: ThreadRow,
        sort: str,
        name: str,
        folder: str,
        label: bytes,
        value: bytes,
        *,
        replaces: bool = True,
    ) -> None:
        now = self._clock.now()
        known = tx.entry(state, row.seq, sort, name)
        if known is None:
            tx.put_entry(state, EntryRow(0, row.seq, sort, 0, name, folder, label, value, now, now))
        elif replaces:
            tx.put_entry(state, replace(known, label=label, content=value, changed_at=now))

    def put_writes(
        self,
        owner: Scope,
        thread_id: str,
        at: tuple[str, str],
        writes: Sequence[NewWrite],
        *,
        replaces: bool,
    ) -> None:
        """Keep what tasks wrote for the checkpoint after one; `at` is its namespace and id.

        Raises:
            InvalidInputError: Something is malformed or too large.
        """
        key = thread_key(owner, GRAPH, thread_id)
        folder = _name(
            checked_id("namespace", at[0], empty=True), checked_id("checkpoint_id", at[1])
        )
        if not all(isinstance(one, NewWrite) for one in writes):
            raise InvalidInputError("Each of writes must be a NewWrite.")
        rows = [
            (
                json.dumps([folder, one.task_id, one.index], ensure_ascii=False),
                packed("write", [one.task_path, one.task_id, one.index, one.channel, one.type]),
                _checked_bytes(one.value),
            )
            for one in writes
        ]

        def work(
            tx: Transaction, state: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            for name, label, value in rows:
                self._file(tx, state, row, WRITE, name, folder, label, value, replaces=replaces)
            return None, row

        if rows:
            self.change(key, work)

    def get(
        self, owner: Scope, thread_id: str, namespace: str, checkpoint_id: str | None
    ) -> SavedCheckpoint | None:
        """Return a checkpoint, the one with the greatest id when none is given, or None."""
        key = thread_key(owner, GRAPH, thread_id)
        with self._store.snapshot() as view:
            found = self.found(view, key)
            if found is None:
                return None
            state, row = found
            if checkpoint_id is None:
                entry = _latest(view, state, row, namespace)
            else:
                entry = view.entry(state, row.seq, CHECKPOINT, _name(namespace, checkpoint_id))
            return None if entry is None else _saved(view, state, row, entry)

    def list(
        self, owner: Scope, thread_id: str | None, asked: Asked
    ) -> tuple[SavedCheckpoint, ...]:
        """Return checkpoints of one thread or all, those with the greatest ids first."""
        with self._store.snapshot() as view:
            now = self._clock.now()
            rows = [one for one in self._graphs(view, owner, thread_id) if not is_over(one[1], now)]
            found = [
                (row, entry)
                for state, row in rows
                for entry in view.entries(state, row.seq, CHECKPOINT, asked.namespace)
                if asked.takes(entry)
            ]
            found.sort(key=lambda one: str(json.loads(one[1].name)[1]), reverse=True)
            chosen = found[: asked.limit] if asked.limit is not None else found
            return tuple(_saved(view, rows[0][0], row, entry) for row, entry in chosen)

    def _graphs(
        self, view: Snapshot, owner: Scope, thread_id: str | None
    ) -> Sequence[tuple[OwnerState, ThreadRow]]:
        if thread_id is not None:
            found = self.found(view, thread_key(owner, GRAPH, thread_id))
            return [] if found is None else [found]
        state = view.owner(owner)
        return [] if state is None else [(state, row) for row in view.threads(state, GRAPH)]

    def delete_thread(self, owner: Scope, thread_id: str) -> Receipt:
        """Delete a thread's checkpoints with their writes; its id may be used again."""
        key = thread_key(owner, GRAPH, thread_id)
        return self._forgetting.clear_thread(key, compact=False, ends=True)

    def delete(
        self, owner: Scope, thread_id: str, namespace: str, checkpoint_ids: Collection[str]
    ) -> int:
        """Delete some checkpoints of one namespace with their writes; return how many."""
        names = {_name(namespace, one) for one in checkpoint_ids}
        return self._delete(owner, [thread_id], lambda row: row.name in names)

    def delete_runs(self, owner: Scope, run_ids: Collection[str]) -> int:
        """Delete the checkpoints that some runs made, with their writes; return how many."""
        wanted = frozenset(run_ids)

        def made_by(row: EntryRow) -> bool:
            said = unpacked_object(row.label)
            metadata = said["metadata"]
            inside = metadata.get("run_id") if isinstance(metadata, dict) else None
            return not wanted.isdisjoint(str(one) for one in (said["run_id"], inside) if one)

        with self._store.snapshot() as view:
            names = [row.name for _, row in self._graphs(view, owner, None)]
        return self._delete(owner, names, made_by)

    def prune(self, owner: Scope, thread_ids: Iterable[str], keep: str) -> int:
        """Delete all checkpoints of threads but the latest of each namespace, or all.

        Raises:
            InvalidInputError: `keep` is neither `latest` nor `none`.
        """
        if keep not in KEPT:
            raise InvalidInputError(f"keep must be one of {', '.join(KEPT)}.")
        total = 0
        for thread_id in dict.fromkeys(thread_ids):
            saved = self.list(owner, thread_id, Asked(None, None, None, None, None))
            latest = {one.namespace: one.checkpoint_id for one in reversed(saved)}
            kept = {_name(*one) for one in latest.items()} if keep == "latest" else set[str]()
            total += self._delete(owner, [thread_id], lambda row, kept=kept: row.name not in kept)  # type: ignore[misc]
        return total

    def _delete(self, owner: Scope, thread_ids: Sequence[str], doomed: Doomed) -> int:
        def pick(view: Snapshot, state: OwnerState, row: ThreadRow) -> list[EntryRow]:
            gone = [one for one in view.entries(state, row.seq, CHECKPOINT) if doomed(one)]
            writes = [
                write for one in gone for write in view.entries(state, row.seq, WRITE, one.name)
            ]
            counts.append(len(gone))
            return [*gone, *writes]

        counts: list[int] = []
        keys = [thread_key(owner, GRAPH, thread_id) for thread_id in thread_ids]
        self._forgetting.forget_entries(keys, pick)
        return sum(counts)

    def copy_thread(self, owner: Scope, source_id: str, target_id: str) -> int:
        """Copy a thread's checkpoints with their writes into another; return how many.

        Raises:
            TombstonedError: The other thread was forgotten.
        """
        source = thread_key(owner, GRAPH, source_id)
        target = thread_key(owner, GRAPH, target_id)

        def work(tx: Transaction, state: OwnerState, row: ThreadRow) -> tuple[int, ThreadRow]:
            found = self.found(tx, source)
            if found is None:
                return 0, row
            count = 0
            for sort in (CHECKPOINT, WRITE):
                for one in tx.entries(state, found[1].seq, sort):
                    count += sort == CHECKPOINT
                    known = tx.entry(state, row.seq, sort, one.name)
                    seq = 0 if known is None else known.seq
                    tx.put_entry(state, replace(one, seq=seq, thread=row.seq))
            self.audit(tx, state, target, "copy_thread")
            latest = unpacked_object(found[1].content).get("latest", {})
            return count, with_part(row, "latest", latest)

        return 0 if source == target else self.change(target, work)


def _name(namespace: str, checkpoint_id: str) -> str:
    return json.dumps([namespace, checkpoint_id], ensure_ascii=False)


def _checked_bytes(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise InvalidInputError("value must be bytes.")
    if len(value) > LONGEST:
        raise InvalidInputError(f"value has {len(value)} bytes; at most {LONGEST} are allowed.")
    return value


def _latest(view: Snapshot, state: OwnerState, row: ThreadRow, namespace: str) -> EntryRow | None:
    """Return the checkpoint with the greatest id; the thread's note of it may be out of date."""
    noted = unpacked_object(row.content).get("latest", {})
    assert isinstance(noted, dict)
    name = _name(namespace, str(noted.get(namespace, "")))
    entry = view.entry(state, row.seq, CHECKPOINT, name)
    if entry is not None or namespace not in noted:
        return entry
    rows = view.entries(state, row.seq, CHECKPOINT, namespace)
    return max(rows, key=lambda one: str(json.loads(one.name)[1]), default=None)


def _saved(view: Snapshot, state: OwnerState, row: ThreadRow, entry: EntryRow) -> SavedCheckpoint:
    namespace, checkpoint_id = json.loads(entry.name)
    said = json.loads(entry.label)
    writes = [_write(one) for one in view.entries(state, row.seq, WRITE, entry.name)]
    writes.sort(key=lambda one: (one.task_path, one.task_id, one.index))
    return SavedCheckpoint(
        thread_id=row.name,
        namespace=namespace,
        checkpoint_id=checkpoint_id,
        parent_id=said["parent_id"],
        type=said["type"],
        value=entry.content,
        metadata=said["metadata"],
        run_id=said["run_id"],
        writes=tuple(writes),
        created_at=from_instant(entry.created_at),
    )


def _write(row: EntryRow) -> NewWrite:
    task_path, task_id, index, channel, kind = json.loads(row.label)
    return NewWrite(task_id, index, channel, kind, row.content, task_path)
