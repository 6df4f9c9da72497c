"""LangGraph's own suites, run against our store and our checkpointer."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

import muniment
from tests.conformance.runner import Suite, run, unavailable
from tests.postgres.server import Server

STORE = "conformance_langgraph_store"
IN_MEMORY = Suite(
    name="langgraph-store",
    distribution="langgraph-checkpoint",
    targets=("tests/test_store.py",),
    plugin=STORE,
)
SQL = Suite(
    name="langgraph-store-sqlite",
    distribution="langgraph-checkpoint-sqlite",
    targets=("tests/test_store.py", "tests/test_async_store.py", "tests/test_ttl.py"),
    plugin=STORE,
)
POSTGRES = Suite(
    name="langgraph-store-postgres",
    distribution="langgraph-checkpoint-postgres",
    targets=("tests/test_store.py", "tests/test_async_store.py"),
    plugin=STORE,
)
SAVER = Suite(
    name="langgraph-saver-sqlite",
    distribution="langgraph-checkpoint-sqlite",
    targets=(
        "tests/test_sqlite.py",
        "tests/test_aiosqlite.py",
        "tests/test_get_delta_channel_history.py",
        "tests/test_delta_parent_walk.py",
        "tests/test_delta_channel_migration.py",
    ),
    plugin="conformance_langgraph_saver",
)
ENGINE = Suite(
    name="langgraph-engine",
    distribution="langgraph",
    targets=("tests",),
    plugin="conformance_langgraph_engine",
    select=("sync_checkpointer", "async_checkpointer"),
    options=("-o", "asyncio_mode=strict", "-n", "2"),
    environment={"NO_DOCKER": "true"},
)
SEALED = {"CONFORMANCE_SEALED": "1"}
ALL = "MUNIMENT_ALL_CONFORMANCE"
FOR_LONG = pytest.mark.skipif(ALL not in os.environ, reason=f"takes minutes; set {ALL} to run it")
pytestmark = pytest.mark.conformance


@pytest.mark.promise("TOO-3")
def test_the_store_passes_the_suite_of_the_in_memory_store(tmp_path: Path) -> None:
    run(IN_MEMORY, tmp_path).expect(passed=117)


@pytest.mark.promise("TOO-3")
@pytest.mark.parametrize("environment", [{}, SEALED], ids=["plain", "sealed"])
def test_the_store_passes_the_suite_of_the_sql_store(
    environment: dict[str, str], tmp_path: Path
) -> None:
    run(replace(SQL, environment=environment), tmp_path).expect(passed=147)


@pytest.mark.slow
@pytest.mark.promise("TOO-3", "TOO-6")
@pytest.mark.parametrize("sealed", [False, pytest.param(True, marks=FOR_LONG)])
def test_the_store_passes_the_suite_of_the_postgres_store(
    sealed: bool, server: Server, tmp_path: Path
) -> None:
    superuser = str(server.run("SELECT current_user")[0][0])
    with server.database(tmp_path, sealed=sealed) as place:
        environment = {
            "CONFORMANCE_SERVER": server.location("postgres", superuser),
            "CONFORMANCE_POSTGRES": json.dumps({"url": place.url, "files": str(place.files)}),
        }
        run(replace(POSTGRES, environment=environment), tmp_path).expect(passed=127)


@pytest.mark.promise("TOO-3")
@pytest.mark.parametrize("sealed", [False, True], ids=["plain", "sealed"])
def test_the_checkpointer_passes_the_base_and_extended_kit(sealed: bool, tmp_path: Path) -> None:
    try:
        from langgraph.checkpoint.conformance import checkpointer_test, validate
    except ImportError:
        unavailable("langgraph-checkpoint-conformance is not installed: scripts/setup installs it")
    from muniment.adapters.langgraph import MunimentSaver

    @checkpointer_test(name="muniment")
    async def saver() -> AsyncIterator[MunimentSaver]:
        yield MunimentSaver(memory.scoped(tenant_id="acme", user_id="alice", agent_id="helper"))

    with muniment.open(tmp_path / "a.db", embedder="none", sealed=sealed) as memory:
        report = asyncio.run(validate(saver))

    results = report.results
    assert not [failure for one in results.values() for failure in one.failures]
    passed = {name: one.tests_passed for name, one in results.items()}
    extended = [passed.pop(name) for name in ("delete_for_runs", "copy_thread", "prune")]
    assert (sum(passed.values()), sum(extended)) == (58, 23)


@pytest.mark.promise("TOO-3")
@pytest.mark.parametrize("environment", [{}, SEALED], ids=["plain", "sealed"])
def test_the_checkpointer_passes_the_tests_of_the_sqlite_ones(
    environment: dict[str, str], tmp_path: Path
) -> None:
    run(replace(SAVER, environment=environment), tmp_path).expect(passed=29)


@pytest.mark.slow
@FOR_LONG
def test_the_engine_runs_on_the_checkpointer_and_the_store(tmp_path: Path) -> None:
    pytest.importorskip("syrupy", reason="the engine's suite needs syrupy, pycryptodome and redis")

    run(ENGINE, tmp_path).expect(passed=1028, skipped=1)
