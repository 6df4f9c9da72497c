"""The OpenAI Agents SDK's own suites of its sessions, with ours in their place."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.conformance.runner import Suite, run
from tests.postgres.server import Server

ENVIRONMENT = {"OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
SESSION = Suite(
    name="openai-session",
    distribution="openai-agents",
    targets=(
        "tests/memory/test_session.py",
        "tests/memory/test_session_limit.py",
        "tests/memory/test_session_context_wrapper.py",
        "tests/test_soft_cancel.py",
    ),
    plugin="conformance_openai_session",
    environment={**ENVIRONMENT, "OPENAI_SESSION": "sync"},
)
ASYNC_SESSION = Suite(
    name="openai-async-session",
    distribution="openai-agents",
    targets=("tests/extensions/memory/test_async_sqlite_session.py",),
    plugin="conformance_openai_session",
    environment={**ENVIRONMENT, "OPENAI_SESSION": "async"},
)


@pytest.mark.conformance
@pytest.mark.slow
@pytest.mark.promise("TOO-2")
def test_the_session_passes_the_sdks_own_suite(tmp_path: Path) -> None:
    run(SESSION, tmp_path).expect(passed=94)


@pytest.mark.conformance
@pytest.mark.slow
@pytest.mark.promise("TOO-2", "TOO-6")
def test_the_session_passes_the_sdks_own_suite_over_postgresql(
    server: Server, tmp_path: Path
) -> None:
    with server.database(tmp_path) as place:
        where = json.dumps({"url": place.url, "files": str(place.files)})
        environment = {**SESSION.environment, "CONFORMANCE_POSTGRES": where}
        run(replace(SESSION, environment=environment), tmp_path).expect(passed=94)


@pytest.mark.conformance
@pytest.mark.slow
@pytest.mark.promise("TOO-2")
def test_the_session_passes_the_suite_of_the_sdks_async_session(tmp_path: Path) -> None:
    run(ASYNC_SESSION, tmp_path).expect(passed=14)
