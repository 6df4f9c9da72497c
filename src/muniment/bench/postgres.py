"""What does a call cost on PostgreSQL, beside the least that a server can be asked?"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from typing import Any

from muniment import memory as facade
from muniment.bench.limits import texts_of
from muniment.bench.machine import Machine, machine
from muniment.bench.peers import owner_of
from muniment.bench.sample import PreparedEmbedder, sentences, statements
from muniment.bench.server import LocalServer
from muniment.bench.stores import LIMIT, ask, scope_of
from muniment.bench.timing import Ratio, interleaved, ratio
from muniment.memory import Memory
from muniment.records import Plain

SELECT = "SELECT 1"
WARM, COLD = "muniment on PostgreSQL, warm", "muniment on PostgreSQL, cold"
SQLITE = "muniment on SQLite, warm"
WRITE, WRITE_SQLITE = "muniment on PostgreSQL, remember", "muniment on SQLite, remember"
LANGGRAPH = "LangGraph PostgresStore, search"
_PACKAGE = "langgraph-checkpoint-postgres"
_SERVED = (WARM, COLD, WRITE, LANGGRAPH)
_LATE = 50_000


@dataclass(frozen=True, slots=True)
class PostgresCase(Plain):
    """One sort of call.

    Attributes:
        name: Which.
        version: Of a peer; empty for ours, None when the peer is not installed.
        median: Milliseconds by the clock.
        p95: 95th percentile.
        times_select: Median over that of one `SELECT 1` of the same run.
        times_ours: Median over that of our warm recall on PostgreSQL.
        server_cpu: Milliseconds of CPU that the server uses for one, of as many calls in a row.
    """

    name: str
    version: str | None
    median: float | None = None
    p95: float | None = None
    times_select: Ratio | None = None
    times_ours: Ratio | None = None
    server_cpu: float | None = None


@dataclass(frozen=True, slots=True)
class PostgresReport(Plain):
    """What a run measured.

    Attributes:
        machine: On what.
        server: Version of PostgreSQL.
        records: Records in the scope, and as many of another one of the tenant.
        bytes_each: Bytes of the database for each record, with every index.
        cases: The calls, all timed in turn.
    """

    machine: Machine
    server: str
    records: int
    bytes_each: int
    cases: tuple[PostgresCase, ...]


def run(*, records: int = 1_000, calls: int = 200) -> PostgresReport:
    """Time calls against a server of the bench's own and against SQLite, in turn.

    Args:
        records: Records of the scope.
        calls: How many to time of each sort.

    Raises:
        MissingExtraError: There is no server to start.
    """
    embedder = PreparedEmbedder()
    queries = list(sentences(99, calls))
    embedder.embed_passages(queries)
    embedder.embed_passages([one.text for one in statements(_LATE, 2 * calls + 10)])
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = LocalServer()
        stack.callback(server.close)
        place = server.make("recall")
        before = _size(server)

        def opened(location: object, cache: int) -> Memory:
            memory = facade.open(location, embedder=embedder, cache_bytes=cache)  # type: ignore[arg-type]
            return stack.enter_context(memory)

        hot, fresh = opened(place, 2**30), opened(place, 0)
        plain = opened(folder / "recall.db", 2**30)
        for memory in (hot, plain):
            for number in (1, 2):
                scope_of(memory, number).remember_many(statements(number, records), approved=True)
        bytes_each = (_size(server) - before) // (2 * records)
        work = {
            SELECT: _select(stack, str(place.url)),
            WARM: lambda n: ask(scope_of(hot, 1), queries[n]),
            SQLITE: lambda n: ask(scope_of(plain, 1), queries[n]),
            COLD: lambda n: ask(scope_of(fresh, 1), queries[n]),
            WRITE: _writing(hot, calls),
            WRITE_SQLITE: _writing(plain, calls),
        }
        peer = _peer(server, stack, embedder, records, queries)
        if peer is not None:
            work[LANGGRAPH] = peer
        times = {name: wall for name, (_, wall) in interleaved(work, calls=calls).items()}
        used = {name: _cpu(server, work[name], calls) for name in work if name in _SERVED}
        cases = [_case(name, times, used.get(name)) for name in work]
        if peer is None:
            cases.append(PostgresCase(LANGGRAPH, None))
        found = machine("psycopg", "psycopg-pool", _PACKAGE)
        return PostgresReport(found, server.version, records, bytes_each, tuple(cases))


def _size(server: LocalServer) -> int:
    return int(server.run("SELECT pg_database_size('recall')")[0][0])


def _select(stack: ExitStack, url: str) -> Callable[[int], object]:
    """Return the least that a server can be asked, on a connection that is open."""
    connection: Any = import_module("psycopg").connect(url, autocommit=True)
    stack.callback(connection.close)
    return lambda _: connection.execute("SELECT 1").fetchone()


def _writing(memory: Memory, calls: int) -> Callable[[int], object]:
    """Return one durable write to a scope of its own."""
    made = iter(statements(_LATE, 2 * calls + 10))
    me = scope_of(memory, 3)
    return lambda _: me.remember_many([next(made)], approved=True)


def _peer(
    server: LocalServer,
    stack: ExitStack,
    embedder: PreparedEmbedder,
    records: int,
    queries: Sequence[str],
) -> Callable[[int], object] | None:
    """Return a search of LangGraph's store with the same records, or None without it."""
    if _version() is None:
        return None
    from muniment.bench.peers.langgraph import open_postgres

    peer = open_postgres(server.empty("peer"), embedder)
    stack.callback(peer.close)
    for number in (1, 2):
        ids = [f"{number}-{place}" for place in range(records)]
        peer.add(owner_of(number), ids, texts_of(number, records))
    return lambda n: peer.recall(owner_of(1), queries[n], LIMIT)


def _version() -> str | None:
    try:
        return version(_PACKAGE)
    except PackageNotFoundError:
        return None


def _cpu(server: LocalServer, call: Callable[[int], object], calls: int) -> float:
    before = server.cpu()
    for number in range(calls):
        call(number)
    return round((server.cpu() - before) * 1e3 / calls, 2)


def _case(name: str, times: dict[str, list[float]], used: float | None) -> PostgresCase:
    own = sorted(times[name])
    return PostgresCase(
        name=name,
        version=_version() if name == LANGGRAPH else "",
        median=round(median(own), 3),
        p95=round(own[int(len(own) * 0.95)], 3),
        times_select=ratio(times[name], times[SELECT]),
        times_ours=ratio(times[name], times[WARM]),
        server_cpu=used,
    )
