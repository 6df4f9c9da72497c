"""The facade of one workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from muniment.records import JSONValue
from muniment.rules.arguments import checks_arguments
from muniment.threads import Checkpoint, Effect

if TYPE_CHECKING:
    from muniment.scoped.base import Services
    from muniment.services.threads import ThreadKey

WORKFLOW = "workflow"


class Step:
    """A step inside a `with` block.

    Attributes:
        key: The idempotency key to give to the tool.
        is_due: Whether the effect is to happen now; else its result is recorded.
        result: Its result: recorded before, or set in the block.
    """

    def __init__(self, effect: Effect) -> None:
        self.key = effect.call.idempotency_key
        self.is_due = effect.status == "new"
        self.result = effect.result


@checks_arguments
class Workflow:
    """Exact, resumable state of one workflow. Use `ScopedMemory.workflow` to reach it."""

    def __init__(self, services: Services, key: ThreadKey) -> None:
        self._key = key
        self._workflows = services.threads.workflows

    @property
    def workflow_id(self) -> str:
        """The application's id of it."""
        return self._key.thread_id

    def checkpoint(self) -> Checkpoint | None:
        """Return everything that is needed to resume it; None when it was never begun."""
        return self._workflows.checkpoint(self._key)

    def run(
        self,
        step: str,
        effect: Callable[[str], JSONValue],
        *,
        key: str | None = None,
        tool_call_id: str | None = None,
        repeatable: bool = False,
        without_effect: tuple[type[Exception], ...] = (),
    ) -> JSONValue:
        """Return the recorded result of a step, and run its effect first unless there is one.

        The intent is committed before the effect and its result after, so that a step whose result
        is recorded never runs again, in this process or another. A step that was interrupted
        between the two is uncertain.

        Args:
            step: Its name in the workflow; one effect each.
            effect: Called with the idempotency key; returns a JSON value.
            key: The idempotency key. None for one that is made of workflow and step.
            tool_call_id: The model's id of the call.
            repeatable: Whether the effect honours the key, so that it may be called again when it
                is uncertain whether it happened.
            without_effect: Errors of the effect that mean that nothing happened; the step may
                then run again. After any other error it is uncertain.

        Raises:
            UncertainEffectError: It was begun before and nobody knows whether it happened.
            ConflictError: The step has another key, or an approval is pending.
            TombstonedError: The workflow was forgotten.
        """
        from muniment.services.threads.workflows import Intent

        intent = Intent(step, key, tool_call_id, repeatable)
        return self._workflows.run(self._key, intent, effect, without_effect)

    @contextmanager
    def step(
        self,
        step: str,
        *,
        key: str | None = None,
        tool_call_id: str | None = None,
        repeatable: bool = False,
    ) -> Iterator[Step]:
        """Run a step in a `with` block; arguments and errors as in `run`.

        ::

            with workflow.step("charge") as charge:
                if charge.is_due:
                    charge.result = pay(amount, idempotency_key=charge.key)
        """
        from muniment.services.threads.workflows import Intent

        intent = Intent(step, key, tool_call_id, repeatable)
        here = Step(self._workflows.due(self._key, intent))
        yield here
        if here.is_due:
            self._workflows.finish(self._key, step, here.result)

    def begin(
        self,
        step: str,
        *,
        key: str | None = None,
        tool_call_id: str | None = None,
        repeatable: bool = False,
    ) -> Effect:
        """Record the intent of a step's effect; its `status` says whether it is to run now.

        For callers that cannot use `run`; arguments as there.

        Raises:
            ConflictError: The step has another key, or an approval is pending.
            TombstonedError: The workflow was forgotten.
        """
        from muniment.services.threads.workflows import Intent

        return self._workflows.begin(self._key, Intent(step, key, tool_call_id, repeatable))

    def finish(self, step: str, result: JSONValue) -> Effect:
        """Record the result of a step; also of one that turned out to have happened.

        Raises:
            NotFoundError: The step was not begun.
            ConflictError: Another result is recorded.
        """
        return self._workflows.finish(self._key, step, result)

    def fail(self, step: str) -> Effect:
        """Record that a step that was begun did not happen, so that it may run again.

        Raises:
            NotFoundError: The step was not begun.
            ConflictError: A result of it is recorded.
        """
        return self._workflows.fail(self._key, step)

    def effect(self, step: str) -> Effect | None:
        """Return where a step stands; None when it was not begun."""
        return self._workflows.effect(self._key, step)

    def ask(self, name: str, details: Mapping[str, JSONValue] | None = None) -> None:
        """Let the workflow wait for a person; no step begins meanwhile.

        Args:
            name: What is to be decided.
            details: What the person has to know; a JSON object.

        Raises:
            ConflictError: It waits for another decision.
        """
        self._workflows.ask(self._key, name, details or {})

    def decide(self, name: str, *, approved: bool, by: str) -> None:
        """Record a person's decision, which the checkpoint then shows, and go on.

        Raises:
            NotFoundError: The workflow does not wait for that.
        """
        self._workflows.decide(self._key, name, by, approved=approved)

    def note(
        self, *, artifacts: Mapping[str, JSONValue] | None = None, outcome: JSONValue = None
    ) -> None:
        """Keep what was produced, by name, and the last verified outcome.

        Raises:
            InvalidInputError: Something is not JSON.
            TombstonedError: The workflow was forgotten.
        """
        self._workflows.note(self._key, artifacts or {}, outcome)
