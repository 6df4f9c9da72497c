"""What runs other people's suites counts them truly, and says why when it cannot."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import pytest

from tests.adapters.sdk import needed
from tests.conformance import runner
from tests.conformance.runner import Suite, run

TESTS = """
import pytest

@pytest.fixture
def thing():
    return 1

@pytest.mark.parametrize("n", [1, 2])
def test_passes(thing, n):
    assert thing

def test_skips(thing):
    pytest.skip("not here")

def test_fails(thing):
    raise ValueError

def test_uses_no_thing():
    raise ValueError
"""
SUITE = Suite(
    name="runner",
    distribution="pytest",
    targets=("tests/test_it.py",),
    plugin="conformance_selection",
    select=("thing",),
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    tests = tmp_path / f"pytest-{version('pytest')}" / "tests"
    tests.mkdir(parents=True)
    (tests / "test_it.py").write_text(TESTS, encoding="utf-8")
    monkeypatch.setenv("MUNIMENT_CONFORMANCE_CACHE", str(tmp_path))
    return tmp_path


def test_a_suite_is_run_and_counted(cache: Path) -> None:
    outcome = run(SUITE, cache)

    assert len(outcome.passed) == 2
    assert [one.rpartition("::")[2] for one in outcome.failed] == ["test_fails"]
    assert [one.rpartition("::")[2] for one in outcome.skipped] == ["test_skips"]
    with pytest.raises(AssertionError, match="test_fails"):
        outcome.expect(passed=2, skipped=1)


def test_a_deselected_test_is_not_run(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = {"tests/test_it.py::test_fails": "because"}
    monkeypatch.setattr(runner, "deselected", {"runner": table}.__getitem__)

    run(SUITE, cache).expect(passed=2, skipped=1)


@pytest.mark.parametrize("key", ["[2]", "tests/test_it.py::test_passes[2]"])
def test_a_deselected_case_is_not_run(
    key: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"tests/test_it.py::test_fails": "because", key: "because"}
    monkeypatch.setattr(runner, "deselected", {"runner": table}.__getitem__)

    run(SUITE, cache).expect(passed=1, skipped=1)


def test_a_deselected_test_that_does_not_exist_is_reported(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {"tests/test_it.py::test_gone": "because"}
    monkeypatch.setattr(runner, "deselected", {"runner": table}.__getitem__)

    with pytest.raises(AssertionError, match="test_gone"):
        run(SUITE, cache)


def test_what_cannot_be_had_is_skipped_here_and_fails_where_it_is_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    missing = Suite("none", "no-such-distribution", (), "conformance_selection")
    monkeypatch.delenv("MUNIMENT_REQUIRE_CONFORMANCE", raising=False)

    with pytest.raises(pytest.skip.Exception, match="no-such-distribution is not installed"):
        run(missing, Path())
    monkeypatch.setenv("MUNIMENT_REQUIRE_CONFORMANCE", "1")
    with pytest.raises(pytest.fail.Exception, match="no-such-distribution is not installed"):
        run(missing, Path())


def test_a_module_whose_framework_is_absent_is_skipped_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("MUNIMENT_REQUIRE_CONFORMANCE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="scripts/setup ghost") as skipped:
        needed("no_such_framework", "ghost")
    assert skipped.value.allow_module_level


def test_every_deselected_test_has_its_reason() -> None:
    assert all(
        reason.strip() for table in runner.deselections().values() for reason in table.values()
    )
