"""An argument of a wrong type is an error that names it, on every verb of the public face."""

from __future__ import annotations

import asyncio
import inspect
import io
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import muniment
from muniment import InvalidInputError, Memory, MunimentError, aio
from muniment.scope import Principal, Role
from muniment.scoped import (
    Checkpoints,
    Delegate,
    Items,
    ReviewDesk,
    ScopedMemory,
    Thread,
    Workflow,
)

NEEDLE = "whispered" * 600
WRONG: list[Any] = [
    None,
    5,
    2**70,
    1.5,
    float("nan"),
    True,
    NEEDLE,
    "\ud800",
    "a\x00b",
    b"x",
    [],
    [NEEDLE],
    {5: 5},
    {"metadata.a": np.zeros(3)},
    {"kind": {"in": np.zeros(3)}},
    np.zeros(3),
    object(),
    Path("nowhere/at/all"),
]
DANA = Principal("t", "dana", frozenset({Role.REVIEWER}))
FACES = (Memory, ScopedMemory, ReviewDesk, Delegate, Thread, Items, Checkpoints, Workflow)


def faces(memory: Memory) -> dict[type, Any]:
    me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
    thread = me.thread("th")
    thread.append("hi", event_id="e1")
    kept = (me.items(), me.checkpoints(), me.workflow("w"))
    made = (memory, me, memory.reviewing(DANA), me.delegate(), thread, *kept)
    return dict(zip(FACES, made, strict=True))


def right(me: ScopedMemory) -> dict[str, Any]:
    record = me.remember("likes tea", kind="preference", source_id="s0", approved=True)
    waiting = me.propose("likes rye", kind="preference", source_id="c0")
    return {
        "actions": ["x"],
        "agent_id": "a",
        "approved": True,
        "candidate_id": waiting.candidate_id,
        "effect": str,
        "event_id": "e1",
        "kind": "preference",
        "memory_id": record.memory_id,
        "namespace": ("a",),
        "origin": "mem0",
        "owner": me.scope,
        "principal": DANA,
        "source": io.StringIO(""),
        "state": {},
        "statements": [],
        "succeeded": True,
        "target": io.StringIO(),
        "tenant_id": "t",
        "thread_id": "th",
        "user_id": "u",
        "value": {"v": 1},
    }


def verbs() -> Iterator[Any]:
    for face in FACES:
        for name, verb in inspect.getmembers(face, inspect.isfunction):
            if not name.startswith("_") and name != "close":
                yield pytest.param(face, verb, id=f"{face.__name__}.{name}")


def calls(verb: Callable[..., Any], known: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    _, *parameters = inspect.signature(verb).parameters.values()
    needed = {
        one.name: known.get(one.name, "x")
        for one in parameters
        if one.default is one.empty and one.kind is not one.VAR_POSITIONAL
    }
    for one in parameters:
        for wrong in WRONG:
            if one.kind is one.VAR_POSITIONAL:
                yield one.name, (wrong,), needed
            else:
                yield one.name, (), {**needed, one.name: wrong}


def check(name: str, call: Callable[[], object]) -> None:
    told = ""
    try:
        call()
    except MunimentError as error:
        told = f"{error} {error.to_dict()}"
    except Exception as error:
        raise AssertionError(f"{name}: {error!r}") from error
    assert NEEDLE[:30] not in told, name


@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize(("face", "verb"), list(verbs()))
def test_a_wrong_argument_is_an_error_of_ours(face: type, verb: Callable[..., Any]) -> None:
    with muniment.open(":memory:", embedder="none") as memory:
        made = faces(memory)
        for name, given, named in calls(verb, right(made[ScopedMemory])):
            bound = getattr(made[face], verb.__name__)
            check(name, partial(bound, *given, **named))


def test_opening_takes_no_wrong_argument_either() -> None:
    for name in list(inspect.signature(muniment.open).parameters)[1:]:
        for wrong in WRONG:
            named = {"embedder": "none", name: wrong}

            def opened(named: Mapping[str, Any] = named) -> None:
                muniment.open(":memory:", **named).close()

            check(name, opened)
    for wrong in WRONG:
        if not isinstance(wrong, str | Path):
            with pytest.raises(InvalidInputError, match="location"):
                muniment.open(wrong)


@pytest.mark.parametrize("name", ["cache_bytes", "busy_timeout"])
def test_less_than_nothing_is_refused_before_anything_is_made(tmp_path: Path, name: str) -> None:
    less: Any = {name: -1}
    with pytest.raises(InvalidInputError, match=f"{name} must be 0 or more"):
        muniment.open(tmp_path / "memory.db", **less)
    assert list(tmp_path.iterdir()) == []


def test_an_async_twin_gives_the_same_error() -> None:
    async def work() -> None:
        async with await aio.open_async(":memory:", embedder="none") as memory:
            me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
            wrong: Any = np.zeros(3)
            with pytest.raises(InvalidInputError, match="superseded must be True or False"):
                await me.list(superseded=wrong)
            with pytest.raises(InvalidInputError, match="expected_version must be a whole number"):
                await me.thread("th").append("x", expected_version=wrong)
            with pytest.raises(InvalidInputError, match="busy_timeout must be a finite number"):
                await aio.open_async(":memory:", busy_timeout=wrong)

    asyncio.run(work())


def test_the_error_names_the_argument_what_it_should_be_and_not_what_it_was(
    tmp_path: Path,
) -> None:
    with muniment.open(tmp_path / "m.db", embedder="none") as memory:
        me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
        wrong: Any = NEEDLE
        for call, said in (
            (partial(me.recall, "x", limit=wrong), "limit must be a whole number below 2**63, "),
            (partial(me.export, wrong), "target must be a pathlib.Path or an open text file, "),
            (partial(me.remember_many, wrong, approved=True), "statements must be a list or tuple"),
            (partial(me.forget_where, kinds=wrong), "kinds must be a list, tuple or set, not str."),
            (partial(me.verify_receipt, wrong), "receipt must be a Receipt, not str."),
        ):
            with pytest.raises(InvalidInputError) as caught:
                call()
            assert str(caught.value).startswith(said)
            assert NEEDLE[:30] not in str(caught.value)
        assert memory.verify(anchor=NEEDLE).integrity == "off"
    with pytest.raises(TypeError, match="unknown"):
        me.recall("x", unknown=5)  # type: ignore[call-arg]
