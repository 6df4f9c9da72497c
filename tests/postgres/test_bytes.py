"""What bytes lie in the data directory of a PostgreSQL server, as another process reads them."""

from __future__ import annotations

import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import LiteralString

import psycopg
import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import StoreBusyError
from muniment.storage import Postgres
from muniment.storage.pg_horizon import await_horizon
from muniment.testing import FakeEmbedder
from tests.forgetting.looking import spellings
from tests.postgres.server import Server, own_server
from tests.sealing.test_secrecy import SINGLE, fill, found, needle, written

SCAN = """
import json, pathlib, sys
needles = [bytes.fromhex(line) for line in sys.stdin]
for file in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
    held = file.read_bytes() if file.is_file() else b""
    for number in [number for number, needle in enumerate(needles) if needle in held]:
        print(file.relative_to(sys.argv[1]).parts[0], number)
"""
COUNT = 500


@dataclass
class Machine:
    """A server whose files are looked at.

    Attributes:
        server: The server.
        folder: Its data directory, its log and its write-ahead log included.
    """

    server: Server
    folder: Path

    def settle(self) -> None:
        """Write everything to the files, and begin a new part of the write-ahead log."""
        self.server.run("CHECKPOINT")

    def places(self, needles: Iterable[bytes]) -> dict[str, set[int]]:
        """Return which needles lie in which folder or file of the data directory."""
        done = subprocess.run(
            [sys.executable, "-c", SCAN, str(self.folder)],
            input="\n".join(each.hex() for each in needles),
            capture_output=True,
            text=True,
            check=True,
        )
        places: dict[str, set[int]] = {}
        for line in done.stdout.splitlines():
            place, number = line.split()
            places.setdefault(place, set()).add(int(number))
        return places


@pytest.fixture(scope="module")
def machine() -> Iterator[Machine]:
    """A server that logs every statement with its values and keeps no old part of its log."""
    folder = Path(tempfile.mkdtemp(prefix="muniment-pg-"))
    with own_server(folder) as url:
        server = Server(url)
        for setting in ("fsync", "autovacuum", "wal_recycle"):
            server.run("ALTER SYSTEM SET {} = off", setting)
        server.run("ALTER SYSTEM SET log_statement = 'all'")
        server.run("SELECT pg_reload_conf()")
        server.set_up()
        yield Machine(server, folder)


@pytest.fixture
def place(machine: Machine, request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Postgres]:
    sealed = getattr(request, "param", False)
    with machine.server.database(tmp_path, sealed=sealed) as where:
        yield where


SEALED = pytest.mark.parametrize("place", [True], indirect=True)


@pytest.fixture
def memory(place: Postgres) -> Iterator[Memory]:
    with muniment.open(place, embedder=FakeEmbedder()) as opened:
        yield opened


@pytest.fixture
def me(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")


def long_text() -> str:
    """Return a text that no compression makes shorter, for the table of long values."""
    return "".join(random.Random(1).choices(string.ascii_letters + string.digits, k=3000))


@pytest.fixture
def needles(me: ScopedMemory) -> list[bytes]:
    """Return the bytes of what is known of two records, beside sixty others."""
    word, long = "unique-needle-7f3a", long_text()
    for number in range(60):
        me.remember(f"Rye {number}.", kind="context", source_id=f"rye {number}", approved=True)
    text = f"Holds {word}."
    me.remember(
        text,
        kind="context",
        source_id=f"source {word}",
        field=f"field {word}",
        value={"is": f"value {word}"},
        metadata={"label": f"label {word}"},
        approved=True,
    )
    me.remember(long, kind="context", source_id="source long", approved=True)
    vector = FakeEmbedder().embed_passages([text])[0].astype("<f4").tobytes()
    said = [text, *(f"{one} {word}" for one in ("field", "value", "label", "source")), long[:99]]
    return [*(each.encode() for each in said), vector]


def forget(me: ScopedMemory) -> bool:
    """Forget what the needles are of; return whether it is all done."""
    ids = [record.memory_id for record in me.list(limit=1000) if "Rye" not in record.text]
    receipts = [me.forget(one, wait=True) for one in ids]
    return len(ids) == 2 and all(receipt.is_finished for receipt in receipts)


@pytest.mark.promise("FOR-4")
def test_after_compaction_no_byte_is_in_any_file_but_the_write_ahead_log(
    machine: Machine, place: Postgres, me: ScopedMemory, needles: list[bytes]
) -> None:
    machine.server.run("ANALYZE", database=str(place.parts()["dbname"]))
    machine.settle()
    every = set(range(len(needles)))
    assert machine.places(needles)["base"] == every
    assert forget(me)
    machine.settle()
    assert machine.places([*needles, b"Rye 7."])["base"] == {len(needles)}
    assert set(machine.places(needles)) <= {"pg_wal", "log"}
    assert machine.places(needles)["pg_wal"] == every
    machine.server.run("SELECT pg_switch_wal()")
    machine.settle()
    assert set(machine.places(needles)) <= {"log"}


@pytest.mark.promise("FOR-2", "FOR-4")
def test_a_transaction_that_may_see_it_delays_the_compaction_visibly(
    machine: Machine, place: Postgres, memory: Memory, me: ScopedMemory, needles: list[bytes]
) -> None:
    with muniment.open(replace(place, patience=0.2), embedder=FakeEmbedder()) as hasty:
        again = hasty.scoped(**me.scope.to_dict())
        with psycopg.connect(place.url) as other:
            other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            other.execute("SELECT 1")
            assert not forget(again)
            assert {waits.waiting for waits in hasty.deletions()} == {"reader"}
            assert hasty.maintain().compacted is False
        assert hasty.maintain().finished == 2
    machine.settle()
    assert "base" not in machine.places(needles)


@pytest.mark.promise("FOR-4")
@pytest.mark.parametrize(
    ("database", "statement", "holds"),
    [
        ("its own", "SELECT 1", True),
        ("postgres", "SELECT 1", False),
        ("postgres", "SELECT pg_current_xact_id()", True),
    ],
)
def test_any_role_and_any_writer_of_the_server_is_waited_for(
    machine: Machine, place: Postgres, *, database: str, statement: LiteralString, holds: bool
) -> None:
    own = str(place.parts()["dbname"])
    where = machine.server.location(own if database == "its own" else database, "postgres")
    with psycopg.connect(where) as other, psycopg.connect(place.url, autocommit=True) as one:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute(statement)
        machine.server.run("SELECT pg_current_xact_id()")
        with pytest.raises(StoreBusyError) if holds else nullcontext():
            await_horizon(one, 0, place.name)
        other.rollback()
        await_horizon(one, 0, place.name)


@SEALED
@pytest.mark.slow
@pytest.mark.promise("SEC-1")
def test_no_word_of_a_sealed_store_lies_anywhere_on_the_server(
    machine: Machine, place: Postgres, memory: Memory
) -> None:
    fill(memory, COUNT)
    memory.compact()
    machine.settle()
    planted = [needle("planted", number) for number in range(2)]
    with psycopg.connect(machine.server.url) as other:
        other.execute("CREATE TABLE planted AS SELECT %s::text AS word", (planted[0],))
        other.commit()
        machine.settle()
        other.execute("DROP TABLE planted")
    (machine.folder / "planted").write_text(planted[1], encoding="utf-16-le")
    lines = found(machine.folder, [*written(range(COUNT)), *SINGLE, *planted])
    assert {line.split()[1] for line in lines} == set(planted)
    assert len({line.split()[0] for line in lines}) >= 3


@SEALED
@pytest.mark.promise("SEC-1", "FOR-4")
def test_what_was_shredded_is_unreadable_in_an_older_copy_of_the_server(
    machine: Machine, place: Postgres, memory: Memory, me: ScopedMemory, tmp_path: Path
) -> None:
    other = memory.scoped(tenant_id="t1", user_id="u2", agent_id="a1")
    for one in (me, other):
        one.remember("Likes tea.", kind="context", source_id="1", approved=True)
    machine.settle()
    copy = Path(tempfile.mkdtemp(prefix="muniment-pg-")) / "copy"
    skipped = shutil.ignore_patterns("postmaster.pid", ".handle_pids.json", ".s.*")
    shutil.copytree(machine.folder, copy, ignore=skipped)
    for file in (copy, *copy.rglob("*")):
        os.chown(file, machine.folder.stat().st_uid, machine.folder.stat().st_gid)
    assert memory.forget_user(tenant_id="t1", user_id="u1", wait=True).is_finished
    memory.close()
    for anchor in tmp_path.glob("*.anchor*"):
        anchor.unlink()
    with own_server(copy) as url:
        name = str(place.parts()["dbname"])
        where = replace(place, url=Server(url).location(name, "muniment_test_app"))
        with muniment.open(where, embedder=FakeEmbedder()) as old:
            assert texts(old, me) == []
            assert texts(old, other) == ["Likes tea."]
        rows = "".join(map(repr, Server(url).run("SELECT * FROM records", database=name)))
        assert rows.count("context") == 2
        assert not any(each in rows.encode() for each in spellings("Likes tea."))
    shutil.rmtree(copy.parent, ignore_errors=True)


def texts(memory: Memory, scoped: ScopedMemory) -> list[str]:
    same = memory.scoped(**scoped.scope.to_dict())
    return [record.text for record in same.list(limit=1000)]
