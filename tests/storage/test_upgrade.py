"""An upgrade of the schema that stops half-way is finished by the next opening."""

from __future__ import annotations

from contextlib import suppress
from itertools import count
from pathlib import Path
from shutil import copy

import apsw
import pytest

from muniment.storage import open_store, sqlite_schema
from muniment.storage.sqlfiles import migrations
from muniment.testing.samples import everything, sample, stored
from tests.storage.tracing import CrashError, shape, traced

LATER = (
    "CREATE TABLE later (n INTEGER); INSERT INTO later VALUES (1); DROP TABLE later;",
    "CREATE TABLE last (n INTEGER); INSERT INTO last SELECT count(*) FROM records;",
)


@pytest.mark.promise("OPE-3")
def test_a_migration_that_fails_at_any_statement_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """agent-os#2216"""
    old = open_store(tmp_path / "old.db")
    for number in range(50):
        stored(old, sample(text=f"kept {number}"))
    old.close()
    known = migrations("sqlite")
    steps = (*known, *enumerate(LATER, start=len(known) + 1))
    monkeypatch.setattr(sqlite_schema, "migrations", lambda _: steps)
    for place in count():
        path, said = tmp_path / f"{place}.db", list[str]()
        for end in (".db", ".db.key"):
            copy(tmp_path / f"old{end}", tmp_path / f"{place}{end}")

        def fail(sql: str, said: list[str] = said, place: int = place) -> None:
            said.append(sql)
            if len(said) > place:
                raise CrashError

        with monkeypatch.context() as patched:
            traced(patched, fail)
            with suppress(CrashError):
                open_store(path).close()
        version, tables = _version_and_tables(path)
        assert (version, "last" in tables) in ((len(known), False), (len(steps), True))
        again = open_store(path)
        assert len(everything(again)) == 50
        again.close()
        assert _version_and_tables(path) == (len(steps), tables | {"last"})
        if len(said) <= place:
            break
    assert place > len(LATER)


def _version_and_tables(path: Path) -> tuple[int, set[str]]:
    connection = apsw.Connection(str(path))
    version = connection.pragma("user_version")
    tables = {name for kind, name, *_ in shape(connection) if kind == "table"}
    connection.close()
    return version, tables
