"""A workflow resumes from exact state, and an effect happens once."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import (
    ConflictError,
    InvalidInputError,
    NotFoundError,
    TombstonedError,
    UncertainEffectError,
)
from muniment.scoped import Workflow
from muniment.storage import Postgres
from muniment.threads import ToolCall
from tests.threads.conftest import surfaces
from tests.threads.workers import charge


@pytest.fixture
def workflow(me: ScopedMemory) -> Workflow:
    return me.workflow("order-7")


class Effects:
    """What happened outside, in order."""

    def __init__(self) -> None:
        self.keys: list[str] = []

    def __call__(self, key: str) -> str:
        self.keys.append(key)
        return f"done {len(self.keys)}"


@pytest.fixture
def world(tmp_path: Path) -> Path:
    place = tmp_path / "world"
    place.mkdir()
    return place


@pytest.fixture
def killed(
    location: Path | Postgres, world: Path, request: pytest.FixtureRequest
) -> Iterator[ScopedMemory]:
    """Return the scope of a worker that was killed at the place that a test names."""
    store = location.url if isinstance(location, Postgres) else str(location)
    files = str(location.files) if isinstance(location, Postgres) else ""
    worker = [sys.executable, "-m", "tests.threads.workers"]
    command = [*worker, store, str(world), request.param, files]
    done = subprocess.run(command, check=False, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    with muniment.open(location, embedder="none") as memory:
        yield memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")


def calls(world: Path) -> list[str]:
    file = world / "calls"
    return file.read_text().split() if file.exists() else []


@pytest.mark.promise("THR-3", "OPE-3")
@pytest.mark.parametrize(("killed", "before"), [("before", 0), ("between", 1)], indirect=["killed"])
def test_a_step_killed_before_its_acknowledgement_is_uncertain_and_not_run_again(
    killed: ScopedMemory, world: Path, before: int
) -> None:
    workflow = killed.workflow("order-7")
    at = workflow.checkpoint()
    assert at is not None
    assert (at.current_step, at.completed_steps, at.uncertain) == ("charge", (), True)
    assert at.tool_call == ToolCall("charge", "call_1", "key-1")
    with pytest.raises(UncertainEffectError):
        workflow.run("charge", lambda key: charge(world, key), key="key-1")
    assert len(calls(world)) == before
    if before:
        workflow.finish("charge", "receipt-key-1")
    else:
        workflow.fail("charge")
    assert workflow.run("charge", lambda key: charge(world, key), key="key-1") == "receipt-key-1"
    assert calls(world) == ["key-1"]


@pytest.mark.promise("THR-3", "OPE-3")
@pytest.mark.parametrize("killed", ["before", "between"], indirect=True)
def test_an_effect_that_honours_its_key_happens_exactly_once(
    killed: ScopedMemory, world: Path
) -> None:
    workflow = killed.workflow("order-7")
    for _ in range(3):
        result = workflow.run(
            "charge", lambda key: charge(world, key), key="key-1", repeatable=True
        )
        assert result == "receipt-key-1"
    assert [file.name for file in world.glob("charge-*")] == ["charge-key-1"]
    assert len(calls(world)) <= 2


@pytest.mark.promise("THR-3", "OPE-3")
@pytest.mark.parametrize("killed", ["after"], indirect=True)
def test_a_recorded_result_is_returned_and_the_step_does_not_run_again(
    killed: ScopedMemory, world: Path
) -> None:
    workflow = killed.workflow("order-7")
    assert workflow.run("charge", lambda key: charge(world, key), key="key-1") == "receipt-key-1"
    assert calls(world) == ["key-1"]
    at = workflow.checkpoint()
    assert at is not None
    assert (at.completed_steps, at.current_step, at.uncertain) == (("charge",), None, False)


@pytest.mark.promise("THR-3")
def test_a_step_runs_once_and_its_result_is_returned_from_then_on(workflow: Workflow) -> None:
    effects = Effects()
    assert [workflow.run("a", effects) for _ in range(3)] == ["done 1"] * 3
    with workflow.step("b", key="k") as step:
        assert (step.is_due, step.key) == (True, "k")
        step.result = effects(step.key)
    with workflow.step("b", key="k") as again:
        assert (again.is_due, again.result) == (False, "done 2")
    assert len(effects.keys) == len(set(effects.keys)) == 2
    with pytest.raises(ConflictError):
        workflow.run("b", effects, key="another")
    at = workflow.checkpoint()
    assert at is not None
    assert at.completed_steps == ("a", "b")


@pytest.mark.promise("THR-3")
def test_two_workers_of_one_step_run_it_once(me: ScopedMemory) -> None:
    inside, go_on, effects = threading.Event(), threading.Event(), Effects()

    def slow(key: str) -> str:
        inside.set()
        assert go_on.wait(60)
        return effects(key)

    first = threading.Thread(target=lambda: me.workflow("w").run("a", slow))
    first.start()
    assert inside.wait(60)
    with pytest.raises(UncertainEffectError):
        me.workflow("w").run("a", effects)
    go_on.set()
    first.join()
    assert me.workflow("w").run("a", effects) == "done 1"


@pytest.mark.promise("THR-3")
def test_an_error_that_means_nothing_happened_lets_the_step_run_again(
    workflow: Workflow,
) -> None:
    def refuse(key: str) -> str:
        raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        workflow.run("a", refuse, without_effect=(ValueError,))
    found = workflow.effect("a")
    assert found is not None
    assert found.status == "failed"
    assert workflow.run("a", Effects()) == "done 1"
    with pytest.raises(ValueError, match=r"^$"):
        workflow.run("b", refuse)
    with pytest.raises(UncertainEffectError):
        workflow.run("b", Effects())
    with pytest.raises(ValueError, match=r"^$"), workflow.step("c"):
        raise ValueError
    with pytest.raises(UncertainEffectError), workflow.step("c"):
        pass


@pytest.mark.promise("THR-3")
def test_what_is_recorded_is_not_changed(workflow: Workflow) -> None:
    with pytest.raises(NotFoundError):
        workflow.finish("a", 1)
    with pytest.raises(NotFoundError):
        workflow.fail("a")
    workflow.run("a", lambda _: {"x": 1, "y": 2})
    workflow.finish("a", {"y": 2, "x": 1})
    with pytest.raises(ConflictError):
        workflow.finish("a", 1)
    with pytest.raises(ConflictError):
        workflow.fail("a")
    with pytest.raises(InvalidInputError):
        workflow.run("b", lambda _: object())  # type: ignore[arg-type, return-value]


@pytest.mark.promise("THR-3")
def test_nothing_begins_while_a_person_has_to_decide(workflow: Workflow) -> None:
    workflow.run("a", Effects())
    workflow.ask("refund", {"amount": 12})
    workflow.ask("refund", {"amount": 12})
    with pytest.raises(ConflictError):
        workflow.ask("other")
    with pytest.raises(ConflictError):
        workflow.run("b", Effects())
    assert workflow.run("a", Effects()) == "done 1"
    at = workflow.checkpoint()
    assert at is not None
    assert at.pending_approval == {"name": "refund", "details": {"amount": 12}}
    with pytest.raises(NotFoundError):
        workflow.decide("other", approved=True, by="dana")
    workflow.decide("refund", approved=False, by="dana")
    at = workflow.checkpoint()
    assert at is not None
    assert at.pending_approval is None
    assert at.decisions == {"refund": {"approved": False, "by": "dana"}}
    assert workflow.run("b", Effects()) == "done 1"


@pytest.mark.promise("THR-3")
def test_artefacts_and_the_last_verified_outcome_are_kept(workflow: Workflow) -> None:
    workflow.note(artifacts={"invoice": "inv-1"}, outcome={"paid": True})
    workflow.note(artifacts={"label": "lbl-1"})
    at = workflow.checkpoint()
    assert at is not None
    assert at.artifacts == {"invoice": "inv-1", "label": "lbl-1"}
    assert (at.outcome, at.workflow_id, at.version) == ({"paid": True}, "order-7", 2)


@pytest.mark.promise("THR-3", "SCO-1")
def test_only_its_own_scope_resumes_a_workflow(workflow: Workflow, other: ScopedMemory) -> None:
    workflow.run("a", lambda _: "mine")
    theirs = other.workflow("order-7")
    assert theirs.checkpoint() is None
    assert theirs.effect("a") is None
    with pytest.raises(NotFoundError):
        theirs.decide("a", approved=True, by="mallory")
    assert theirs.run("a", lambda _: "theirs") == "theirs"
    assert workflow.run("a", lambda _: "again") == "mine"


@pytest.mark.promise("THR-3", "FOR-1")
def test_a_forgotten_workflow_is_not_resumed(
    memory: Memory, me: ScopedMemory, workflow: Workflow
) -> None:
    workflow.run("a", lambda _: "peculiar")
    receipt = me.forget_thread("order-7", type="workflow", wait=True)
    assert surfaces(receipt) == {"threads": (1, 1, 0), "checkpoints": (1, 1, 0)}
    assert workflow.checkpoint() is None
    with pytest.raises(TombstonedError):
        workflow.run("a", lambda _: "again")
    assert memory.verify().is_intact
