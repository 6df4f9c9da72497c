"""Moving a tenant from one server to another while it is used: nothing lost, nothing twice."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, LiteralString

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier

from muniment.errors import InvalidInputError, NotFoundError, StoreBusyError, StoreError
from muniment.records import Plain
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_map import TenantMap, map_statements
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_statements import Wide, translate
from muniment.storage.sqlfiles import queries, schema

_TABLE = re.compile(r"^CREATE TABLE (\w+) \((.*?)^\)", re.MULTILINE | re.DOTALL)
_BATCH = 500
_PASSES = 3
Link = psycopg.Connection[Any]
Digests = dict[int, tuple[tuple[str, int, str], ...]]


@dataclass(frozen=True, slots=True)
class TenantMove(Plain):
    """What a move did.

    Attributes:
        tenant_id: The tenant.
        source: Where it was.
        target: Where it is now.
        owners: Its scopes and spaces.
        rows: Its rows, each there once, compared by number and digest.
        copied_again: Owners that changed while they were copied and were copied again at the end.
        paused: Seconds for which its writers waited. Its readers never did.
    """

    tenant_id: str
    source: str
    target: str
    owners: int
    rows: int
    copied_again: int
    paused: float


@cache
def owned_tables() -> tuple[str, ...]:
    """Return every table with rows of owners, those first that others refer to."""
    found = _TABLE.findall(schema("postgres"))
    return tuple(name for name, columns in found if "owner_no" in columns)


@cache
def _texts() -> Mapping[str, str]:
    return {name: translate(text) for name, text in queries("move").items()}


class Mover:
    """Moves tenants between the servers of a map; what was interrupted is carried on.

    On each server a mark says whether the tenant lives there. Every transaction asks for it, and
    one that writes locks it, so that none writes where the tenant is gone. The mark also names the
    one move that may copy; another run takes over by putting its own name there.

    Args:
        tenants: The map.
    """

    def __init__(self, tenants: TenantMap) -> None:
        self._tenants = tenants
        self._shards = tenants.shards
        self._mover = secrets.token_hex(8)

    def move(self, tenant_id: str, target: str) -> TenantMove:
        """Move a tenant, or carry on a move that was interrupted.

        Args:
            tenant_id: The tenant.
            target: The server to move it to. Its present one takes back a move that was not
                finished.

        Raises:
            InvalidInputError: There is no such server, or the tenant is on its way to another.
            NotFoundError: No such tenant is on the map.
            StoreUnavailableError: A server cannot be reached; run it again.
            StoreBusyError: Another run has taken over, or a writer does not end; run it again.
            StoreError: What arrived is not what was sent; the tenant stays where it was.
        """
        if target not in self._shards.servers:
            raise InvalidInputError(f"The servers are: {', '.join(self._shards.servers)}.")
        found = self._tenants.ask(self._shards.map, "placement", {"tenant_id": tenant_id})
        if not found:
            raise NotFoundError("No such tenant is on the map.")
        ((source, pending),) = found
        self._tenants.ask(source, "settle", {"tenant_id": tenant_id})
        if target == source:
            self._take_back(tenant_id, source, pending)
            return self._told(tenant_id, source, source, 0, 0.0)
        if not self._say(self._shards.map, "set_target", tenant_id, target=target):
            raise InvalidInputError(
                f"The tenant is on its way to {pending}; finish that move first, or move it to "
                f"{source} to take it back."
            )
        self._tenants.pool(target)
        return self._carry(tenant_id, source, target)

    def _carry(self, tenant_id: str, source: str, target: str) -> TenantMove:
        again, paused = 0, 0.0
        arriving = self._say(target, "arrive", tenant_id, mover=self._mover)
        if not self._is_gone(source, tenant_id):
            self._share_models(target)
            for _ in range(_PASSES):
                if not self._copy(tenant_id, source, target):
                    break
            again, paused = self._close(tenant_id, source, target)
        if arriving:
            self._must(target, "arrived", tenant_id)
        self._tenants.ask(
            self._shards.map, "set_server", {"tenant_id": tenant_id, "server": target}
        )
        self._tenants.forget(tenant_id)
        self._clean_up(tenant_id, target)
        return self._told(tenant_id, source, target, again, paused)

    def _clean_up(self, tenant_id: str, server: str) -> None:
        """Remove the rows of a tenant from every server that it has left."""
        for other in self._shards.servers:
            if other != server and self._is_gone(other, tenant_id):
                self._drop(other, tenant_id)
        self._say(self._shards.map, "drop_target", tenant_id)

    def _close(self, tenant_id: str, source: str, target: str) -> tuple[int, float]:
        """Let writers wait, copy what changed, compare everything and give up the old place."""
        began = time.monotonic()
        self._must(source, "leave", tenant_id)
        has_left = False
        try:
            again = self._copy(tenant_id, source, target)
            if again and self._differing(tenant_id, source, target):
                raise StoreError(
                    "What arrived differs from what was sent, so the tenant stays where it was. "
                    "Run the move again."
                )
            self._must(source, "depart", tenant_id)
            has_left = True
        finally:
            if not has_left:
                self._say(source, "stay", tenant_id, mover=self._mover)
        return again, time.monotonic() - began

    def _take_back(self, tenant_id: str, source: str, pending: str | None) -> None:
        """Undo a move that did not reach the point where the tenant left."""
        if not self._say(source, "stop_leaving", tenant_id):
            raise InvalidInputError(
                f"The tenant has left {source} already; finish the move to {pending}."
            )
        if pending is not None:
            self._say(pending, "stop_arriving", tenant_id)
        self._clean_up(tenant_id, source)

    def _say(self, server: str, name: str, tenant_id: str, **values: str) -> bool:
        """Run a statement about a tenant; return whether it changed something."""
        return bool(self._tenants.ask(server, name, {"tenant_id": tenant_id, **values}))

    def _must(self, server: str, name: str, tenant_id: str) -> None:
        if not self._say(server, name, tenant_id, mover=self._mover):
            raise StoreBusyError(
                "Another run has taken over the move of this tenant; wait for it, or run this "
                "again to take over."
            )

    def _is_gone(self, server: str, tenant_id: str) -> bool:
        return self._tenants.ask(server, "residence", {"tenant_id": tenant_id}) == [("gone",)]

    def _share_models(self, target: str) -> None:
        for slot, name, version, dimensions in self._tenants.ask(self._shards.map, "models"):
            values = {"slot": slot, "name": name, "version": version, "dimensions": dimensions}
            self._tenants.ask(target, "put_model", values)

    @contextmanager
    def _link(self, server: str, tenant_id: str) -> Iterator[Link]:
        """Open a transaction that sees everything of one tenant, as of one moment."""
        place = self._shards.servers[server]
        wait = int(place.patience * 1000)
        with driver_errors(place.name):
            link = psycopg.connect(place.url, options=f"-c lock_timeout={wait}")
            link.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            try:
                with link.transaction():
                    link.execute(reach_statement(Reach(tenant_id, wide=Wide.TENANT)))
                    yield link
            finally:
                link.close()

    def _told(
        self, tenant_id: str, source: str, target: str, again: int, paused: float
    ) -> TenantMove:
        with self._link(target, tenant_id) as link:
            said = _digests(link, tenant_id)
        rows = sum(count for parts in said.values() for _, count, _ in parts)
        return TenantMove(tenant_id, source, target, len(said), rows, again, round(paused, 3))

    def _differing(self, tenant_id: str, source: str, target: str) -> list[int]:
        """Return the numbers of the owners whose rows are not the same on both servers."""
        with self._link(source, tenant_id) as here:
            sent = _digests(here, tenant_id)
        with self._link(target, tenant_id) as there:
            arrived = _digests(there, tenant_id)
        return sorted(no for no in sent.keys() | arrived.keys() if sent.get(no) != arrived.get(no))

    def _copy(self, tenant_id: str, source: str, target: str) -> int:
        """Copy the owners that differ, each in a transaction; return how many they were."""
        differing = self._differing(tenant_id, source, target)
        key = {"tenant_id": tenant_id}
        for number in (None, *differing):
            with self._link(source, tenant_id) as here, self._link(target, tenant_id) as there:
                self._permit(there, "may_copy", tenant_id)
                if number is not None:
                    _transfer(here, there, {**key, "owner_no": number})
                for (last,) in here.execute(_texts()["last_owner"], key):
                    there.execute(_texts()["put_last_owner"], {**key, "last_owner": last})
        return len(differing)

    def _drop(self, server: str, tenant_id: str) -> None:
        """Remove the rows of a tenant that does not live on a server; do nothing if it does."""
        with self._link(server, tenant_id) as link:
            self._permit(link, "may_drop", tenant_id)
            for (number,) in link.execute(_texts()["owners_of"], {"tenant_id": tenant_id}):
                _clear(link, {"tenant_id": tenant_id, "owner_no": number})
            link.execute(_texts()["drop_last_owner"], {"tenant_id": tenant_id})

    def _permit(self, link: Link, name: str, tenant_id: str) -> None:
        values = {"tenant_id": tenant_id, "mover": self._mover}
        try:
            link.execute(map_statements()[name], values)
        except errors.DivisionByZero:
            raise StoreBusyError(
                "Another run has taken over the move of this tenant; wait for it, or run this "
                "again to take over."
            ) from None


def _on_table(name: str, table: str) -> Composed:
    """Return a statement of the file for one table of the schema."""
    text: LiteralString = _texts()[name]
    return SQL(text).format(Identifier(table))


def _digests(link: Link, tenant_id: str) -> Digests:
    """Return by owner how many rows each table has of it, and their digest."""
    found: dict[int, list[tuple[str, int, str]]] = {}
    for table in owned_tables():
        for number, count, digest in link.execute(
            _on_table("digests", table), {"tenant_id": tenant_id}
        ):
            found.setdefault(number, []).append((table, count, digest))
    return {number: tuple(parts) for number, parts in found.items()}


def _clear(link: Link, owner: Mapping[str, object]) -> None:
    for table in reversed(owned_tables()):
        link.execute(_on_table("drop", table), owner)


def _transfer(here: Link, there: Link, owner: Mapping[str, object]) -> None:
    """Put an owner's rows in the place of what the other server has of it."""
    _clear(there, owner)
    for table in owned_tables():
        rows = here.cursor("rows").execute(_on_table("take", table), owner)
        while batch := rows.fetchmany(_BATCH):
            said = ",".join(row for (row,) in batch)
            there.execute(_on_table("put", table), {"rows": f"[{said}]"})
        rows.close()
