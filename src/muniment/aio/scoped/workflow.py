# Generated from scoped/workflow.py by `python scripts/generate_aio`; do not edit.
"""The async twin of `muniment.scoped.workflow`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from muniment.aio.workers import Workers
from muniment.records import JSONValue
from muniment.threads import Checkpoint, Effect

if TYPE_CHECKING:
    from muniment.scoped.workflow import Workflow


class AsyncWorkflow:
    """Exact, resumable state of one workflow. Use `ScopedMemory.workflow` to reach it."""

    def __init__(self, sync: Workflow, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    @property
    def workflow_id(self) -> str:
        """The application's id of it."""
        return self._sync.workflow_id

    async def checkpoint(self) -> Checkpoint | None:
        """Return everything that is needed to resume it; None when it was never begun."""
        return await self._workers.store(self._sync.checkpoint)

    async def run(
        self,
        step: str,
        effect: Callable[[str], JSONValue],
        *,
        key: str | None = None,
        tool_call_id: str | None = None,
        repeatable: bool = False,
        without_effect: tuple[type[Exception], ...] = (),
    ) -> JSONValue:
        """Return the recorded result of a step, and run its effect first unless there is one."""
        return await self._workers.store(
            self._sync.run,
            step,
            effect,
            key=key,
            tool_call_id=tool_call_id,
            repeatable=repeatable,
            without_effect=without_effect,
        )

    async def begin(
        self,
        step: str,
        *,
        key: str | None = None,
        tool_call_id: str | None = None,
        repeatable: bool = False,
    ) -> Effect:
        """Record the intent of a step's effect; its `status` says whether it is to run now."""
        return await self._workers.store(
            self._sync.begin, step, key=key, tool_call_id=tool_call_id, repeatable=repeatable
        )

    async def finish(self, step: str, result: JSONValue) -> Effect:
        """Record the result of a step; also of one that turned out to have happened."""
        return await self._workers.store(self._sync.finish, step, result)

    async def fail(self, step: str) -> Effect:
        """Record that a step that was begun did not happen, so that it may run again."""
        return await self._workers.store(self._sync.fail, step)

    async def effect(self, step: str) -> Effect | None:
        """Return where a step stands; None when it was not begun."""
        return await self._workers.store(self._sync.effect, step)

    async def ask(self, name: str, details: Mapping[str, JSONValue] | None = None) -> None:
        """Let the workflow wait for a person; no step begins meanwhile."""
        await self._workers.store(self._sync.ask, name, details)

    async def decide(self, name: str, *, approved: bool, by: str) -> None:
        """Record a person's decision, which the checkpoint then shows, and go on."""
        await self._workers.store(self._sync.decide, name, approved=approved, by=by)

    async def note(
        self, *, artifacts: Mapping[str, JSONValue] | None = None, outcome: JSONValue = None
    ) -> None:
        """Keep what was produced, by name, and the last verified outcome."""
        await self._workers.store(self._sync.note, artifacts=artifacts, outcome=outcome)
