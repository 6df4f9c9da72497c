"""A server that goes away, a full pool, a lock that stays: typed errors, and no harm afterwards."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest
from psycopg import errors

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import (
    InvalidInputError,
    StoreBusyError,
    StoreError,
    StoreUnavailableError,
    StoreVersionError,
)
from muniment.ports import Store, Transaction
from muniment.storage import Postgres, open_store, prepare_postgres
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_wire import Wired
from muniment.testing.samples import SCOPE, everything, sample, stored
from tests.postgres.server import OWNER, Server

END = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'muniment_test_app'"


@pytest.fixture
def store(place: Postgres) -> Iterator[Store]:
    one = open_store(place)
    yield one
    one.close()


@pytest.fixture
def end_sessions(server: Server) -> Callable[[], None]:
    """Return what ends every session of the application, as a restart of the server does."""

    def end() -> None:
        server.run(END)

    return end


@pytest.mark.promise("OPE-3")
def test_sessions_that_end_between_calls_are_replaced_in_silence(
    store: Store, end_sessions: Callable[[], None]
) -> None:
    stored(store, sample(source_id="before"))
    for number in range(3):
        end_sessions()
        assert len(everything(store)) == 1 + number
        end_sessions()
        stored(store, sample(source_id=f"after {number}"))


@pytest.mark.promise("OPE-3")
def test_a_session_that_ends_within_a_write_is_one_typed_error_and_nothing_is_kept(
    store: Store, end_sessions: Callable[[], None]
) -> None:
    stored(store, sample(source_id="before"))

    def work(tx: Transaction) -> None:
        owner = tx.bump(tx.ensure_owner(SCOPE, 1))
        end_sessions()
        tx.insert(owner, sample(source_id="lost"))

    with pytest.raises(StoreUnavailableError, match="source_id"):
        store.write(work)
    stored(store, sample(source_id="after"))
    assert {one.source.source_id for one in everything(store)} == {"before", "after"}


def test_a_session_that_ends_within_a_snapshot_is_one_typed_error(
    store: Store, end_sessions: Callable[[], None]
) -> None:
    stored(store, sample())

    def read() -> None:
        with store.snapshot() as view:
            end_sessions()
            view.owner(SCOPE)

    with pytest.raises(StoreUnavailableError):
        read()
    assert len(everything(store)) == 1


def test_a_full_pool_is_a_typed_error_and_then_works_again(place: Postgres) -> None:
    store = open_store(replace(place, connections=1, patience=0.2))
    stored(store, sample())
    with store.snapshot() as view:
        assert view.owner(SCOPE) is not None
        with pytest.raises(StoreUnavailableError, match="connections"):
            everything(store)
    assert len(everything(store)) == 1
    store.close()


def test_an_owner_that_is_locked_for_too_long_is_a_typed_error(place: Postgres) -> None:
    store = open_store(replace(place, patience=0.2))
    stored(store, sample(source_id="before"))
    with psycopg.connect(place.url) as other:
        other.execute(reach_statement(Reach("acme", frozenset({1}))))
        assert other.execute("SELECT 1 FROM owners FOR UPDATE").fetchall()
        with pytest.raises(StoreBusyError, match="busy"):
            stored(store, sample(source_id="waits"))
        assert len(everything(store)) == 1
    stored(store, sample(source_id="after"))
    store.close()


def test_a_statement_that_takes_too_long_is_a_typed_error(
    place: Postgres,
) -> None:
    with (
        pytest.raises(StoreUnavailableError, match="QueryCanceled"),
        driver_errors(place.name),
        psycopg.connect(place.url, options=replace(place, statement_timeout=0.05).options) as one,
    ):
        one.execute("SELECT pg_sleep(5)")


@pytest.mark.promise("OPE-3")
def test_a_scope_that_another_writer_makes_meanwhile_is_locked_when_it_is_found(
    place: Postgres,
) -> None:
    store, other = open_store(place), open_store(replace(place, patience=0.2))

    def work(tx: Transaction) -> None:
        assert tx.owner(SCOPE) is None
        stored(other, sample(source_id="first"))
        owner = tx.bump(tx.ensure_owner(SCOPE, 1))
        with pytest.raises(StoreBusyError):
            stored(other, sample(source_id="refused"))
        tx.insert(owner, sample(source_id="second"))

    store.write(work)
    stored(other, sample(source_id="third"))
    assert [one.source.source_id for one in everything(store)] == ["first", "second", "third"]
    for one in (store, other):
        one.close()


@pytest.mark.promise("OPE-3")
def test_two_first_writers_of_a_scope_make_it_once_and_neither_begins_again(
    place: Postgres,
) -> None:
    store = open_store(place)
    met = threading.Barrier(2)
    runs: list[str] = []

    def writes(name: str) -> Callable[[Transaction], None]:
        def work(tx: Transaction) -> None:
            runs.append(name)
            assert tx.owner(SCOPE) is None
            met.wait(timeout=20)
            tx.insert(tx.bump(tx.ensure_owner(SCOPE, 1)), sample(source_id=name))

        return work

    threads = [threading.Thread(target=store.write, args=(writes(name),)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(runs) == ["a", "b"]
    assert {one.source.source_id for one in everything(store)} == {"a", "b"}
    with store.snapshot() as view:
        assert [state.version for state in view.owners()] == [2]
    store.close()


def test_a_deadlock_is_run_again(place: Postgres) -> None:
    """Two writers take two owners in opposite order; both end well."""
    store = open_store(place)
    other = replace(SCOPE, user_id="other")
    stored(store, sample(source_id="one"))
    stored(store, sample(source_id="two"), scope=other)
    met = threading.Barrier(2)
    runs: list[str] = []

    def work(first: object, second: object, name: str) -> Callable[[Transaction], None]:
        def inner(tx: Transaction) -> None:
            runs.append(name)
            tx.bump(tx.ensure_owner(first, 1))  # type: ignore[arg-type]
            if runs.count(name) == 1:
                met.wait(timeout=20)
            tx.bump(tx.ensure_owner(second, 1))  # type: ignore[arg-type]

        return inner

    one = threading.Thread(target=store.write, args=(work(SCOPE, other, "a"),))
    two = threading.Thread(target=store.write, args=(work(other, SCOPE, "b"),))
    for thread in (one, two):
        thread.start()
    for thread in (one, two):
        thread.join()
    assert len(runs) == 3
    with store.snapshot() as view:
        assert {state.version for state in view.owners()} == {3}
    store.close()


def test_an_error_names_neither_a_value_nor_the_password(store: Store, place: Postgres) -> None:
    stored(store, sample(source_id="a secret source"))
    with pytest.raises(StoreError) as caught:
        stored(store, sample(source_id="a secret source"))
    error: BaseException | None = caught.value
    assert error is not None
    assert "secret" not in str(error)
    assert error.__suppress_context__
    assert error.__cause__ is None
    gone = Postgres("postgresql://me:hunter2@127.0.0.1:1/none?connect_timeout=2")
    with pytest.raises(StoreUnavailableError) as unreachable:
        open_store(gone)
    assert "hunter2" not in str(unreachable.value)


def test_a_database_without_a_store_says_how_to_make_one(server: Server, tmp_path: Path) -> None:
    server.drop("muniment_bare")
    server.run("CREATE DATABASE {} OWNER {}", "muniment_bare", OWNER)
    place = Postgres(server.location("muniment_bare", "muniment_test_app"), files=tmp_path / "f")
    with pytest.raises(StoreError, match="muniment init"):
        open_store(place)
    server.drop("muniment_bare")


def test_a_newer_schema_is_refused_unless_it_says_that_older_code_may_use_it(
    server: Server, place: Postgres
) -> None:
    database = str(place.parts()["dbname"])
    server.run("UPDATE schema_version SET version = 9", database=database)
    open_store(place).close()
    owner = replace(place, url=server.location(database, OWNER))
    with pytest.raises(StoreVersionError, match="upgrade"):
        prepare_postgres(owner)
    server.run("UPDATE schema_version SET oldest_reader = 9", database=database)
    with pytest.raises(StoreVersionError, match="upgrade"):
        open_store(place)


def test_preparing_twice_and_at_once_makes_one_store(server: Server, tmp_path: Path) -> None:
    server.drop("muniment_rivals")
    server.run("CREATE DATABASE {} OWNER {}", "muniment_rivals", OWNER)
    owner = Postgres(server.location("muniment_rivals", OWNER), files=tmp_path / "f")
    failed: list[BaseException] = []

    def make() -> None:
        try:
            prepare_postgres(owner)
        except StoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=make) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    place = Postgres(server.location("muniment_rivals", "muniment_test_app"), files=owner.files)
    with muniment.open(place, embedder="none") as memory:
        assert isinstance(memory, Memory)
        me: ScopedMemory = memory.scoped(tenant_id="a", user_id="b", agent_id="c")
        me.remember("Works.", kind="context", source_id="1", approved=True)
    server.drop("muniment_rivals")


@pytest.mark.parametrize(
    ("url", "how"),
    [
        ("mysql://here/db", {}),
        ("postgresql://[", {}),
        ("postgresql://h/d", {"connections": 0}),
        ("postgresql://h/d", {"patience": 0}),
        ("postgresql://h/d", {"statement_timeout": -1}),
    ],
)
def test_a_place_that_is_none_is_refused(url: str, how: dict[str, float]) -> None:
    with pytest.raises(InvalidInputError):
        open_store(Postgres(url, **how))  # type: ignore[arg-type]


class TestWire:
    """What travels together in one packet."""

    @pytest.fixture
    def wire(self, place: Postgres) -> Iterator[Wired]:
        with Wired.connect(place.url, autocommit=True) as one:
            yield one

    def test_a_statement_that_the_server_skipped_is_prepared_when_it_comes_again(
        self, wire: Wired
    ) -> None:
        adding = ("SELECT %(number)s + 1", {"number": 1})
        with pytest.raises(errors.DivisionByZero):
            wire.sent([("SELECT 1 / 0", None), adding])
        assert wire.sent([adding]) == [[(2,)]]
        assert wire.sent([adding, adding]) == [[(2,)], [(2,)]]

    @pytest.mark.parametrize("value", [None, 2**62, -1, "", "100 % of \\ ü 漢 '", b"", b"\0\xff"])
    def test_a_value_arrives_as_it_was_sent(self, wire: Wired, value: object) -> None:
        is_bytes = isinstance(value, bytes)
        sort = "text" if isinstance(value, str) else "bytea" if is_bytes else "bigint"
        statement = f"SELECT %(value)s::{sort}, 5 %% 3, %(value)s::{sort}"
        assert wire.sent([(statement, {"value": value})]) == [[(value, 2, value)]]

    def test_a_text_that_the_server_cannot_hold_sends_nothing(self, wire: Wired) -> None:
        with pytest.raises(psycopg.DataError):
            wire.sent([("SELECT 1", None), ("SELECT %(value)s::text", {"value": "a\0b"})])
        assert wire.sent([("SELECT 1", None)]) == [[(1,)]]
