"""Whatever column of whatever table is edited, somebody says so: the next read or a verification.

The store holds something in every table: records and what replaced them, candidates, threads,
deletions that are done and one that is not, and what an import brought.
"""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import apsw
import pytest

import muniment
from muniment import Memory, Statement
from muniment.errors import MunimentError, StoreCorruptError
from muniment.storage.sqlfiles import schema
from muniment.testing import FakeEmbedder, FrozenClock
from tests.integrity.conftest import scope_of
from tests.integrity.editing import Editor

UNGUARDED = {"store", "models", "removals", "usage"}
SIDES = ("", ".key", ".keys", ".anchor")


def tables() -> list[str]:
    connection = apsw.Connection(":memory:")
    connection.execute(schema("sqlite"))
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    return sorted({str(name) for (name,) in found} - UNGUARDED)


def opened(path: Path, *, sealed: bool | None = None) -> Memory:
    return muniment.open(path, sealed=sealed, embedder=FakeEmbedder(), clock=FrozenClock())


def exported(path: Path) -> str:
    with opened(path) as memory:
        me = scope_of(memory, "user_9")
        for number in range(2):
            me.remember(
                f"Elsewhere {number}.", kind="context", source_id=f"e{number}", approved=True
            )
        me.forget(me.list().records[0].memory_id)
        target = io.StringIO()
        me.export(target)
    return target.getvalue()


def filled(path: Path, *, sealed: bool) -> None:
    with opened(path, sealed=sealed) as memory:
        me = scope_of(memory)
        for number in (0, 1, 2, 0):
            me.remember(
                f"Statement {number}.",
                kind="verified_fact",
                source_id=f"s{len(me.list())}",
                field=f"f{number}",
                value=len(me.list()),
                approved=True,
            )
        for number in range(2):
            me.propose("Perhaps.", kind="context", source_id=f"p{number}")
        crowd = [
            Statement("context", f"Small talk {number}.", source_id=f"c{number}")
            for number in range(64)
        ]
        scope_of(memory, "user_10").remember_many(crowd, approved=True)
        memory.maintain()
        me.reject(me.candidates()[0].candidate_id, reason="no")
        me.thread("talk").append({"said": "Good morning."})
        me.forget(me.list().records[0].memory_id)
        other = path.with_name("other.jsonl")
        other.write_text(exported(path.with_name("other.db")), encoding="utf-8")
        scope_of(memory, "user_9").import_export(other)


@pytest.fixture(scope="module", params=["plain", "sealed"])
def original(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("original") / "memory.db"
    filled(path, sealed=request.param == "sealed")
    return path


def copy(original: Path, folder: Path) -> Path:
    """Copy a closed store with all that lies beside it."""
    folder.mkdir()
    for suffix in SIDES:
        with suppress(FileNotFoundError):
            shutil.copy2(original.with_name(original.name + suffix), folder)
    return folder / original.name


def is_noticed(path: Path) -> bool:
    """Return whether a verification, or opening the store for it, says that something is wrong."""
    try:
        with opened(path) as memory:
            return not memory.verify().is_intact
    except MunimentError:
        return True


def edits(path: Path, table: str) -> Iterator[tuple[str, str]]:
    yield "all rows", f"DELETE FROM {table}"
    for _, name, sort, *_ in Editor(path).run(f"PRAGMA table_info({table})"):
        other = {"INTEGER": "1", "TEXT": "'x'", "BLOB": "x'01'"}[sort]
        changed = {
            "INTEGER": f"{name} + 1",
            "TEXT": f"{name} || 'x'",
            "BLOB": f"zeroblob(length({name}) + 1)",
        }[sort]
        yield name, f"UPDATE {table} SET {name} = coalesce({changed}, {other})"


@pytest.mark.promise("AUD-1", "SEC-1")
@pytest.mark.parametrize("table", tables())
def test_no_column_of_any_table_can_be_edited_unnoticed(
    original: Path, tmp_path: Path, table: str
) -> None:
    assert not is_noticed(copy(original, tmp_path / "untouched"))
    unnoticed, tried = [], 0
    for name, statement in edits(original, table):
        path = copy(original, tmp_path / name.replace(" ", "_"))
        with suppress(apsw.ConstraintError):
            Editor(path).run(statement)
            tried += 1
            unnoticed += [] if is_noticed(path) else [name]
    assert tried > 3
    assert unnoticed == []


def test_a_store_that_says_it_has_no_anchor_is_asked_for_it_all_the_same(
    original: Path, tmp_path: Path
) -> None:
    path = copy(original, tmp_path / "edited")
    path.with_name("memory.db.anchor").unlink()
    Editor(path).run("UPDATE store SET anchored = 0")
    with opened(path) as memory:
        found = memory.verify()
        assert any("integrity: off" in problem for problem in memory.health().problems)
    assert [flaw.name for flaw in found.flaws] == ["anchor_missing"]


def test_a_store_cannot_be_told_to_seal_no_more(original: Path, tmp_path: Path) -> None:
    path = copy(original, tmp_path / "edited")
    Editor(path).run("UPDATE store SET sealed = 1 - sealed")
    with pytest.raises(MunimentError):
        opened(path)


def test_a_store_that_lost_its_mark_is_one_clear_error(original: Path, tmp_path: Path) -> None:
    path = copy(original, tmp_path / "edited")
    Editor(path).run("DELETE FROM store")
    with pytest.raises(StoreCorruptError, match="backup"):
        opened(path)


def test_a_deletion_that_was_edited_is_not_carried_on(original: Path, tmp_path: Path) -> None:
    path = copy(original, tmp_path / "edited")
    with opened(path) as memory:
        before = scope_of(memory).counts()
    Editor(path).run("UPDATE deletions SET whole = 1, state = 'hidden'")
    with opened(path) as memory:
        with pytest.raises(MunimentError):
            memory.maintain()
        assert scope_of(memory).counts() == before
