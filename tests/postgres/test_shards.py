"""One store on two real servers: a tenant lives on one, moves while it is used, nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import muniment
from muniment.errors import (
    InvalidInputError,
    NotFoundError,
    StoreBusyError,
    StoreUnavailableError,
    TenantMovedError,
)
from muniment.storage import (
    Postgres,
    Shards,
    move_tenant,
    open_store,
    placements,
    prepare_shards,
    read_shards,
)
from muniment.storage.pg_move import Mover
from muniment.testing import FakeEmbedder
from tests.command_line import command_line
from tests.postgres.pair import Interrupted, Pair, found, lost_server, opened, said, say, wait_for
from tests.postgres.server import APP, OWNER, Server

TENANTS = [f"tenant {number}" for number in range(20)]


SEALED_TOO = pytest.mark.parametrize("pair", [False, True], ids=["plain", "sealed"], indirect=True)


@SEALED_TOO
@pytest.mark.promise("OPE-2")
def test_tenants_live_on_both_servers_and_each_finds_its_own(pair: Pair) -> None:
    with opened(pair) as memory:
        for tenant in TENANTS:
            say(memory, tenant, f"This is {tenant}.")
        assert [said(memory, tenant) for tenant in TENANTS] == [
            [f"This is {tenant}."] for tenant in TENANTS
        ]
        assert found(memory, "tenant 7", "tenant") == ["This is tenant 7."]
        assert memory.verify().is_intact
        assert memory.health().scopes == 20
    where = placements(pair.shards())
    assert [tenant for tenant, _, _ in where] == sorted(TENANTS)
    assert sum(server == "south" for _, server, _ in where) == 10


@pytest.mark.promise("OPE-2")
def test_what_one_server_lost_stops_its_tenants_and_no_others(pair: Pair) -> None:
    with opened(pair) as memory:
        for tenant in TENANTS:
            say(memory, tenant, "Before.")
    where = {tenant: server for tenant, server, _ in placements(pair.shards())}
    for lost in ("north", "south"):
        with lost_server(pair, lost), opened(pair, patience=0.5) as memory:
            for tenant in TENANTS:
                if where[tenant] != lost:
                    say(memory, tenant, f"Without {lost}.")
                    assert f"Without {lost}." in said(memory, tenant)
            stopped = next(tenant for tenant in TENANTS if where[tenant] == lost)
            with pytest.raises(StoreUnavailableError):
                say(memory, stopped, f"Without {lost}.")
            with pytest.raises(StoreUnavailableError):
                said(memory, stopped)
            with pytest.raises(StoreUnavailableError):
                memory.verify()
    with opened(pair) as memory:
        assert memory.verify().is_intact


@pytest.mark.promise("OPE-2")
def test_a_process_goes_on_when_a_server_is_lost_and_comes_back(pair: Pair) -> None:
    with opened(pair, patience=1) as memory:
        for tenant in TENANTS[:4]:
            say(memory, tenant, "Before.")
        where = {tenant: server for tenant, server, _ in placements(pair.shards())}
        with lost_server(pair, "north"):
            for tenant in TENANTS[:4]:
                if where[tenant] == "north":
                    with pytest.raises(StoreUnavailableError):
                        say(memory, tenant, "Meanwhile.")
                else:
                    say(memory, tenant, "Meanwhile.")
        for tenant in TENANTS[:4]:
            wait_for(lambda tenant=tenant: _went_through(memory, tenant))  # type: ignore[misc]
            assert said(memory, tenant)[0] == "After."


def _went_through(memory: muniment.Memory, tenant: str) -> bool:
    """Say something; False while the pool has not found the server again."""
    try:
        say(memory, tenant, "After.")
    except StoreUnavailableError:
        return False
    return True


@SEALED_TOO
@pytest.mark.promise("OPE-2")
def test_a_tenant_that_is_moved_while_it_is_written_to_loses_nothing(pair: Pair) -> None:
    written: list[str] = []
    stop = threading.Event()

    def write() -> None:
        with opened(pair) as other:
            while not stop.is_set():
                text = f"Statement {len(written)}."
                say(other, "tenant 0", text)
                written.append(text)

    with opened(pair) as memory:
        for tenant in TENANTS:
            say(memory, tenant, "Before.")
        writer = threading.Thread(target=write)
        writer.start()
        wait_for(lambda: len(written) > 3)
        for target in ("south", "north", "south"):
            report = move_tenant(pair.shards(), "tenant 0", target)
            assert report.target == target
            seen = len(written)
            assert set(said(memory, "tenant 0")) >= set(written[:seen])
            wait_for(lambda seen=seen: len(written) > seen + 3)  # type: ignore[misc]
        stop.set()
        writer.join()
        assert said(memory, "tenant 0") == sorted([*written, "Before."])
        assert found(memory, "tenant 0", "Before.")[0] == "Before."
        assert memory.verify().is_intact
        assert pair.there("north", "tenant 0") == []
        assert len(pair.there("south", "tenant 0")) == len(written) + 1
        assert all(said(memory, tenant) == ["Before."] for tenant in TENANTS[1:])


@pytest.mark.promise("OPE-2")
@pytest.mark.parametrize(
    "step", ["arrive", "put_model", "leave", "depart", "arrived", "set_server"]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_move_that_is_interrupted_anywhere_is_finished_by_the_next(
    pair: Pair, step: str, when: str
) -> None:
    with opened(pair) as memory:
        for number in range(3):
            say(memory, "tenant 0", f"Statement {number}.")
        tenants = Interrupted(pair.shards(patience=1), step, when)
        with pytest.raises(KeyboardInterrupt):
            Mover(tenants).move("tenant 0", "south")
        tenants.close()
        report = move_tenant(pair.shards(), "tenant 0", "south")
        assert report.owners == 1
        assert said(memory, "tenant 0") == [f"Statement {number}." for number in range(3)]
        say(memory, "tenant 0", "Statement 3.")
        assert memory.verify().is_intact
    assert placements(pair.shards()) == [("tenant 0", "south", None)]
    assert pair.there("north", "tenant 0") == []
    assert len(pair.there("south", "tenant 0")) == 4


def test_an_unfinished_move_can_be_taken_back(pair: Pair) -> None:
    with opened(pair) as memory:
        say(memory, "tenant 0", "Before.")
        tenants = Interrupted(pair.shards(), "leave", "before")
        with pytest.raises(KeyboardInterrupt):
            Mover(tenants).move("tenant 0", "south")
        tenants.close()
        assert placements(pair.shards()) == [("tenant 0", "north", "south")]
        move_tenant(pair.shards(), "tenant 0", "north")
        say(memory, "tenant 0", "After.")
        assert said(memory, "tenant 0") == ["After.", "Before."]
    assert placements(pair.shards()) == [("tenant 0", "north", None)]
    assert pair.there("south", "tenant 0") == []


@pytest.mark.promise("OPE-2")
def test_a_tenant_between_two_servers_is_an_error_and_never_nothing(pair: Pair) -> None:
    with opened(pair, patience=0.2) as memory:
        say(memory, "tenant 0", "Before.")
        tenants = Interrupted(pair.shards(), "depart", "after")
        with pytest.raises(KeyboardInterrupt):
            Mover(tenants).move("tenant 0", "south")
        tenants.close()
        with pytest.raises(TenantMovedError):
            said(memory, "tenant 0")
        with pytest.raises(TenantMovedError):
            say(memory, "tenant 0", "Meanwhile.")
        with pytest.raises(TenantMovedError):
            memory.verify()
        move_tenant(pair.shards(), "tenant 0", "south")
        assert said(memory, "tenant 0") == ["Before."]


def test_a_run_that_was_overtaken_changes_nothing_any_more(pair: Pair) -> None:
    with opened(pair) as memory:
        say(memory, "tenant 0", "Before.")
        first, second = (Interrupted(pair.shards(), "depart", "before") for _ in range(2))
        slow = Mover(first)
        with pytest.raises(KeyboardInterrupt):
            slow.move("tenant 0", "south")
        with pytest.raises(KeyboardInterrupt):
            Mover(second).move("tenant 0", "south")
        first.step = "nothing"
        with pytest.raises(StoreBusyError):
            slow._copy("tenant 0", "north", "south")
        first.close()
        second.close()
        move_tenant(pair.shards(), "tenant 0", "south")
        assert said(memory, "tenant 0") == ["Before."]


def test_one_server_of_several_is_not_opened_alone(pair: Pair) -> None:
    shards = pair.shards()
    with pytest.raises(InvalidInputError, match="TOML"):
        open_store(shards.servers["south"])
    crossed = Shards(
        {"north": shards.servers["south"], "south": shards.servers["north"]},
        "north",
        shards.files,
    )
    with pytest.raises(InvalidInputError, match="does not know itself"):
        open_store(crossed)


def test_what_cannot_be_moved_is_said(pair: Pair) -> None:
    with opened(pair) as memory:
        say(memory, "tenant 0", "Before.")
    with pytest.raises(InvalidInputError, match="north, south"):
        move_tenant(pair.shards(), "tenant 0", "west")
    with pytest.raises(NotFoundError):
        move_tenant(pair.shards(), "nobody", "south")


def test_a_store_on_one_server_becomes_the_first_of_several(
    servers: dict[str, Server], tmp_path: Path
) -> None:
    with servers["north"].database(tmp_path) as alone:
        with muniment.open(alone, embedder=FakeEmbedder()) as memory:
            say(memory, "acme", "From before.")
        name = str(alone.parts()["dbname"])
        servers["south"].run("CREATE DATABASE {} OWNER {}", name, OWNER)
        roles = [
            Shards(
                {key: Postgres(one.location(name, role)) for key, one in servers.items()},
                "north",
                alone.base,
            )
            for role in (OWNER, APP)
        ]
        prepare_shards(roles[0])
        with muniment.open(roles[1], embedder=FakeEmbedder()) as memory:
            move_tenant(roles[1], "acme", "south")
            assert said(memory, "acme") == ["From before."]
            assert memory.verify().is_intact
        servers["south"].drop(name)


def test_the_file_names_the_servers_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "shards.toml"
    path.write_text(
        'map = "one"\npatience = 5\n[servers]\none = "postgresql://a/b"\ntwo = "postgresql://c/d"\n'
    )
    shards = read_shards(path)
    assert (sorted(shards.servers), shards.map) == (["one", "two"], "one")
    assert shards.servers["two"].patience == 5
    assert {one.base for one in shards.servers.values()} == {str(tmp_path / "shards")}
    for wrong in (
        "map = 1",
        "[servers",
        'map = "three"\n[servers]\none = "postgresql://a/b"',
        'map = "one"\nurl = "x"\n[servers]\none = "postgresql://a/b"',
    ):
        path.write_text(wrong)
        with pytest.raises(InvalidInputError):
            read_shards(path)


def test_the_command_lists_and_moves_tenants(
    pair: Pair, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with opened(pair) as memory:
        say(memory, "tenant 0", "Before.")
    for role in (OWNER, APP):
        shards = pair.shards(role)
        urls = "".join(f'{name} = "{one.url}"\n' for name, one in shards.servers.items())
        (tmp_path / f"{role}.toml").write_text(f'map = "north"\nfiles = "store"\n[servers]\n{urls}')
    cli = command_line(monkeypatch, capsys, tmp_path)
    owner, app = ("--store", f"{OWNER}.toml"), ("--store", f"{APP}.toml")
    assert cli("tenants", "prepare", *owner, "--json").json["servers"] == ["north", "south"]
    assert "tenant 0" in cli("tenants", "list", *app).out
    report = cli("tenants", "move", "tenant 0", "--to", "south", *app, "--json").json
    assert (report["source"], report["target"], report["owners"]) == ("north", "south", 1)
    assert cli("tenants", "list", *app, "--json").json == {
        "tenants": [{"tenant_id": "tenant 0", "server": "south", "target": None}]
    }
    whose = ("--tenant", "tenant 0", "--user", "ada", "--agent", "helper")
    assert "Before." in cli("list", *whose, *app).out
    assert cli("tenants", "move", "tenant 0", "--to", "west", *app).code != 0
