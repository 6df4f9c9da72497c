"""Hypothesis profiles: `ci` repeats the same examples everywhere, `explore` looks for new ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from tests.postgres.server import Server

settings.register_profile("ci", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One PostgreSQL server for all tests of a run, started by the first that asks for it."""
    from tests.postgres.server import running

    with running() as one:
        yield one
