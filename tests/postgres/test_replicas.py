"""Replicas: they carry what is large; whatever they show or fail to show, answers stay fresh."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import InvalidInputError
from muniment.storage import Postgres, Shards, pg_replicas, read_place, read_shards
from muniment.storage.pg_breaker import Breaker
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.testing import FakeEmbedder
from tests.postgres.pair import Pair
from tests.postgres.proxy import counted
from tests.postgres.replica import Standby
from tests.postgres.server import OWNER, Server

TEXTS = [f"Statement {number} about tea." for number in range(12)]


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def place(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path, sealed=request.param) as where:
        yield where


class Watched:
    """A store with a replica, and how often each of the two is spoken to."""

    def __init__(self, place: Postgres, replica: Standby, stack: ExitStack) -> None:
        folders = [Path(stack.enter_context(tempfile.TemporaryDirectory())) for _ in range(2)]
        self._stack = stack
        self.place, self.primary = stack.enter_context(counted(place, folders[0]))
        beside = replica.beside(place).copies()[0]
        copy, self.copy = stack.enter_context(counted(beside, folders[1]))
        self.place = replace(self.place, replicas=(copy.url,))

    def memory(self) -> Memory:
        """Open the store as another process would, with no segment in it."""
        return self._stack.enter_context(muniment.open(self.place, embedder=FakeEmbedder()))

    def trips(self, me: ScopedMemory, question: str = "tea") -> tuple[set[str], int, int]:
        """Return what a recall shows, and the round trips to the primary and to the replica."""
        before = self.primary.turns, self.copy.turns
        shown = texts(me, question)
        return shown, self.primary.turns - before[0], self.copy.turns - before[1]


@pytest.fixture
def watched(place: Postgres, replica: Standby) -> Iterator[Watched]:
    with ExitStack() as stack:
        one = Watched(place, replica, stack)
        memory = one.memory()
        for text in TEXTS:
            say(ada(memory), text)
        say(eve(memory), "A statement of hers.")
        replica.catch_up()
        yield one


def ada(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="ada", agent_id="helper")


def eve(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="eve", agent_id="helper")


def say(me: ScopedMemory, text: str) -> str:
    return me.remember(text, kind="context", source_id=text, approved=True).memory_id


def texts(me: ScopedMemory, question: str = "tea") -> set[str]:
    return {item.record.text for item in me.recall(question, limit=50).packet.items}


def cold(watched: Watched) -> ScopedMemory:
    """Return the scope in a process that has read another one, and nothing of this one yet."""
    memory = watched.memory()
    assert eve(memory).recall("statement").packet.items
    return ada(memory)


def test_a_cold_recall_takes_the_rows_from_the_replica(watched: Watched) -> None:
    shown, primary, copy = watched.trips(cold(watched))
    assert shown == set(TEXTS)
    assert primary == 2
    assert copy >= 2


def test_a_warm_recall_does_not_need_the_replica(watched: Watched) -> None:
    me = cold(watched)
    texts(me)
    assert watched.trips(me) == (set(TEXTS), 2, 0)


def test_a_list_and_an_export_take_the_rows_from_the_replica(watched: Watched) -> None:
    me = cold(watched)
    for work in (lambda: me.list(limit=50), lambda: me.export(io.StringIO())):
        before = watched.primary.turns, watched.copy.turns
        work()
        assert watched.primary.turns - before[0] <= 8
        assert watched.copy.turns > before[1]


@pytest.mark.promise("OPE-2")
def test_a_write_is_seen_at_once_by_every_process_while_the_replica_lags(
    watched: Watched, replica: Standby
) -> None:
    writer, other = cold(watched), cold(watched)
    texts(writer)
    texts(other)
    replica.pause()
    say(writer, "The new statement about tea.")
    wanted = {*TEXTS, "The new statement about tea."}
    for me in (writer, other, cold(watched)):
        shown, _, copy = watched.trips(me)
        assert shown == wanted
        assert copy >= 1, "the lagging replica was looked at and not believed"
    replica.resume()
    say(writer, "One more about tea.")
    replica.catch_up()
    assert watched.trips(other) == ({*wanted, "One more about tea."}, 2, 3)


@pytest.mark.promise("FOR-3")
def test_what_was_forgotten_is_never_served_from_a_replica_that_still_has_it(
    watched: Watched, replica: Standby
) -> None:
    me = cold(watched)
    gone = say(me, "The secret statement about tea.")
    kept, other = cold(watched), cold(watched)
    replica.catch_up()
    assert "The secret statement about tea." in texts(other)
    replica.pause()
    me.forget(gone)
    assert rows_on(replica, watched.place) == len(TEXTS) + 2
    for one in (me, other, kept, cold(watched)):
        assert texts(one) == set(TEXTS)
    replica.resume()
    assert rows_on(replica, watched.place) == len(TEXTS) + 1
    shown, primary, copy = watched.trips(cold(watched))
    assert (shown, primary) == (set(TEXTS), 2)
    assert copy >= 2


def rows_on(replica: Standby, place: Postgres) -> int:
    database = str(place.parts()["dbname"])
    ((count,),) = replica.copy.run("SELECT count(*)::int FROM records", database=database)
    assert isinstance(count, int)
    return count


@pytest.mark.parametrize("place", [True], ids=["sealed"], indirect=True)
def test_rows_sealed_anew_are_not_read_from_a_replica_that_has_them_under_the_old_key(
    watched: Watched, replica: Standby
) -> None:
    me = cold(watched)
    gone = say(me, "The secret statement about tea.")
    replica.pause()
    me.forget(gone, wait=True)
    assert texts(cold(watched)) == set(TEXTS)


def test_a_replica_that_stops_is_left_alone_for_a_while_and_then_used_again(
    watched: Watched, replica: Standby, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr(pg_replicas, "Breaker", partial(Breaker, lambda: now[0]))
    memory = watched.memory()
    assert texts(ada(memory)) == set(TEXTS)
    replica.stop()
    say(ada(memory), "While it was away, about tea.")
    wanted = {*TEXTS, "While it was away, about tea."}
    assert texts(ada(memory)) == wanted
    replica.start()
    say(ada(memory), "While it was left alone, about tea.")
    wanted.add("While it was left alone, about tea.")
    replica.catch_up()
    shown, _, copy = watched.trips(ada(memory))
    assert (shown, copy) == (wanted, 0)
    now[0] += 60
    say(ada(memory), "When it is back, about tea.")
    replica.catch_up()
    shown, _, copy = watched.trips(ada(memory))
    assert shown == {*wanted, "When it is back, about tea."}
    assert copy > 0


@pytest.mark.promise("OPE-2")
def test_a_replica_that_was_never_there_is_no_error(place: Postgres, tmp_path: Path) -> None:
    nowhere = f"postgresql://me:hunter2@/none?host={tmp_path}"
    with muniment.open(replace(place, replicas=(nowhere,)), embedder=FakeEmbedder()) as memory:
        say(ada(memory), TEXTS[0])
        assert texts(ada(memory)) == {TEXTS[0]}
        health = memory.health()
    assert health.store.replicas[0].lag is None
    assert "cannot be reached" in str(health.problems)
    assert "hunter2" not in str(health)


def test_replicas_are_asked_in_turn(watched: Watched, replica: Standby) -> None:
    with tempfile.TemporaryDirectory() as folder:
        second = replace(watched.place.copies()[0], url=replica.url_of(watched.place))
        with counted(second, Path(folder)) as (behind, counter):
            watched.place = replace(watched.place, replicas=(*watched.place.replicas, behind.url))
            me = cold(watched)
            before = counter.turns
            _, primary, copy = watched.trips(me)
            assert primary == 2
            assert copy > 0
            assert counter.turns > before


def test_health_says_how_far_a_replica_is(watched: Watched, replica: Standby) -> None:
    memory = watched.memory()
    ((fresh,), problems) = (memory.health().store.replicas, memory.health().problems)
    assert problems == ()
    assert fresh.location.startswith("postgresql://")
    replica.pause()
    say(ada(memory), "A new statement about tea.")
    (behind,) = memory.health().store.replicas
    assert behind.lag is not None
    assert behind.lag > 0


class TestStrangers:
    """What is no replica of the store's server is found out and not used."""

    def refused(self, place: Postgres, url: str, reason: str) -> None:
        with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
            where, counter = stack.enter_context(counted(replace(place, url=url), Path(folder)))
            memory = stack.enter_context(
                muniment.open(replace(place, replicas=(where.url,)), embedder=FakeEmbedder())
            )
            assert texts(ada(memory)) == {TEXTS[0]}
            asked = counter.turns
            assert asked > 0
            for number in range(3):
                say(ada(memory), f"Another {number} about tea.")
                texts(ada(memory))
            assert counter.turns == asked
            (problem,) = memory.health().problems
            assert reason in problem

    @pytest.fixture
    def place(self, server: Server, tmp_path: Path) -> Iterator[Postgres]:
        with server.database(tmp_path) as where:
            with muniment.open(where, embedder=FakeEmbedder()) as memory:
                say(ada(memory), TEXTS[0])
            yield where

    def test_another_cluster(self, place: Postgres, servers: dict[str, Server]) -> None:
        south, name = servers["south"], str(place.parts()["dbname"])
        south.run("CREATE DATABASE {} TEMPLATE {} OWNER {}", name, "muniment_template", OWNER)
        url = south.location(name, str(place.parts()["user"]))
        self.refused(place, url, "another cluster")
        south.drop(name)

    def test_a_copy_within_the_same_cluster(self, place: Postgres, server: Server) -> None:
        name = str(place.parts()["dbname"])
        server.run("CREATE DATABASE {} TEMPLATE {} OWNER {}", "muniment_copy", name, OWNER)
        url = server.location("muniment_copy", str(place.parts()["user"]))
        self.refused(place, url, "another database")
        server.drop("muniment_copy")

    def test_a_role_for_which_no_wall_holds(self, place: Postgres, replica: Standby) -> None:
        replica.catch_up()
        url = replica.copy.location(str(place.parts()["dbname"]), "postgres")
        self.refused(place, url, "superuser")


@pytest.mark.promise("SCO-7")
def test_the_wall_stands_on_a_replica_too(watched: Watched, replica: Standby) -> None:
    url = watched.place.copies()[0].url
    other = ada(watched.memory()).recall
    assert other("tea").packet.items
    with psycopg.connect(url) as session:
        session.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        assert session.execute("SELECT * FROM records").fetchall() == []
        session.execute(reach_statement(Reach("acme", frozenset({1}))))
        assert len(session.execute("SELECT * FROM records").fetchall()) == len(TEXTS)
        session.execute(reach_statement(Reach("other", frozenset({1}))))
        assert session.execute("SELECT * FROM records").fetchall() == []


def test_a_server_of_several_has_its_own_replicas(pair: Pair, replica: Standby) -> None:
    shards = pair.shards()
    north = replace(shards.servers["north"], replicas=())
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        copy = replace(north, url=replica.url_of(north))
        behind, counter = stack.enter_context(counted(copy, Path(folder)))
        servers = {**shards.servers, "north": replace(north, replicas=(behind.url,))}
        shards = Shards(servers, "north", shards.files)

        def opened() -> Memory:
            return stack.enter_context(muniment.open(shards, embedder=FakeEmbedder()))

        memory = opened()
        for tenant in ("acme", "other"):
            say(memory.scoped(tenant_id=tenant, user_id="ada", agent_id="helper"), "About tea.")
        replica.catch_up()
        used = []
        for tenant in ("acme", "other"):
            me = opened().scoped(tenant_id=tenant, user_id="ada", agent_id="helper")
            before = counter.turns
            assert texts(me) == {"About tea."}
            used.append(counter.turns > before)
        assert sorted(used) == [False, True]
        (state,) = memory.health().store.replicas
        assert state.lag is not None


class TestFile:
    """A file names a server and its replicas where only a path can be said."""

    def written(self, folder: Path, text: str) -> Path:
        path = folder / "store.toml"
        path.write_text(text)
        return path

    def test_one_server(self, tmp_path: Path) -> None:
        path = self.written(
            tmp_path,
            'server = "postgresql://a/m"\nreplicas = ["postgresql://b/m"]\nfiles = "keys/m"\n'
            "patience = 3\n",
        )
        assert read_place(path) == Postgres(
            "postgresql://a/m",
            files=tmp_path / "keys/m",
            patience=3,
            replicas=("postgresql://b/m",),
        )

    def test_several_servers(self, tmp_path: Path) -> None:
        path = self.written(
            tmp_path,
            'map = "n"\n[servers]\nn = "postgresql://a/m"\ns = "postgresql://b/m"\n'
            '[replicas]\nn = ["postgresql://c/m"]\n',
        )
        shards = read_shards(path)
        assert shards.servers["n"].replicas == ("postgresql://c/m",)
        assert shards.servers["s"].replicas == ()

    @pytest.mark.parametrize(
        "text",
        [
            'server = "postgresql://a/m"\nreplicas = "postgresql://b/m"\n',
            'server = "postgresql://a/m"\nreplicas = ["mysql://b/m"]\n',
            'server = "postgresql://a/m"\nmap = "n"\n',
            'map = "n"\n[servers]\nn = "postgresql://a/m"\n[replicas]\ns = ["postgresql://b/m"]\n',
            'map = "n"\nreplicas = ["postgresql://b/m"]\n[servers]\nn = "postgresql://a/m"\n',
        ],
    )
    def test_what_cannot_be_meant_is_refused(self, tmp_path: Path, text: str) -> None:
        with pytest.raises(InvalidInputError):
            read_place(self.written(tmp_path, text))

    def test_one_server_has_no_map(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInputError, match="map"):
            read_shards(self.written(tmp_path, 'server = "postgresql://a/m"\n'))
