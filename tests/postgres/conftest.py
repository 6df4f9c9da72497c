"""A PostgreSQL database of its own for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.storage import Postgres
from tests.postgres.server import Server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path) as where:
        yield where
