"""Points other people's test suites at our classes.

A framework's own tests are the best statement of what its users rely on. Nothing of them is kept
in this repository: the source distribution of *the very version that is installed* is fetched from
the package index, its tests are unpacked into a cache, and pytest runs them in a process of its
own, where a small plugin puts our class in the place of the framework's.

**To add a suite**

1. Write `plugins/conformance_NAME.py`. It is imported before the suite's test modules, so it
   replaces the framework's class or fixture there and then. Plugins are loaded as top-level modules
   (a suite's own package is called `tests` too), so a plugin imports neither its neighbours nor
   anything from our `tests`.
2. Describe it and assert the count; failed, skipped and deselected tests are shown if it is wrong::

       SUITE = Suite(
           name="openai-session",
           distribution="openai-agents",
           targets=("tests/memory/test_session.py",),
           plugin="conformance_openai_session",
       )

       @pytest.mark.conformance
       def test_the_session_passes_the_sdks_own_suite(tmp_path: Path) -> None:
           run(SUITE, tmp_path).expect(passed=94)

3. List every test that is not run in `deselected.toml` under `[NAME]`, by node id without
   parameters, with its reason. `"ID[CASE]"` leaves out its cases whose parameters contain CASE,
   `"[CASE]"` those of every test: for mere repetitions. An entry that matches no test fails the
   run, so the list stays true.

A suite runs without coverage: a line of ours that only others test counts as not tested.

`Suite.select` names a fixture: only tests that use one of them are run. `Suite.options` are further
arguments of pytest, `Suite.environment` variables that the plugin reads.

**Without the index** (or without the framework) a suite is skipped with that reason. Where
`MUNIMENT_REQUIRE_CONFORMANCE` is set it fails instead; `.ci/run` sets it. The cache is
`$MUNIMENT_CONFORMANCE_CACHE`, or a folder of the user's cache.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

if TYPE_CHECKING:
    from typing import NoReturn

HERE = Path(__file__).parent
PLUGINS = HERE / "plugins"
SECONDS = 540
NEEDLESS = ("langsmith_plugin", "hypothesispytest", "pytest_cov")
"""Plug-ins of pytest that no suite uses, and that take seconds to import."""


class UnavailableError(Exception):
    """The suite cannot be had here; says why."""


@dataclass(frozen=True)
class Suite:
    """One suite of another project and what of it is run; see the module's docstring."""

    name: str
    distribution: str
    targets: tuple[str, ...]
    plugin: str
    select: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a suite went: ids of the tests by their end, and the tail of what pytest printed."""

    passed: tuple[str, ...]
    failed: tuple[str, ...]
    skipped: tuple[str, ...]
    tail: str

    def expect(self, *, passed: int, skipped: int = 0) -> None:
        """Assert that nothing failed and that exactly so many tests passed and were skipped."""
        assert not self.failed, f"{len(self.failed)} failed: {self.failed}\n{self.tail}"
        counted = (len(self.passed), len(self.skipped))
        assert counted == (passed, skipped), f"{self.skipped}\n{self.tail}"


def deselections() -> dict[str, dict[str, str]]:
    """Return, by suite, the tests that are not run, with the reason of each."""
    return tomllib.loads((HERE / "deselected.toml").read_text("utf-8"))


def deselected(name: str) -> dict[str, str]:
    """Return the tests of one suite that are not run, with the reason of each."""
    return deselections().get(name, {})


def run(suite: Suite, folder: Path) -> Outcome:
    """Run a suite and return how it went; skip the calling test when the suite cannot be had."""
    try:
        root = unpacked(suite.distribution)
    except UnavailableError as reason:
        unavailable(str(reason))
    report = folder / "report.xml"
    done = subprocess.run(
        _command(suite, root, report),
        cwd=root,
        env=_environment(suite, root),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    tail = f"{done.stdout[-6000:]}\n{done.stderr[-2000:]}"
    assert done.returncode in (0, 1), tail
    return _read(report, tail)


def unavailable(reason: str) -> NoReturn:
    """Skip the calling test or module, or fail it where suites are required."""
    if os.environ.get("MUNIMENT_REQUIRE_CONFORMANCE"):
        pytest.fail(reason)
    pytest.skip(reason, allow_module_level=True)


def unpacked(distribution: str) -> Path:
    """Return the unpacked source of the installed version, fetched unless it is in the cache.

    Raises:
        UnavailableError: The distribution is not installed or the index cannot be reached.
    """
    try:
        name = f"{distribution.replace('-', '_')}-{version(distribution)}"
    except PackageNotFoundError:
        raise UnavailableError(
            f"{distribution} is not installed: scripts/setup installs it"
        ) from None
    cache = _cache()
    if not (cache / name).exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as temporary:
            _fetch(distribution, Path(temporary))
            _settle(Path(temporary) / name, cache / name)
    return cache / name


def _cache() -> Path:
    given = os.environ.get("MUNIMENT_CONFORMANCE_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(base) / "muniment-conformance"


def _fetch(distribution: str, folder: Path) -> None:
    wanted = f"{distribution}=={version(distribution)}"
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps")
    done = subprocess.run(
        (*pip, "--no-binary", distribution, "--dest", str(folder), wanted),
        capture_output=True,
        text=True,
        check=False,
    )
    archives = list(folder.glob("*.tar.gz"))
    if done.returncode or not archives:
        raise UnavailableError(f"the source of {wanted} could not be fetched: {done.stderr[-300:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")


def _settle(source: Path, target: Path) -> None:
    """Move into place at once; another process may have been quicker."""
    try:
        source.rename(target)
    except OSError:
        if not target.exists():
            raise


def _command(suite: Suite, root: Path, report: Path) -> list[str]:
    without = [part for name in (*NEEDLESS, "cacheprovider") for part in ("-p", f"no:{name}")]
    plugins = ("-p", "conformance_selection", "-p", suite.plugin, *without)
    place = ("-c", str(PLUGINS / "suite.ini"), f"--rootdir={root}", f"--junitxml={report}")
    return [sys.executable, "-m", "pytest", "-q", *place, *plugins, *suite.options, *suite.targets]


def _environment(suite: Suite, root: Path) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "COVERAGE_"))
    }
    return {
        **kept,
        "PYTHONPATH": os.pathsep.join((str(PLUGINS), str(root))),
        "CONFORMANCE_DESELECTED": json.dumps(sorted(deselected(suite.name))),
        "CONFORMANCE_SELECTED": json.dumps(suite.select),
        **suite.environment,
    }


def _read(report: Path, tail: str) -> Outcome:
    ends: dict[str, list[str]] = {"passed": [], "failed": [], "skipped": []}
    for case in ET.parse(report).iter("testcase"):
        bad = case.find("failure") is not None or case.find("error") is not None
        end = "failed" if bad else "skipped" if case.find("skipped") is not None else "passed"
        ends[end].append(f"{case.get('classname')}::{case.get('name')}")
    return Outcome(tuple(ends["passed"]), tuple(ends["failed"]), tuple(ends["skipped"]), tail)
