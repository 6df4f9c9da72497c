"""A PostgreSQL database of its own for each test."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.storage import Postgres
from tests.postgres.pair import Pair
from tests.postgres.server import Server, own_server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path) as where:
        yield where


@pytest.fixture(scope="module")
def servers(server: Server) -> Iterator[dict[str, Server]]:
    with own_server(Path(tempfile.mkdtemp(prefix="muniment-pg-"))) as url:
        south = Server(url)
        south.set_up()
        yield {"north": server, "south": south}


@pytest.fixture
def pair(
    request: pytest.FixtureRequest, servers: dict[str, Server], tmp_path: Path
) -> Iterator[Pair]:
    two = Pair(servers, tmp_path)
    two.make(sealed=getattr(request, "param", False))
    yield two
    two.drop()
