"""The map from tenants to servers: kept on one, checked on each, remembered by the process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any

import psycopg
from psycopg import errors

from muniment.errors import StoreUnavailableError, WrongKeyError
from muniment.storage.ledger import Rows
from muniment.storage.pg_errors import driver_errors, may_repeat
from muniment.storage.pg_place import Postgres
from muniment.storage.pg_pool import Pool
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_replicas import replicas_of
from muniment.storage.pg_schema import check_wall, present, refuse_stranger
from muniment.storage.pg_session import WRITING
from muniment.storage.pg_statements import Wide, translate
from muniment.storage.pg_wire import Step
from muniment.storage.shards import Shards
from muniment.storage.sqlfiles import queries
from muniment.storage.unlock import Mark

Model = tuple[str, str, int]
_TRIES = 8


@cache
def map_statements() -> Mapping[str, str]:
    """Return the statements about where tenants live, by name."""
    return {name: translate(text) for name, text in queries("map").items()}


@contextmanager
def errors_of(place: Postgres) -> Iterator[None]:
    """Name the server that an error is about; what a transaction may repeat passes unchanged."""
    try:
        yield
    except psycopg.Error as error:
        if isinstance(error, errors.DivisionByZero) or may_repeat(error):
            raise
        with driver_errors(place.name):
            raise


class TenantMap:
    """Finds a tenant's server and lends its connections. Safe to use from several threads.

    What it remembers may be old: whoever goes to a server asks there whether the tenant still
    lives there, in the same round trip, and asks again here when it does not.

    Args:
        shards: The servers.
        mark: What each of them says of the store's key; None for what the first one in use says.

    Attributes:
        shards: The servers.
        replicas: Those of each server by its name, or None.
    """

    def __init__(self, shards: Shards, mark: Mark | None = None) -> None:
        self.shards = shards
        self._mark = mark
        self._pools = {name: Pool(place) for name, place in shards.servers.items()}
        self.replicas = {name: replicas_of(place) for name, place in shards.servers.items()}
        self._checked: set[str] = set()
        self._servers: dict[str, str] = {}
        self._models: dict[Model, int] = {}
        self._told: dict[str, set[Model]] = {name: set() for name in shards.servers}

    def ask(self, server: str, name: str, values: Mapping[str, Any] | None = None) -> Rows:
        """Run one statement of the map on a server, in a transaction of its own.

        Raises:
            StoreUnavailableError: The server cannot be reached.
        """
        reach = reach_statement(Reach(wide=Wide.STORE))
        statement = (map_statements()[name], values or {})
        steps: list[Step] = [(WRITING, None), (reach, None), statement, ("COMMIT", None)]
        pool = self._pools[server]
        with errors_of(self.shards.servers[server]):
            given, connection = pool.first(lambda lent: lent.sent(steps))
            pool.take_back(connection)
        return given[2]

    def pool(self, server: str) -> Pool:
        """Return a server's connections, once it is known to hold this store behind its wall.

        Raises:
            StoreUnavailableError: It cannot be reached.
            UnsafeRoleError: Row-level security would not hold there.
            WrongKeyError: It holds another store.
            StoreError: It holds none, or an old one.
        """
        if server not in self._checked:
            self._check(server)
            self._checked.add(server)
        self._tell_all(server)
        return self._pools[server]

    def _check(self, server: str) -> None:
        place = self.shards.servers[server]
        with driver_errors(place.name), psycopg.connect(place.url, options=place.options) as one:
            _, mark = present(one, place.name)
            refuse_stranger(one, place.name, (server, self.shards.map))
            check_wall(one, place.name)
        self._mark = self._mark or mark
        if mark.fingerprint != self._mark.fingerprint:
            raise WrongKeyError(f"{place.name} holds another store than the other servers.")

    def server_of(self, tenant_id: str, *, place: bool) -> str | None:
        """Return the server on which a tenant lives; None for one that lives nowhere yet.

        Args:
            tenant_id: The tenant.
            place: Whether a new tenant gets a server.

        Raises:
            StoreUnavailableError: The map cannot be read, and no server in reach has the tenant.
        """
        known = self._servers.get(tenant_id)
        if known is None:
            try:
                known = self._placed(tenant_id, place=place)
            except StoreUnavailableError:
                known = self._sought(tenant_id)
                if known is None:
                    raise
            if known is not None:
                self._servers[tenant_id] = known
        return known

    def _placed(self, tenant_id: str, *, place: bool) -> str | None:
        home, key = self.shards.map, {"tenant_id": tenant_id}
        found = self.ask(home, "placement", key)
        if not found and place:
            self.ask(home, "place", {**key, "server": self._emptiest()})
            found = self.ask(home, "placement", key)
        if not found:
            return None
        server = str(found[0][0])
        self.ask(server, "settle", key)
        return server

    def _sought(self, tenant_id: str) -> str | None:
        """Return the server that says itself that a tenant lives there; the map is not needed."""
        for server in self.shards.servers:
            with suppress(StoreUnavailableError):
                if self.ask(server, "residence", {"tenant_id": tenant_id}) == [("here",)]:
                    return server
        return None

    def _emptiest(self) -> str:
        counted = dict.fromkeys(self.shards.servers, 0)
        counted.update(dict(self.ask(self.shards.map, "loads")))
        return min(self.shards.servers, key=lambda name: counted[name])

    def forget(self, tenant_id: str) -> None:
        """Ask anew where a tenant lives the next time."""
        self._servers.pop(tenant_id, None)

    def placements(self) -> list[tuple[str, str, str | None]]:
        """Return every tenant with its server, and with the one that it is being moved to."""
        return [(row[0], row[1], row[2]) for row in self.ask(self.shards.map, "placements")]

    def slot(self, model: Model, *, make: bool) -> int | None:
        """Return the number of a model, the same on every server.

        Args:
            model: Name, version and dimensions.
            make: Whether a new one gets a number, at once and for good.
        """
        if model not in self._models:
            self._learn()
        if make and model not in self._models:
            self._number(dict(zip(("name", "version", "dimensions"), model, strict=True)))
            self._learn()
        return self._models.get(model)

    def _learn(self) -> None:
        """Read which models have numbers, and tell the servers in use."""
        for number, *model in self._known_models():
            self._models[model[0], model[1], model[2]] = number
        for server in list(self._checked):
            with suppress(StoreUnavailableError):
                self._tell_all(server)

    def _tell_all(self, server: str) -> None:
        for model in set(self._models) - self._told[server]:
            self._tell(server, model)

    def _number(self, values: Mapping[str, Any]) -> None:
        for attempt in range(_TRIES):
            try:
                self.ask(self.shards.map, "new_model", values)
            except errors.UniqueViolation:
                if attempt == _TRIES - 1:
                    raise
            else:
                return

    def _known_models(self) -> Rows:
        """Return what the map's server says of models, or else another one."""
        try:
            return self.ask(self.shards.map, "models")
        except StoreUnavailableError:
            for server in set(self.shards.servers) - {self.shards.map}:
                with suppress(StoreUnavailableError):
                    return self.ask(server, "models")
            raise

    def _tell(self, server: str, model: Model) -> None:
        name, version, dimensions = model
        values = {"name": name, "version": version, "dimensions": dimensions}
        self.ask(server, "put_model", {**values, "slot": self._models[model]})
        self._told[server].add(model)

    def close(self) -> None:
        """Close every connection."""
        for pool in self._pools.values():
            pool.close()
        for replicas in filter(None, self.replicas.values()):
            replicas.close()
