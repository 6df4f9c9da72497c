"""A store moves between SQLite and PostgreSQL without a difference."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import muniment
from muniment import Memory
from muniment.errors import InvalidInputError, StoreError
from muniment.storage import Postgres
from muniment.storage.copying import copy_store
from muniment.storage.views import RowTransaction
from muniment.testing import FakeEmbedder, FrozenClock
from tests.postgres.server import APP, OWNER, Server
from tests.postgres.test_wall import use

CLOCK = FrozenClock("2030-01-01T00:00:00Z")
QUESTIONS = ("green tea", "چای سبز", "Oslo", "What do you know about me?")
WHO = [("acme", "ada"), ("acme", "bea"), ("zenith", "ada")]


@contextmanager
def opened(location: object, **how: object) -> Iterator[Memory]:
    settings: dict[str, object] = {"embedder": FakeEmbedder(), "clock": CLOCK} | how
    with muniment.open(location, **settings) as memory:  # type: ignore[arg-type]
        yield memory


def exports(location: object) -> list[str]:
    """Return the export of every scope, as bytes would be."""
    found = []
    with opened(location) as memory:
        assert memory.verify().is_intact
        for tenant, user in WHO:
            target = io.StringIO()
            memory.scoped(tenant_id=tenant, user_id=user, agent_id="helper").export(target)
            found.append(target.getvalue())
    return found


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def original(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "original.db"
    with opened(path, sealed=request.param) as memory:
        use(memory)
        me = memory.scoped(tenant_id="zenith", user_id="ada", agent_id="helper")
        me.remember("چای سبز دوست دارد.", kind="preference", source_id="fa", approved=True)
    return path


@pytest.fixture
def empty(server: Server, tmp_path: Path) -> Iterator[tuple[Postgres, str]]:
    """Yield a database without a store, and the URL of its owner."""
    name = "muniment_copy"
    server.drop(name)
    server.run("CREATE DATABASE {} OWNER {}", name, OWNER)
    yield Postgres(server.location(name, APP), files=tmp_path / "far"), server.location(name, OWNER)
    server.drop(name)


def answers(location: object) -> list[list[tuple[str, float, float]]]:
    """Return what recall finds and how it scores it, for several questions of one person."""
    with opened(location) as memory:
        me = memory.scoped(tenant_id="zenith", user_id="ada", agent_id="helper")
        found = [me.recall(query, minimum_score=-1) for query in QUESTIONS]
        return [[(hit.memory_id, hit.score, hit.rank) for hit in one.trace.hits] for one in found]


@pytest.mark.promise("REC-2")
def test_recall_finds_the_same_with_the_same_scores_on_both(
    original: Path, empty: tuple[Postgres, str]
) -> None:
    far, owner = empty
    with opened(original) as memory:
        me = memory.scoped(tenant_id="zenith", user_id="ada", agent_id="helper")
        for number, text in enumerate(("Drinks green tea.", "Lives in Oslo.", "قهوه نمی‌نوشد.")):
            me.remember(text, kind="context", source_id=f"c{number}", approved=True)
    copy_store(original, far, owner=owner)
    assert all(answers(original))
    assert answers(far) == answers(original)


@pytest.mark.promise("OPE-2")
def test_a_store_that_went_to_postgresql_and_back_exports_the_same_bytes(
    original: Path, empty: tuple[Postgres, str], tmp_path: Path
) -> None:
    far, owner = empty
    before = exports(original)
    there = copy_store(original, far, owner=owner)
    assert exports(far) == before
    back = copy_store(far, tmp_path / "back.db")
    assert exports(tmp_path / "back.db") == before
    assert (there.rows, there.digest) == (back.rows, back.digest)
    assert there.moved == there.owners == 3


def test_a_copy_can_be_written_to_as_the_original_can(
    original: Path, empty: tuple[Postgres, str]
) -> None:
    far, owner = empty
    copy_store(original, far, owner=owner)
    with opened(far) as memory:
        for user in ("ada", "new"):
            me = memory.scoped(tenant_id="acme", user_id=user, agent_id="helper")
            me.remember("Afterwards.", kind="context", source_id="later", approved=True)
            assert "Afterwards." in str(me.recall("Afterwards").packet)
        assert memory.verify().is_intact


def test_an_interrupted_copy_is_carried_on_and_what_changed_meanwhile_follows(
    original: Path, empty: tuple[Postgres, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    far, owner = empty
    put, calls = RowTransaction.put_rows, []

    def failing(self: RowTransaction, table: str, rows: object) -> None:
        calls.append(table)
        if calls.count("candidates") == 2:
            raise StoreError("The connection is gone.")
        put(self, table, rows)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(RowTransaction, "put_rows", failing)
        with pytest.raises(StoreError, match="gone"):
            copy_store(original, far, owner=owner)
    with opened(original) as memory:
        me = memory.scoped(tenant_id="acme", user_id="ada", agent_id="helper")
        me.remember("Meanwhile.", kind="context", source_id="meanwhile", approved=True)
    carried = copy_store(original, far, owner=owner)
    assert carried.owners == 3
    assert carried.moved == 3
    assert copy_store(original, far).moved == 0
    assert exports(far) == exports(original)


def test_a_copy_goes_over_no_other_store(original: Path, tmp_path: Path) -> None:
    with opened(tmp_path / "other.db") as memory:
        use(memory)
    with pytest.raises(InvalidInputError, match="another store"):
        copy_store(original, tmp_path / "other.db")
    copy_store(original, tmp_path / "copy.db")
    with opened(tmp_path / "copy.db") as memory:
        me = memory.scoped(tenant_id="acme", user_id="eve", agent_id="helper")
        me.remember("Only here.", kind="context", source_id="1", approved=True)
    with pytest.raises(InvalidInputError, match="does not have"):
        copy_store(original, tmp_path / "copy.db")
