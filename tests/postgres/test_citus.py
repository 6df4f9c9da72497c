"""The script that spreads a store over a Citus cluster, and what the schema owes to it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

import muniment
from muniment.ports import Store
from muniment.storage import Postgres, open_store, prepare_postgres
from muniment.storage.sqlfiles import schema
from muniment.testing import FakeEmbedder, StoreContract
from tests.postgres.server import APP, OWNER, Server

GIVEN = "MUNIMENT_TEST_CITUS_URL"
"""The URL of an administrator of a cluster's coordinator."""
SCRIPT = files("muniment.storage").joinpath("sql", "postgres", "citus.sql").read_text()
TABLES = dict(
    re.findall(r"^CREATE TABLE (\w+) \((.*?)^\)", schema("postgres"), re.MULTILINE | re.DOTALL)
)
OF_A_MAP = {"shard", "residence", "placements"}
KEYS = """
SELECT c.relname::text, i.relname::text, a.attname::text
FROM pg_index AS x
JOIN pg_class AS c ON c.oid = x.indrelid
JOIN pg_class AS i ON i.oid = x.indexrelid
JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = x.indkey[0]
WHERE x.indisunique AND c.relnamespace = 'public'::regnamespace
"""
needs_cluster = pytest.mark.skipif(
    GIVEN not in os.environ, reason=f"no Citus cluster: {GIVEN} is not set"
)


def test_the_script_spreads_every_table_of_a_tenant_and_copies_the_others() -> None:
    spread = re.findall(r"create_distributed_table\('(\w+)', 'tenant_id'", SCRIPT)
    copied = re.findall(r"create_reference_table\('(\w+)'\)", SCRIPT)
    tenants = {name for name, columns in TABLES.items() if "tenant_id" in columns}
    assert set(spread) == tenants - OF_A_MAP
    assert set(copied) == set(TABLES) - tenants - OF_A_MAP
    assert len(spread) + len(copied) == len(TABLES) - len(OF_A_MAP)
    for name in spread:
        for other in re.findall(r"REFERENCES (\w+)", TABLES[name]):
            assert other in copied or spread.index(other) < spread.index(name)


def test_every_unique_key_of_a_tenants_rows_begins_with_the_tenant(
    server: Server, place: Postgres
) -> None:
    keys = server.run(KEYS, database=str(place.parts()["dbname"]))
    assert {str(table) for table, _, _ in keys} == set(TABLES)
    tenants = {name for name, columns in TABLES.items() if "tenant_id" in columns}
    assert [key for key in keys if key[0] in tenants and key[2] != "tenant_id"] == []
    for name in tenants:
        for columns, other in re.findall(r"FOREIGN KEY \((.*?)\)\s+REFERENCES (\w+)", TABLES[name]):
            assert columns.startswith("tenant_id"), (name, other)


def test_nothing_in_the_schema_or_the_statements_is_foreign_to_a_cluster() -> None:
    folder = files("muniment.storage").joinpath("sql")
    said = "\n".join(
        folder.joinpath(*parts).read_text().lower()
        for parts in (
            ("postgres", "schema.sql"),
            ("postgres", "dialect.sql"),
            ("common", "queries.sql"),
            ("wall", "queries.sql"),
        )
    )
    for word in ("create trigger", "advisory", "skip locked", "set_config", "generated always"):
        assert word not in said


def cleared(server: Server, database: str) -> None:
    for name in TABLES:
        server.run("DROP TABLE IF EXISTS {} CASCADE", name, database=database)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Postgres]:
    """Make a store in the given database, which is the tests' own; cleared at the end."""
    server = Server(os.environ[GIVEN])
    database = str(conninfo_to_dict(server.url)["dbname"])
    known = {name for (name,) in server.run("SELECT rolname FROM pg_roles", database=database)}
    for role in sorted({"muniment_app", OWNER, APP} - known):
        server.run("CREATE ROLE {} LOGIN", role, database=database)
    server.run("GRANT muniment_app TO {}", APP, database=database)
    server.run("GRANT ALL ON SCHEMA public TO {}", OWNER, database=database)
    cleared(server, database)
    try:
        prepare_postgres(Postgres(server.location(database, OWNER), files=tmp_path / "store"))
        with psycopg.connect(server.url, autocommit=True) as link:
            link.execute(SCRIPT.encode())
        yield Postgres(server.location(database, APP), files=tmp_path / "store")
    finally:
        cleared(server, database)


@needs_cluster
class TestCitus(StoreContract):
    @pytest.fixture
    def open_store(self, cluster: Postgres) -> Iterator[Callable[[], Store]]:
        with ExitStack() as stack:

            def open_one() -> Store:
                store = open_store(cluster)
                stack.callback(store.close)
                return store

            yield open_one

    @pytest.fixture
    def store(self, open_store: Callable[[], Store]) -> Store:
        return open_store()


@needs_cluster
def test_the_wall_holds_on_every_node(cluster: Postgres) -> None:
    with muniment.open(cluster, embedder=FakeEmbedder()) as memory:
        for number in range(8):
            me = memory.scoped(tenant_id=f"tenant {number}", user_id="ada", agent_id="helper")
            me.remember("Something.", kind="context", source_id="s", approved=True)
            assert [record.text for record in me.list()] == ["Something."]
        assert memory.verify().is_intact
    with psycopg.connect(cluster.url) as connection:
        assert connection.execute("SELECT 1 FROM records").fetchall() == []
