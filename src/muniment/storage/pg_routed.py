"""A store over several PostgreSQL servers: each transaction goes to the server of its tenant."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from psycopg import errors

from muniment.errors import StoreError, StoreUnavailableError, TenantMovedError
from muniment.results import StoreInfo
from muniment.storage.ledger import Rows
from muniment.storage.pg_map import TenantMap, errors_of, map_statements
from muniment.storage.pg_session import WRITING, Given, Place, Session
from muniment.storage.pg_statements import Statement, Wide, statements
from muniment.storage.pg_wire import Step
from muniment.storage.postgres import PostgresStore
from muniment.storage.shards import Shards
from muniment.storage.unlock import Unlocker

if TYPE_CHECKING:
    from muniment.storage.pg_place import Postgres
    from muniment.storage.pg_pool import Pool
    from muniment.storage.pg_replicas import Replicas

T = TypeVar("T")
Call = tuple[Statement, Mapping[str, Any]]
_PAUSE = 0.02
_LONGEST = 0.5


class ShardSession(Session):
    """A transaction on one server of several: it fails where a tenant does not live any more."""

    def __init__(self, pool: Pool, begin: str, replicas: Replicas | None = None) -> None:
        super().__init__(pool, begin, replicas)
        self._admitted: set[str] = set()

    def _admission(self, values: Mapping[str, Any]) -> Iterable[Step]:
        tenant = values.get("tenant_id")
        if tenant is not None and tenant not in self._admitted:
            self._admitted.add(tenant)
            name = "may_write" if self._writes else "may_read"
            yield map_statements()[name], {"tenant_id": tenant}

    def residents(self) -> frozenset[str]:
        """Return the tenants that may be read here, as of this transaction."""
        statement = Statement(
            "residents", map_statements()["residents"], Wide.STORE, gives_rows=True
        )
        return frozenset(row[0] for row in self.together([(statement, {})])[0])


class RoutedSession:
    """The `Connection` of a view over the servers of the tenants that it touches.

    What is read of one tenant is of one moment. What is read of all of them is of one moment a
    server.

    Args:
        tenants: Knows the servers.
        begin: The statement that begins a transaction.
        patience: Seconds to look for a tenant that is being moved.
    """

    def __init__(self, tenants: TenantMap, begin: str, patience: float) -> None:
        self._tenants = tenants
        self._begin = begin
        self._writes = begin == WRITING
        self._patience = patience
        self._sessions: dict[str, ShardSession] = {}
        self._homes: dict[str, ShardSession] = {}
        self._known = statements()
        self._ends_next = False

    def execute(self, statement: str, values: Mapping[str, Any], /) -> Given:
        """Run a statement of the files where its tenant lives."""
        known = self._known[statement]
        tenant = values.get("tenant_id")
        if tenant is None or self._homes.get(tenant) is None:
            return Given(self.together([(known, values)])[0])
        return self._on(tenant, lambda session: session.execute(statement, values))

    def named(self, statement: str) -> Statement:
        """Return what is known of a statement of the files."""
        return self._known[statement]

    def note_owner(self, owner: Place, row: tuple[Any, ...]) -> None:
        """Note an owner's own row: a replica that shows the same one may give what it covers."""
        home = self._homes.get(owner[0])
        if home is not None:
            home.note_owner(owner, row)

    def end_with_next(self) -> None:
        """Let the transaction end in the next round trip."""
        self._ends_next = True

    def together(self, calls: Sequence[Call]) -> list[Rows]:
        """Run statements, those of one tenant in one round trip; return the rows of each."""
        tenants = {values.get("tenant_id") for _, values in calls}
        if len(tenants) != 1:
            return [self.together([call])[0] for call in calls]
        (tenant,) = tenants
        if tenant is None:
            return [self._of_none(*call) for call in calls]
        return self._of(tenant, calls)

    def _of_none(self, statement: Statement, values: Mapping[str, Any]) -> Rows:
        """Run a statement that names no tenant: on all servers, or about what they share."""
        if statement.wide is Wide.STORE:
            return self._everywhere(statement, values)
        if statement.name in {"slot", "insert_slot"}:
            model = values["name"], values["version"], values["dimensions"]
            slot = self._tenants.slot(model, make=statement.name == "insert_slot")
            return [] if slot is None else [(slot,)]
        return []

    def _of(self, tenant: str, calls: Sequence[Call]) -> list[Rows]:
        """Run statements of one tenant where it lives; look there again when it was moved."""
        end = time.monotonic() + self._patience
        pause = _PAUSE
        while True:
            server = self._tenants.server_of(tenant, place=self._writes)
            if server is None:
                return [[] for _ in calls]
            is_new = server not in self._sessions
            try:
                return self._admitted(tenant, server, calls)
            except errors.DivisionByZero:
                self._tenants.forget(tenant)
                if not is_new or time.monotonic() > end:
                    raise TenantMovedError(
                        "The tenant is being moved to another server; nothing was done. Retry, and "
                        "if it lasts run `muniment tenants move` again.",
                        server=server,
                    ) from None
                self._sessions.pop(server).end()
            time.sleep(pause * random.random())  # noqa: S311 - not a secret
            pause = min(2 * pause, _LONGEST)

    def _admitted(self, tenant: str, server: str, calls: Sequence[Call]) -> list[Rows]:
        if self._writes and self._sessions and server not in self._sessions:
            raise StoreError("One transaction cannot write on two servers; nothing was written.")
        self._homes[tenant] = self._sessions.get(server) or self._begun(server)
        try:
            return self._on(tenant, lambda session: session.together(calls))
        except errors.DivisionByZero:
            del self._homes[tenant]
            raise

    def _on(self, tenant: str, act: Callable[[ShardSession], T]) -> T:
        session = self._homes[tenant]
        if self._ends_next:
            session.end_with_next()
        with errors_of(self._place_of(session)):
            return act(session)

    def _begun(self, server: str) -> ShardSession:
        pool = self._tenants.pool(server)
        session = ShardSession(pool, self._begin, self._tenants.replicas[server])
        self._sessions[server] = session
        return session

    def _place_of(self, session: ShardSession) -> Postgres:
        name = next(name for name, one in self._sessions.items() if one is session)
        return self._tenants.shards.servers[name]

    def _everywhere(self, statement: Statement, values: Mapping[str, Any]) -> Rows:
        """Run a statement on every server and leave out what does not live where it was found."""
        found: Rows = []
        seen: set[str] = set()
        for server, place in self._tenants.shards.servers.items():
            session = self._sessions.get(server)
            if session is None:
                session = self._begun(server)
            with errors_of(place):
                here = session.residents() - seen
                rows = session.together([(statement, values)])[0]
            found += [row for row in rows if row[0] in here]
            seen |= here
        self._refuse_gap(seen)
        return found

    def _refuse_gap(self, seen: set[str]) -> None:
        """Refuse an answer that lacks a tenant which is on its way from one server to another."""
        missing = [tenant for tenant, _, target in self._tenants.placements() if target]
        if set(missing) - seen:
            raise TenantMovedError(
                "A tenant is between two servers, so not everything can be read; retry, and if it "
                "lasts run `muniment tenants move` again.",
                tenants=len(set(missing) - seen),
            )

    def commit(self) -> None:
        """Send what waits and make everything durable."""
        for server, session in self._sessions.items():
            with errors_of(self._tenants.shards.servers[server]):
                session.commit()

    def end(self) -> None:
        """Undo what was not committed and give the connections back."""
        for session in self._sessions.values():
            session.end()


class RoutedStore(PostgresStore):
    """A store over several PostgreSQL servers, each tenant on one of them.

    Args:
        shards: The servers.
        unlocker: Finds the store's key.

    Raises:
        StoreUnavailableError: No server can be reached.
        StoreError: As for one server.
    """

    def __init__(self, shards: Shards, unlocker: Unlocker) -> None:
        self._shards = shards
        names = sorted(shards.servers, key=lambda name: name != shards.map)
        for place, name in enumerate(names, start=1):
            try:
                super().__init__(shards.servers[name], unlocker, shard=(name, shards.map))
            except StoreUnavailableError:
                if place == len(names):
                    raise
            else:
                break
        self.tenants = TenantMap(shards, self._mark)

    def _session(self, begin: str) -> RoutedSession:
        return RoutedSession(self.tenants, begin, self._shards.home.patience)

    def _all_replicas(self) -> Iterable[Replicas | None]:
        return self.tenants.replicas.values()

    def _places(self) -> Iterable[Postgres]:
        return self._shards.servers.values()

    def info(self) -> StoreInfo:
        """Return the servers' version and their size together."""
        names = ", ".join(f"{name}={one.name}" for name, one in self._shards.servers.items())
        return replace(super().info(), location=names)

    def close(self) -> None:
        """Note the last states and close every connection."""
        super().close()
        self.tenants.close()
