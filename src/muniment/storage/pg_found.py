"""Founding a store on several PostgreSQL servers, by the role that owns the databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

from muniment.errors import InvalidInputError, WrongKeyError
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_schema import prepare, present, refuse_stranger, run
from muniment.storage.pg_statements import Wide

if TYPE_CHECKING:
    from muniment.storage.pg_place import Postgres
    from muniment.storage.shards import Shards
    from muniment.storage.unlock import Mark, Unlocker


def found(shards: Shards, unlocker: Unlocker) -> int:
    """Make a store on every server, with one key, and put their tenants on the map.

    Args:
        shards: The servers, with the owner roles' URLs.
        unlocker: Makes the key of a new store.

    Raises:
        InvalidInputError: A server is another one, or a tenant lives on two.
        WrongKeyError: A server holds another store.
        StoreError: As for one server.
    """
    version = prepare(shards.home, unlocker)
    mark = _mark(shards.home)
    for name, place in shards.servers.items():
        if name != shards.map:
            prepare(place, unlocker, like=mark)
            if _mark(place).fingerprint != mark.fingerprint:
                raise WrongKeyError(f"{place.name} holds another store than the map's server.")
        _name(place, name, shards.map)
    for name, place in shards.servers.items():
        _adopt(shards.home, name, _settle(place))
    return version


def _mark(place: Postgres) -> Mark:
    with driver_errors(place.name), psycopg.connect(place.url) as connection:
        return present(connection, place.name)[1]


def _name(place: Postgres, name: str, home: str) -> None:
    with driver_errors(place.name), psycopg.connect(place.url) as connection:
        connection.execute(reach_statement(Reach()))
        run(connection, "insert_shard", {"name": name, "map": home})
        refuse_stranger(connection, place.name, (name, home))


def _settle(place: Postgres) -> list[str]:
    """Note on a server which tenants live there, and return them."""
    with driver_errors(place.name), psycopg.connect(place.url) as connection:
        connection.execute(reach_statement(Reach(wide=Wide.STORE)))
        for (tenant,) in run(connection, "settled"):
            run(connection, "settle", {"tenant_id": tenant})
        return [tenant for (tenant,) in run(connection, "residents")]


def _adopt(home: Postgres, server: str, tenants: list[str]) -> None:
    with driver_errors(home.name), psycopg.connect(home.url) as connection:
        connection.execute(reach_statement(Reach(wide=Wide.STORE)))
        for tenant in tenants:
            run(connection, "place", {"tenant_id": tenant, "server": server})
            ((known, _),) = run(connection, "placement", {"tenant_id": tenant})
            if known != server:
                raise InvalidInputError(
                    f"A tenant lives on the servers {known} and {server}; nothing was put on the "
                    "map for it. Export it from one of them and delete it there first."
                )
