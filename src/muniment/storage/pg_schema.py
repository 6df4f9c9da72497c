"""Making and checking a store in PostgreSQL: by the owner role, and for the role that serves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors

from muniment.errors import (
    ForeignFileError,
    InvalidInputError,
    StoreError,
    StoreVersionError,
    UnsafeRoleError,
)
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_statements import own_statements, statements, translate
from muniment.storage.sqlfiles import migrations, queries
from muniment.storage.unlock import Mark

if TYPE_CHECKING:
    from muniment.storage.pg_place import Postgres
    from muniment.storage.unlock import Unlocker

Cursor = psycopg.Connection[Any]
_MADE = (errors.DuplicateTable, errors.DuplicateObject, errors.UniqueViolation)
_RIVALS = 5
OLDEST_READER = 1
"""The least schema number that a muniment must know to use a store of the present schema."""


def run(connection: Cursor, name: str, values: dict[str, Any] | None = None) -> list[Any]:
    """Run one statement by its name and return its rows."""
    common, own = queries("postgres"), own_statements()
    if name in common:
        text = statements()[common[name]].text
    else:
        text = own[name].text if name in own else translate(queries("map")[name])
    cursor = connection.execute(text, values or {})
    return cursor.fetchall() if cursor.description is not None else []


def prepare(place: Postgres, unlocker: Unlocker, *, like: Mark | None = None) -> int:
    """Make a store, or bring one to the present schema, in one transaction; return its number.

    Run by the role that owns the tables. Several processes may do this at once: one does the work.

    Args:
        place: The database, with the owner role's URL.
        unlocker: Makes the key of a new store.
        like: What another server of the same store says of its key; None to make a key.

    Raises:
        InvalidInputError: The role `muniment_app` does not exist.
        ForeignFileError: The database belongs to something else. It was not touched.
        StoreVersionError: The store is from a newer muniment. It was not touched.
        StoreError: The migration failed; nothing of it was kept.
    """
    with driver_errors(place.name):
        for _ in range(_RIVALS):
            with suppress(*_MADE), psycopg.connect(place.url) as connection:
                return _prepare(connection, place, unlocker, like)
    raise StoreError(f"{place.name}: the schema could not be made; nothing was kept.")


def _prepare(connection: Cursor, place: Postgres, unlocker: Unlocker, like: Mark | None) -> int:
    connection.execute(reach_statement(Reach()))
    if not run(connection, "app_role"):
        raise InvalidInputError(
            "The role muniment_app does not exist; run CREATE ROLE muniment_app NOLOGIN as an "
            "administrator, and grant it to the role that applications log in with."
        )
    version = _version(connection, place.name, lock=True)
    for number, script in migrations("postgres")[version:]:
        connection.execute(script.encode())
        values = {"version": number, "oldest_reader": OLDEST_READER}
        run(connection, "set_version", values)
    if not run(connection, "mark"):
        mark = asdict(like or _made(place, unlocker))
        run(connection, "insert_mark", {name: _number(value) for name, value in mark.items()})
    return len(migrations("postgres"))


def _made(place: Postgres, unlocker: Unlocker) -> Mark:
    unlocker.refuse_orphan(is_there=False)
    Path(place.base).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return unlocker.make()


def _number(value: object) -> object:
    return int(value) if isinstance(value, bool) else value


def _version(connection: Cursor, name: str, *, lock: bool = False) -> int:
    """Return the schema's number, 0 for an empty database."""
    if not run(connection, "schema_table")[0][0]:
        if run(connection, "any_table"):
            raise ForeignFileError(f"{name} is a database of something else; it was not touched.")
        return 0
    if lock:
        run(connection, "lock_schema")
    ((version, oldest_reader),) = run(connection, "schema_version")
    known = len(migrations("postgres"))
    if oldest_reader > known or (lock and version > known):
        raise StoreVersionError(
            f"{name} has schema {version} and this muniment knows {known}; upgrade muniment. "
            "The database was not touched."
        )
    return int(version)


def present(connection: Cursor, name: str) -> tuple[int, Mark]:
    """Return the schema's number of a store that may be used, and what it says of its key.

    Raises:
        StoreError: There is no store.
        StoreVersionError: It is too old or too new for this muniment.
        ForeignFileError: The database belongs to something else.
    """
    connection.execute(reach_statement(Reach()))
    version = _version(connection, name)
    if version == 0:
        raise StoreError(f"{name} holds no store; make it with `muniment init`.")
    if version < len(migrations("postgres")):
        raise StoreVersionError(
            f"{name} has schema {version} and this muniment needs {len(migrations('postgres'))}; "
            "run `muniment init` with the owner role to bring it up to date."
        )
    ((fingerprint, sealed, anchored),) = run(connection, "mark")
    return version, Mark(fingerprint, bool(sealed), bool(anchored))


def refuse_stranger(connection: Cursor, name: str, shard: tuple[str, str] | None) -> None:
    """Refuse one server of several that is opened alone, or as another one than it is.

    Args:
        connection: To the server.
        name: What an error calls it.
        shard: The name that it should have and that of the map's server; None for a store alone.

    Raises:
        InvalidInputError: It is another one. Says what to open.
    """
    said = run(connection, "shard")
    if (said[0] if said else None) == shard:
        return
    if shard is None:
        raise InvalidInputError(
            f"{name} is the server {said[0][0]} of several; open the TOML file that names them all."
        )
    raise InvalidInputError(
        f"{name} does not know itself as the server {shard[0]} of the map on {shard[1]}; run "
        "`muniment tenants prepare` with the owner role, or correct the file."
    )


def check_wall(connection: Cursor, name: str) -> str:
    """Return the present role's name if row-level security holds for it on every table.

    Raises:
        UnsafeRoleError: It does not. Says what to change.
    """
    ((role, is_free),) = run(connection, "role")
    if is_free:
        raise UnsafeRoleError(
            f"{name}: the role {role} is a superuser or has BYPASSRLS, so row-level security does "
            "not hold for it. Serve with a role that only has muniment_app granted."
        )
    for table, is_up, has_policy, is_own in run(connection, "walls"):
        if is_own:
            raise UnsafeRoleError(
                f"{name}: the role {role} owns the table {table} and could take its wall down. "
                "Serve with a role that only has muniment_app granted."
            )
        if not (is_up and has_policy):
            raise UnsafeRoleError(
                f"{name}: row-level security is not in force on the table {table}. Put it back: "
                f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY, and "
                "the policy `reach` as the only one."
            )
    return str(role)
