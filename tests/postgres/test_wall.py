"""Row-level security as a second wall: what forgets its scope finds nothing and changes nothing."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

import muniment
from muniment import Memory
from muniment.errors import UnsafeRoleError
from muniment.storage import Postgres, open_store
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_statements import Wide
from muniment.storage.sqlfiles import schema
from muniment.testing import FakeEmbedder
from tests.postgres.server import OWNER, Server

TABLES = re.findall(r"^CREATE TABLE (\w+)", schema("postgres"), re.MULTILINE)
NOBODYS = {"store", "models", "schema_version", "shard"}
"""Tables that hold nothing of any tenant."""
OF_TENANTS = {"tenants", "residence", "placements"}
OF_OWNERS = sorted(set(TABLES) - NOBODYS - OF_TENANTS)
ELSEWHERE: list[LiteralString] = [
    "INSERT INTO shard (one, name, map) VALUES (1, 'north', 'north')",
    "INSERT INTO residence (tenant_id, state) VALUES ('acme', 'here')",
    "INSERT INTO placements (tenant_id, server) VALUES ('acme', 'north')",
]
"""What only a store on several servers has."""
FOREIGN = [
    Reach(),
    Reach("zenith", frozenset({1, 2, 3})),
    Reach("acme", frozenset({77})),
    Reach("acme"),
    Reach("ACME", frozenset({1, 2})),
    Reach("acme ", frozenset({1}), wide=Wide.TENANT),
    Reach("acme", sought=frozenset({("scope", "user_1", "helper", "")})),
    Reach("acme", sought=frozenset({("scope", "helper", "user_1", ""), ("user", "", "", "u")})),
]


def fill(memory: Memory) -> None:
    """Put at least one row into every table."""
    with muniment.open(":memory:", embedder="none") as other:
        use(other)
        exported = io.StringIO()
        other.scoped(tenant_id="acme", user_id="ada", agent_id="helper").export(exported)
    use(memory)
    me = memory.scoped(tenant_id="acme", user_id="ada", agent_id="helper")
    me.import_export(io.StringIO(exported.getvalue()), mode="skip")


def use(memory: Memory) -> None:
    for user in ("ada", "bea"):
        me = memory.scoped(tenant_id="acme", user_id=user, agent_id="helper")
        for number in range(3):
            me.remember(
                f"Statement {number}.", kind="context", source_id=f"{number}", approved=True
            )
        me.propose("Perhaps.", kind="context", source_id="perhaps")
        me.thread("call").append({"said": "Hello."})
        me.forget(me.list().records[0].memory_id)


@pytest.fixture(scope="module")
def filled(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    """Yield a store with rows in every table; tests undo what they do to it."""
    with server.database(tmp_path_factory.mktemp("filled")) as place:
        with muniment.open(place, embedder=FakeEmbedder()) as memory:
            fill(memory)
        for statement in ELSEWHERE:
            server.run(statement, database=str(place.parts()["dbname"]))
        for table in TABLES:
            put_something(server, str(place.parts()["dbname"]), table)
        yield place


def put_something(server: Server, database: str, table: str) -> None:
    """Put a row of owner 1 into a table that the verbs left empty."""
    if server.run("SELECT 1 FROM {} LIMIT 1", table, database=database):
        return
    asked = (
        "SELECT attname::text, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = {}"
    )
    with psycopg.connect(make_conninfo(server.url, dbname=database)) as connection:
        columns = connection.execute(
            sql.SQL(f"{asked}::regclass AND attnum > 0").format(sql.Literal(table))
        ).fetchall()
        plain = {"text": "x", "bigint": 1, "bytea": b"x"}
        row = {name: plain[kind] for name, kind in columns} | {"tenant_id": "acme"}
        connection.execute("SET session_replication_role = replica")
        connection.execute(
            sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
                sql.Identifier(table),
                sql.SQL(", ").join(map(sql.Identifier, row)),
                sql.SQL(", ").join(map(sql.Placeholder, row)),
            ),
            row,
        )


def connect(place: Postgres, reach: Reach | None) -> psycopg.Connection:
    """Connect as the application role and begin with a reach, or with none at all."""
    connection = psycopg.connect(place.url)
    if reach is not None:
        connection.execute(reach_statement(reach))
    return connection


def count(connection: psycopg.Connection, statement: LiteralString, table: str) -> int:
    """Run a statement that names no scope and return how many rows it found or changed."""
    return connection.execute(sql.SQL(statement).format(sql.Identifier(table))).rowcount


CHANGES = ("DELETE FROM {}", "UPDATE {} SET tenant_id = tenant_id")


@pytest.mark.promise("SCO-7")
@pytest.mark.parametrize("table", TABLES)
def test_a_query_that_forgets_its_scope_finds_and_changes_nothing(
    server: Server, filled: Postgres, table: str
) -> None:
    there = server.run("SELECT 1 FROM {} LIMIT 1", table, database=str(filled.parts()["dbname"]))
    assert there, "every table must hold something for this to mean anything"
    statements: list[LiteralString] = ["SELECT * FROM {}", "DELETE FROM {}"]
    if table not in NOBODYS:
        statements.append("UPDATE {} SET tenant_id = tenant_id")
    with connect(filled, None) as connection:
        assert [count(connection, one, table) for one in statements] == [0] * len(statements)


@pytest.mark.promise("SCO-7")
@pytest.mark.parametrize("reach", FOREIGN, ids=lambda reach: reach.to_json())
def test_a_wrong_tenant_or_owner_finds_and_changes_nothing(filled: Postgres, reach: Reach) -> None:
    with connect(filled, reach) as connection:
        for table in OF_OWNERS:
            for statement in ("SELECT * FROM {}", *CHANGES):
                assert count(connection, statement, table) == 0, (table, statement)
        connection.rollback()


@pytest.mark.promise("SCO-7")
def test_a_query_that_forgets_its_scope_sees_the_owners_of_its_transaction_at_most(
    server: Server, filled: Postgres
) -> None:
    with connect(filled, Reach("acme", frozenset({1}))) as connection:
        for table in OF_OWNERS:
            rows = connection.execute(
                sql.SQL("SELECT owner_no FROM {}").format(sql.Identifier(table))
            ).fetchall()
            everything = server.run(
                "SELECT owner_no FROM {} WHERE owner_no = 1",
                table,
                database=str(filled.parts()["dbname"]),
            )
            assert len(rows) == len(everything), table
            assert {number for (number,) in rows} <= {1}
    everybody = server.run("SELECT owner_no FROM records", database=str(filled.parts()["dbname"]))
    assert {number for (number,) in everybody} == {1, 2}


@pytest.mark.promise("SCO-7")
def test_no_row_can_be_written_for_another_owner(filled: Postgres) -> None:
    moved = "UPDATE removals SET owner_no = 2 WHERE owner_no = 1"
    added = "INSERT INTO removals (tenant_id, owner_no, version, seq) VALUES ('acme', 2, 99, 99)"
    for statement in (moved, added):
        with (
            connect(filled, Reach("acme", frozenset({1}))) as connection,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            connection.execute(statement.encode())


@pytest.mark.promise("SCO-7")
@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE {} DISABLE ROW LEVEL SECURITY",
        "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY",
        "DROP POLICY reach ON {}",
        "CREATE POLICY door ON {} USING (true)",
    ],
)
@pytest.mark.parametrize("table", ["records", "receipts", "models"])
def test_a_wall_that_is_down_is_seen_and_nothing_is_served(
    server: Server, place: Postgres, change: LiteralString, table: str
) -> None:
    store = open_store(place)
    server.run(change, table, database=str(place.parts()["dbname"]))
    with pytest.raises(UnsafeRoleError, match=table):
        open_store(place)
    with pytest.raises(UnsafeRoleError, match=table):
        store.info()
    store.close()


@pytest.mark.promise("SCO-7")
@pytest.mark.parametrize("role", [OWNER, "postgres", "free"])
def test_a_role_that_no_wall_holds_for_is_refused(
    server: Server, place: Postgres, role: str
) -> None:
    database = str(place.parts()["dbname"])
    if role == "free":
        role = f"{database}_free"
        server.run("CREATE ROLE {} LOGIN BYPASSRLS IN ROLE muniment_app", role)
    with pytest.raises(UnsafeRoleError, match="muniment_app"):
        open_store(replace(place, url=server.location(database, role)))
    if role.endswith("_free"):
        server.run("DROP ROLE {}", role)


def test_the_reach_is_quoted_whatever_an_owner_is_called(place: Postgres) -> None:
    for name in ["o'hara", "a\\'; DROP TABLE records; --", 'say "x"', "نام", "a\\u0000b", "$$"]:
        reach = Reach(name, frozenset({1}), frozenset({("scope", name, name, "")}))
        with psycopg.connect(place.url) as connection:
            connection.execute(reach_statement(reach))
            ((told, sought),) = connection.execute(
                "SELECT current_setting('muniment.reach')::jsonb ->> 'tenant',"
                " current_setting('muniment.reach')::jsonb -> 'sought' -> 0 ->> 'user_id'"
            ).fetchall()
        assert (told, sought) == (name, name)


def test_the_reach_ends_with_its_transaction(place: Postgres) -> None:
    with psycopg.connect(place.url) as connection:
        connection.execute(reach_statement(Reach("acme", frozenset({1}))))
        connection.commit()
        ((told,),) = connection.execute("SELECT current_setting('muniment.reach')").fetchall()
        assert told == ""


def test_the_application_role_can_neither_change_the_schema_nor_the_wall(place: Postgres) -> None:
    for statement in (
        "CREATE TABLE mine (one bigint)",
        "ALTER TABLE records DISABLE ROW LEVEL SECURITY",
        "DROP POLICY reach ON records",
        "TRUNCATE records",
        "SET row_security = off; SELECT * FROM records",
    ):
        with psycopg.connect(place.url) as connection, pytest.raises(psycopg.Error):
            connection.execute(statement.encode())


def test_a_place_without_files_names_them_after_the_server(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    place = Postgres("postgresql://me:secret@db.example:6432/app")
    assert place.name == "postgresql://db.example:6432/app"
    assert place.base == str(tmp_path / "muniment" / "db.example%3A6432%2Fapp")
    assert "secret" not in place.base + place.name
