"""Every promise names tests that carry its id, and every test that claims a promise is listed."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROMISES = ROOT / "tests" / "promises.toml"
FIELDS = {"promise", "tests", "gap"}

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Promises: TypeAlias = Mapping[str, Mapping[str, Any]]
Claims: TypeAlias = dict[str, set[str]]
"""The ids that each test's own markers claim, by node id; every test is a key."""


def _promise_calls(node: ast.AST) -> Iterator[ast.Call]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and ast.unparse(inner.func) == "pytest.mark.promise":
            yield inner


def _claimed(node: Function | ast.ClassDef) -> set[str]:
    calls = (call for decorator in node.decorator_list for call in _promise_calls(decorator))
    return {ast.literal_eval(argument) for call in calls for argument in call.args}


def claims_of(path: str, text: str) -> Claims:
    """Read the tests of one file and the promises they claim.

    Raises:
        ValueError: A promise marker stands elsewhere than on a test or a test class.
    """
    tree = ast.parse(text, path)
    claims: Claims = {}
    _collect(path, tree.body, claims)
    placed = sum(len(ids) for ids in claims.values())
    if placed != sum(len(call.args) for call in _promise_calls(tree)):
        raise ValueError(f"{path}: a promise marker is repeated or not a decorator of a test")
    return claims


def _collect(prefix: str, body: list[ast.stmt], claims: Claims) -> None:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name.startswith("Test"):
            claims[f"{prefix}::{node.name}"] = _claimed(node)
            _collect(f"{prefix}::{node.name}", node.body, claims)
        elif isinstance(node, Function) and node.name.startswith("test_"):
            claims[f"{prefix}::{node.name}"] = _claimed(node)


def faults(promises: Promises, claims: Claims) -> list[str]:
    """Return one line for each way in which the list and the markers disagree."""
    found: list[str] = []
    listed: Claims = defaultdict(set)
    for name, promise in promises.items():
        found += _entry_faults(name, promise)
        for test in promise.get("tests", ()):
            listed[test].add(name)
            if test not in claims:
                found.append(f"{name}: there is no test {test}")
            elif name not in claims[test]:
                found.append(f"{name}: {test} lacks @pytest.mark.promise({name!r})")
    for test, names in claims.items():
        for name in sorted(names - listed[test]):
            known = "does not list it" if name in promises else "does not exist"
            found.append(f"{test} claims {name}, which {known}")
    return found


def _entry_faults(name: str, promise: Mapping[str, Any]) -> Iterator[str]:
    if not re.fullmatch(r"[A-Z]{3}-[1-9][0-9]*", name):
        yield f"{name}: an id is three capitals, a hyphen and a number"
    if not str(promise.get("promise", "")).endswith("."):
        yield f"{name}: needs one sentence under `promise`"
    if not promise.get("tests") and not promise.get("gap"):
        yield f"{name}: needs tests, or a gap that says why there are none"
    if unknown := promise.keys() - FIELDS:
        yield f"{name}: unknown {sorted(unknown)}"


def dropped(promises: Promises) -> list[str]:
    """Return the ids that are missing from the numbering of their area."""
    areas = defaultdict(set)
    for name in promises:
        area, number = name.split("-")
        areas[area].add(int(number))
    return [
        f"{area}-{number}"
        for area, numbers in areas.items()
        for number in range(1, max(numbers))
        if number not in numbers
    ]


def test_the_list_and_the_markers_agree() -> None:
    promises = tomllib.loads(PROMISES.read_text(encoding="utf-8"))
    claims: Claims = {}
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        path = file.relative_to(ROOT).as_posix()
        claims |= claims_of(path, file.read_text(encoding="utf-8"))
    assert faults(promises, claims) == []


def test_no_promise_was_dropped() -> None:
    assert dropped(tomllib.loads(PROMISES.read_text(encoding="utf-8"))) == []


SAMPLE = """
import pytest

@pytest.mark.promise("SCO-1", "SCO-2")
def test_one() -> None: ...

@pytest.mark.promise("SCO-3")
class TestTwo:
    async def test_inner(self) -> None: ...
"""
PROMISED: dict[str, dict[str, Any]] = {
    "SCO-1": {"promise": "One.", "tests": ["t.py::test_one"]},
    "SCO-2": {"promise": "Two.", "tests": ["t.py::test_one"], "gap": "a part"},
    "SCO-3": {"promise": "Three.", "tests": ["t.py::TestTwo"]},
    "SCO-4": {"promise": "Four.", "gap": "not built yet"},
}


def test_a_list_that_agrees_has_no_fault() -> None:
    claims = claims_of("t.py", SAMPLE)
    assert set(claims) == {"t.py::test_one", "t.py::TestTwo", "t.py::TestTwo::test_inner"}
    assert faults(PROMISED, claims) == []


@pytest.mark.parametrize(
    ("name", "entry", "message"),
    [
        ("SCO-1", {"promise": "One.", "gap": "none"}, "claims SCO-1, which does not list it"),
        ("SCO-4", {"promise": "Four.", "tests": ["t.py::test_x"]}, "there is no test t.py::test_x"),
        ("SCO-4", {"promise": "Four.", "tests": ["t.py::TestTwo"]}, "t.py::TestTwo lacks"),
        ("SCO-4", {"promise": "Four."}, "needs tests, or a gap"),
        ("SCO-4", {"gap": "not built yet"}, "needs one sentence"),
        ("SCO-4", {"promise": "Four.", "gap": "x", "note": "y"}, "unknown ['note']"),
        ("sco4", {"promise": "Four.", "gap": "x"}, "an id is three capitals"),
    ],
)
def test_a_disagreement_is_a_fault(name: str, entry: dict[str, Any], message: str) -> None:
    found = faults(PROMISED | {name: entry}, claims_of("t.py", SAMPLE))
    assert len(found) == 1
    assert message in found[0]


def test_a_claim_of_an_unknown_promise_is_a_fault() -> None:
    known = {name: entry for name, entry in PROMISED.items() if name != "SCO-3"}
    assert faults(known, claims_of("t.py", SAMPLE)) == [
        "t.py::TestTwo claims SCO-3, which does not exist"
    ]


def test_a_marker_that_is_no_decorator_of_a_test_is_refused() -> None:
    with pytest.raises(ValueError, match="not a decorator of a test"):
        claims_of("t.py", 'pytestmark = pytest.mark.promise("SCO-1")')


def test_a_hole_in_the_numbering_is_a_dropped_promise() -> None:
    assert dropped({"SCO-1": {}, "SCO-3": {}, "WRI-1": {}}) == ["SCO-2"]
