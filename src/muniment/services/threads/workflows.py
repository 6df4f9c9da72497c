"""Workflows: exact state to resume from, and effects that happen once.

The intent of an effect is committed before it runs and its result after. What was begun and has no
result is uncertain: it runs again only when its idempotency key makes that harmless.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from muniment.clock import from_instant
from muniment.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    UncertainEffectError,
)
from muniment.keys import digest
from muniment.ports import EntryRow, OwnerState, ThreadRow, Transaction
from muniment.records import JSONValue
from muniment.rules.statement import MAX_NAME, checked_text
from muniment.services.threads.places import (
    EVERY,
    Places,
    ThreadKey,
    checked_id,
    checked_state,
    is_same,
    packed,
    unpacked,
    unpacked_object,
    with_part,
)
from muniment.threads import Checkpoint, Effect, ToolCall

if TYPE_CHECKING:
    from muniment.ports import Snapshot

EFFECT = "effect"
BEGUN, DONE, FAILED = "begun", "done", "failed"
_SHOWN = {BEGUN: "uncertain", DONE: "done", FAILED: "failed"}
NOTHING = b"null"


@dataclass(frozen=True, slots=True)
class Intent:
    """An effect that is about to run.

    Attributes:
        step: The step; one effect a step.
        key: Its idempotency key, or None for one of workflow and step.
        tool_call_id: The model's id of the call, or None.
        repeatable: Whether the key makes it harmless to run it again.
    """

    step: str
    key: str | None
    tool_call_id: str | None
    repeatable: bool


class Workflows(Places):
    """Begins, ends and settles effects, and says where a workflow stands."""

    def begin(self, key: ThreadKey, intent: Intent) -> Effect:
        """Record the intent of an effect, and say whether it is to run now.

        Raises:
            ConflictError: The step has another idempotency key, or an approval is pending.
            TombstonedError: The workflow was forgotten.
        """
        step = checked_id("step", intent.step)
        given = self._key(key, step) if intent.key is None else checked_id("key", intent.key)
        call = ToolCall(step, intent.tool_call_id, given)

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[Effect, ThreadRow | None]:
            known = tx.entry(owner, row.seq, EFFECT, step)
            if known is not None:
                found = effect_of(known)
                if found.call.idempotency_key != given:
                    raise ConflictError("The step was begun with another idempotency key.")
                if found.status == "done":
                    return found, None
                if found.status == "uncertain" and not intent.repeatable:
                    return found, None
            if _parts(row)["approval"] is not None:
                raise ConflictError("The workflow waits for an approval; decide that first.")
            self.audit(tx, owner, key, "begin_effect")
            return self._begin(tx, owner, row, known, call), with_part(row, "current", step)

        return self.change(key, work)

    def _key(self, key: ThreadKey, step: str) -> str:
        mark = digest(self._store.keys.tombstone(key.owner), "effect", key.thread_id, step)
        return f"idem_{mark.hex()}"

    def _begin(
        self,
        tx: Transaction,
        owner: OwnerState,
        row: ThreadRow,
        known: EntryRow | None,
        call: ToolCall,
    ) -> Effect:
        now = self._clock.now()
        label = _label(call, BEGUN, None)
        if known is None:
            last = tx.entries_before(owner, row.seq, EFFECT, EVERY, 1)
            number = last[0].number + 1 if last else 1
            known = EntryRow(0, row.seq, EFFECT, number, call.step, "", label, NOTHING, now, now)
        tx.put_entry(owner, replace(known, label=label, content=NOTHING, changed_at=now))
        return Effect(call, "new", None, from_instant(known.created_at))

    def finish(self, key: ThreadKey, step: str, result: JSONValue) -> Effect:
        """Record the result of an effect; once recorded it stays.

        Raises:
            NotFoundError: The step was not begun.
            ConflictError: Another result is recorded.
        """
        content = packed("result", result)

        def settled(known: EntryRow) -> tuple[str, bytes]:
            if effect_of(known).status == "done" and not is_same(known.content, content):
                raise ConflictError("Another result of this step is recorded.")
            return DONE, content

        return self._settle(key, step, settled, "finish_effect")

    def fail(self, key: ThreadKey, step: str) -> Effect:
        """Record that an effect that was begun did not happen, so that it may run again.

        Raises:
            NotFoundError: The step was not begun.
            ConflictError: A result of it is recorded.
        """

        def settled(known: EntryRow) -> tuple[str, bytes]:
            if effect_of(known).status == "done":
                raise ConflictError("A result of this step is recorded; it did happen.")
            return FAILED, NOTHING

        return self._settle(key, step, settled, "fail_effect")

    def _settle(
        self,
        key: ThreadKey,
        step: str,
        settled: Callable[[EntryRow], tuple[str, bytes]],
        action: str,
    ) -> Effect:
        if self.effect(key, step) is None:
            raise NotFoundError("No step of this name was begun in this workflow.")

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[Effect, ThreadRow | None]:
            known = tx.entry(owner, row.seq, EFFECT, step)
            if known is None:
                raise NotFoundError("No step of this name was begun in this workflow.")
            now, call = self._clock.now(), effect_of(known).call
            status, content = settled(known)
            if effect_of(known).status == status:
                return effect_of(known), None
            ended = now if status == DONE else None
            changed = replace(
                known, label=_label(call, status, ended), content=content, changed_at=now
            )
            tx.put_entry(owner, changed)
            self.audit(tx, owner, key, action)
            current = None if _parts(row)["current"] == step else _parts(row)["current"]
            return effect_of(changed), with_part(row, "current", current)

        return self.change(key, work)

    def run(
        self,
        key: ThreadKey,
        intent: Intent,
        effect: Callable[[str], JSONValue],
        without_effect: tuple[type[Exception], ...],
    ) -> JSONValue:
        """Return the recorded result of an effect, running it first unless there is one.

        Raises:
            UncertainEffectError: It was begun before, and nobody knows whether it happened.
        """
        begun = self.due(key, intent)
        if begun.status == "done":
            return begun.result
        try:
            result = effect(begun.call.idempotency_key)
        except without_effect:
            self.fail(key, intent.step)
            raise
        return self.finish(key, intent.step, result).result

    def due(self, key: ThreadKey, intent: Intent) -> Effect:
        """Begin an effect, or return it when it is done.

        Raises:
            UncertainEffectError: It was begun before, and nobody knows whether it happened.
        """
        begun = self.begin(key, intent)
        if begun.status == "uncertain":
            raise UncertainEffectError(
                "The step was begun before and has no result; look whether it happened, then "
                "record that with finish or fail. With an effect that honours its key, pass "
                "repeatable=True."
            )
        return begun

    def effect(self, key: ThreadKey, step: str) -> Effect | None:
        """Return where a step stands, or None when it was not begun."""
        with self._store.snapshot() as view:
            found = self.found(view, key)
            row = None if found is None else view.entry(found[0], found[1].seq, EFFECT, step)
        return None if row is None else effect_of(row)

    def checkpoint(self, key: ThreadKey) -> Checkpoint | None:
        """Return what is needed to resume a workflow, or None when there is none."""
        with self._store.snapshot() as view:
            found = self.found(view, key)
            return None if found is None else _checkpoint(view, *found)

    def ask(self, key: ThreadKey, name: str, details: Mapping[str, JSONValue]) -> None:
        """Let the workflow wait for a person's decision.

        Raises:
            ConflictError: It waits for another one.
        """
        question: dict[str, JSONValue] = {
            "name": checked_id("name", name),
            "details": checked_state(details),
        }

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            known = _parts(row)["approval"]
            if known is not None and known != question:
                raise ConflictError("The workflow waits for another approval; decide that first.")
            self.audit(tx, owner, key, "ask_approval")
            return None, with_part(row, "approval", question)

        self.change(key, work)

    def decide(self, key: ThreadKey, name: str, by: str, *, approved: bool) -> None:
        """Record a person's decision, and let the workflow go on.

        Raises:
            NotFoundError: The workflow does not wait for that.
        """
        if not isinstance(approved, bool):
            raise InvalidInputError("approved must be True or False.")
        person = checked_text("by", by, MAX_NAME)
        if self.checkpoint(key) is None:
            raise NotFoundError("The workflow waits for no approval of this name.")

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            parts = _parts(row)
            question, decisions = parts["approval"], parts["decisions"]
            if not isinstance(question, dict) or question["name"] != name:
                raise NotFoundError("The workflow waits for no approval of this name.")
            assert isinstance(decisions, dict)
            said: JSONValue = {"approved": approved, "by": person}
            self.audit(tx, owner, key, "approve" if approved else "reject")
            decided = with_part(row, "decisions", {**decisions, name: said})
            return None, with_part(decided, "approval", None)

        self.change(key, work)

    def note(self, key: ThreadKey, artifacts: Mapping[str, JSONValue], outcome: JSONValue) -> None:
        """Keep what was produced, by name, and the last verified outcome unless it is None."""
        made = checked_state(artifacts)

        def work(
            tx: Transaction, owner: OwnerState, row: ThreadRow
        ) -> tuple[None, ThreadRow | None]:
            known = _parts(row)["artifacts"]
            assert isinstance(known, dict)
            noted = with_part(row, "artifacts", {**known, **made})
            self.audit(tx, owner, key, "note")
            return None, noted if outcome is None else with_part(noted, "outcome", outcome)

        self.change(key, work)


def _parts(row: ThreadRow) -> dict[str, JSONValue]:
    start: dict[str, JSONValue] = {
        "approval": None,
        "artifacts": {},
        "current": None,
        "decisions": {},
        "outcome": None,
    }
    return {**start, **unpacked_object(row.content)}


def _label(call: ToolCall, status: str, finished_at: int | None) -> bytes:
    return packed("call", [call.tool_call_id, call.idempotency_key, status, finished_at])


def effect_of(row: EntryRow) -> Effect:
    """Return what a caller sees of an effect."""
    tool_call_id, key, status, finished_at = json.loads(row.label)
    return Effect(
        call=ToolCall(row.name, tool_call_id, key),
        status=_SHOWN[status],
        result=unpacked(row.content),
        started_at=from_instant(row.created_at),
        finished_at=None if finished_at is None else from_instant(finished_at),
    )


def _checkpoint(view: Snapshot, owner: OwnerState, row: ThreadRow) -> Checkpoint:
    parts = _parts(row)
    effects = {one.name: effect_of(one) for one in view.entries(owner, row.seq, EFFECT)}
    done = sorted(
        (one for one in effects.values() if one.finished_at is not None),
        key=lambda one: (one.finished_at, one.started_at),
    )
    current = effects.get(str(parts["current"]))
    question, artifacts, decisions = parts["approval"], parts["artifacts"], parts["decisions"]
    assert isinstance(artifacts, dict)
    assert isinstance(decisions, dict)
    return Checkpoint(
        workflow_id=row.name,
        version=row.version,
        current_step=None if current is None else current.call.step,
        completed_steps=tuple(one.call.step for one in done),
        pending_approval=question if isinstance(question, dict) else None,
        tool_call=None if current is None else current.call,
        uncertain=current is not None and current.status == "uncertain",
        decisions=decisions,
        artifacts=artifacts,
        outcome=parts["outcome"],
        changed_at=from_instant(row.changed_at),
    )
