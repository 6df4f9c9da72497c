"""A PostgreSQL database of its own for each test."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from muniment.storage import Postgres
from tests.postgres.pair import Pair
from tests.postgres.replica import Standby, following
from tests.postgres.server import GIVEN, OWNER, Server, own_server


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path) as where:
        yield where


@pytest.fixture(scope="session")
def standby(server: Server) -> Iterator[Standby]:
    """One replica for all tests of a run, started by the first that asks for it."""
    if GIVEN in os.environ:
        pytest.skip("a server was given, and only an own one is copied")
    with following(server) as one:
        yield one


@pytest.fixture
def replica(standby: Standby) -> Iterator[Standby]:
    """The replica, which follows again when the test ends."""
    yield standby
    standby.resume()


@pytest.fixture(scope="session")
def servers(server: Server) -> Iterator[dict[str, Server]]:
    with own_server(Path(tempfile.mkdtemp(prefix="muniment-pg-"))) as url:
        south = Server(url)
        south.set_up()
        yield {"north": server, "south": south}
        south.leave()


@pytest.fixture(scope="session")
def shared(servers: dict[str, Server]) -> str:
    """The name of a database on each of two servers, which one test after the other fills."""
    name = f"muniment_pair_{os.getpid()}"
    for server in servers.values():
        server.run("CREATE DATABASE {} OWNER {}", name, OWNER)
    return name


@pytest.fixture
def pair(
    request: pytest.FixtureRequest, servers: dict[str, Server], shared: str, tmp_path: Path
) -> Iterator[Pair]:
    two = Pair(servers, shared, tmp_path)
    two.make(sealed=getattr(request, "param", False))
    yield two
    two.empty()
