"""Opening a SQLite file: making it, bringing it up to date, or refusing it untouched."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from muniment.errors import ForeignFileError, StoreError, StoreVersionError
from muniment.ports import Store
from muniment.storage import open_store
from muniment.storage.sqlfiles import migrations, schema
from muniment.storage.sqlite_driver import is_safe
from muniment.storage.sqlite_schema import APPLICATION_ID
from muniment.testing.samples import everything, sample, state, stored
from tests.storage.tracing import CrashError, shape, traced
from tests.storage.workers import worker

Contents = dict[str, bytes]


def _contents(folder: Path) -> Contents:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _sqlite_file(path: Path, *statements: str) -> None:
    connection = apsw.Connection(str(path))
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_the_migrations_arrive_at_the_schema() -> None:
    step_by_step, at_once = apsw.Connection(":memory:"), apsw.Connection(":memory:")
    for _, script in migrations("sqlite"):
        step_by_step.execute(script)
    at_once.execute(schema("sqlite"))
    assert shape(step_by_step) == shape(at_once)
    assert len(shape(at_once)) > 10


def test_a_new_file_has_the_schema_a_stamp_and_a_log(tmp_path: Path) -> None:
    open_store(tmp_path / "memory.db").close()
    connection, fresh = apsw.Connection(str(tmp_path / "memory.db")), apsw.Connection(":memory:")
    fresh.execute(schema("sqlite"))
    assert shape(connection) == shape(fresh)
    assert connection.pragma("user_version") == migrations("sqlite")[-1][0]
    assert connection.pragma("application_id") == APPLICATION_ID
    assert connection.pragma("journal_mode") == "wal"
    connection.close()


def test_a_file_that_a_rival_makes_meanwhile_is_no_foreign_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, is_made = tmp_path / "memory.db", False

    def rival(statement: str) -> None:
        nonlocal is_made
        if not is_made and "FROM sqlite_schema LIMIT 1" in statement:
            is_made = True
            open_store(path).close()

    traced(monkeypatch, rival)
    store = open_store(path)
    assert is_made
    assert everything(store) == []
    store.close()


def _first_opening(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    with monkeypatch.context() as patched:
        traced(patched, said.append)
        open_store(folder / "observed.db").close()
    return said


def test_the_schema_the_stamp_and_the_key_are_one_transaction(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = _first_opening(tmp_path, monkeypatch)
    begin, commit = said.index("BEGIN IMMEDIATE"), said.index("COMMIT")
    changing = ("CREATE", "INSERT", 'pragma "user_version"(', 'pragma "application_id"(')
    places = [n for n, sql in enumerate(said) if sql.lstrip().startswith(changing)]
    stamps = [n for n in places if "user_version" in said[n]]
    assert said.count("BEGIN IMMEDIATE") == said.count("COMMIT") == 1
    assert all(begin < place < commit for place in places)
    assert len(stamps) == len(migrations("sqlite"))
    assert len(places) > 14


@pytest.mark.promise("OPE-3")
def test_an_opening_that_fails_at_any_statement_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = _first_opening(tmp_path, monkeypatch)
    for place in range(len(said)):
        path = tmp_path / f"{place}.db"
        left = [place]

        def fail(_: str, left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise CrashError

        with monkeypatch.context() as patched:
            traced(patched, fail)
            with pytest.raises(CrashError):
                open_store(path)
        connection = apsw.Connection(str(path))
        finished = connection.pragma("user_version")
        assert bool(shape(connection)) is bool(finished)
        connection.close()
        _check_works(path)


@pytest.mark.promise("OPE-3")
def test_an_opening_that_is_killed_at_any_statement_is_finished_by_the_next(
    tmp_path: Path,
) -> None:
    with worker("crash", tmp_path) as crashing:
        (statements,) = crashing.finish()
    assert int(statements) > 20
    for place in range(1, int(statements) + 1):
        _check_works(tmp_path / f"{place}.db")


def _check_works(path: Path) -> None:
    store = open_store(path)
    stored(store, sample(text="kept"))
    assert store.info().schema_version == migrations("sqlite")[-1][0]
    store.close()
    again = open_store(path, create=False)
    assert again.keys == store.keys
    assert [record.text for record in everything(again)] == ["kept"]
    again.close()


@pytest.mark.promise("OPE-3")
def test_a_newer_schema_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_store(path).close()
    _sqlite_file(path, "PRAGMA user_version = 999")
    before = _contents(tmp_path)
    with pytest.raises(StoreVersionError, match="schema 999"):
        open_store(path)
    assert _contents(tmp_path) == before


@pytest.mark.promise("OPE-3")
def test_a_newer_schema_with_a_log_that_was_left_is_refused_untouched(tmp_path: Path) -> None:
    running, left = tmp_path / "running", tmp_path / "left"
    running.mkdir()
    left.mkdir()
    store = open_store(running / "memory.db")
    stored(store, sample())
    writer = apsw.Connection(str(running / "memory.db"))
    writer.pragma("user_version", 999)
    for name in ("memory.db", "memory.db-wal"):
        (left / name).write_bytes((running / name).read_bytes())
    writer.close()
    store.close()
    before = _contents(left)
    with pytest.raises(StoreVersionError):
        open_store(left / "memory.db")
    after = _contents(left)
    after.pop("memory.db-shm", None)
    assert after == before


@pytest.mark.parametrize(
    "statements",
    [
        ["CREATE TABLE theirs (x)", "INSERT INTO theirs VALUES (1)"],
        ["PRAGMA journal_mode = wal", "CREATE TABLE records (memory_id TEXT)"],
        ["PRAGMA user_version = 1"],
        ["PRAGMA application_id = 7", "CREATE VIEW theirs AS SELECT 1"],
    ],
    ids=["table", "log", "version", "application"],
)
def test_a_database_of_something_else_is_refused_untouched(
    tmp_path: Path, statements: list[str]
) -> None:
    path = tmp_path / "theirs.db"
    _sqlite_file(path, *statements)
    before = _contents(tmp_path)
    with pytest.raises(ForeignFileError):
        open_store(path)
    assert _contents(tmp_path) == before


@pytest.mark.parametrize(
    "content",
    [
        b"x\n",
        b"notes\n",
        b"\x00" * 100,
        b"SQLite format 4\x00" + bytes(5000),
        bytes(range(256)) * 40,
    ],
    ids=["short", "text", "zeros", "nearly", "binary"],
)
def test_a_file_that_is_no_database_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    with pytest.raises(ForeignFileError):
        open_store(path)
    assert _contents(tmp_path) == {"notes.txt": content}


def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.touch()
    _check_works(path)


def test_a_missing_file_is_not_made_unless_that_is_wanted(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        open_store(tmp_path / "memory.db", create=False)
    assert _contents(tmp_path) == {}
    open_store(tmp_path / "memory.db").close()
    open_store(tmp_path / "memory.db", create=False).close()


def test_a_place_where_no_file_can_be_is_a_store_error(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "missing" / "memory.db"):
        with pytest.raises(StoreError):
            open_store(place)


def test_a_url_a_path_and_a_text_open_the_same_file(tmp_path: Path) -> None:
    path = tmp_path / "memory?x=1 %20 'quoted'.db"
    stores = [open_store(place) for place in (path, str(path), f"sqlite:///{path}")]
    stored(stores[0], sample())
    assert {state(store) for store in stores} == {state(stores[0])}
    assert path.exists()
    for store in stores:
        store.close()


def test_a_relative_path_stays_the_same_file_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("memory.db")
    monkeypatch.chdir("/")
    stored(store, sample())
    assert len(everything(store)) == 1
    store.close()
    assert (tmp_path / "memory.db").exists()


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ("3.7.0", False),
        ("3.44.5", False),
        ("3.44.6", True),
        ("3.45.0", False),
        ("3.49.9", False),
        ("3.50", False),
        ("3.50.6", False),
        ("3.50.7", True),
        ("3.51.2", False),
        ("3.51.3", True),
        ("3.52.0", True),
        ("3.54", True),
        ("4.0.0", True),
    ],
)
def test_the_table_of_safe_versions_is_kept(version: str, safe: bool) -> None:
    assert is_safe(version) is safe


@pytest.mark.parametrize("version", ["3.44.5", "3.50.4", "3.51.2"])
def test_an_unsafe_version_is_refused_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)
    with pytest.raises(StoreVersionError, match=version):
        open_store(tmp_path / "memory.db")
    assert _contents(tmp_path) == {}


def test_a_file_that_can_only_be_read_is_read_and_refuses_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    writer = open_store(path)
    stored(writer, sample())
    connection = apsw.Connection
    monkeypatch.setattr(
        apsw,
        "Connection",
        lambda place, **_: connection(place, flags=apsw.SQLITE_OPEN_READONLY),
    )
    reader = open_store(path)
    assert len(everything(reader)) == 1
    with pytest.raises(StoreError, match="ReadOnlyError"):
        stored(reader, sample())
    reader.close()
    writer.close()


def _open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts files in /proc")
def test_opening_reading_and_closing_many_times_keeps_no_file_open(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    foreign = tmp_path / "foreign.db"
    foreign.write_text("notes")
    kept: list[object] = [_used(open_store(path))]
    before = _open_files()
    for _ in range(200):
        kept.append(_used(open_store(path)))
        with pytest.raises(ForeignFileError) as caught:
            open_store(foreign)
        kept.append(caught)
    assert _open_files() == before


def _used(store: Store) -> Store:
    """Write, read on several connections at once, and close while a snapshot is open."""
    stored(store, sample())
    with store.snapshot() as outer, store.snapshot() as inner:
        assert outer.owners() == inner.owners()
    with store.snapshot() as view:
        store.close()
        assert view.owners()
    return store


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="counts files in /proc")
def test_many_snapshots_share_a_few_connections(tmp_path: Path) -> None:
    store = open_store(tmp_path / "memory.db")
    stored(store, sample())
    everything(store)
    before = _open_files()
    for _ in range(200):
        everything(store)
    assert _open_files() == before
    store.close()
