"""A migration loses no live fact, doubles none, and says what became of every column and row."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment import Memory, Record, Scope, ScopedMemory
from muniment.records import Authority, EmbeddingState, WritePath
from muniment.testing import FrozenClock
from tests.exchange.old import bytes_of, made, row
from tests.exchange.world import mine, opened, opened_at

NOW = datetime(2026, 11, 30, tzinfo=UTC)
SOON = NOW.timestamp() + 86_400
FACT = ("user_42", "max apples", "100")
DURABLE_COLUMNS = {
    "id": "evidence",
    "tenant_id": "scope",
    "user_id": "scope",
    "agent_id": "scope",
    "kind": "kind",
    "text": "text",
    "source_id": "source_id",
    "created_at": "created_at",
    "embedding_json": "embedding",
}
COLUMNS = {
    "durable_memory_v2": DURABLE_COLUMNS | {"expires_at_epoch": "expires_at"},
    "durable_memory": DURABLE_COLUMNS | {"expires_at": "expires_at"},
    "memories": {"user_id": "scope", "key": "field", "value": "value"},
}


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock("2026-11-30T00:00:00Z")


@pytest.fixture(params=["plain", "sealed"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, clock: FrozenClock) -> Iterator[Memory]:
    sealed = request.param == "sealed"
    with opened_at(tmp_path / "memory.db", clock, sealed=sealed) as memory:
        yield memory


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The folder of the old application."""
    folder = tmp_path / "old"
    folder.mkdir()
    return folder


def columns(path: Path, table: str) -> dict[str, Any]:
    """Return the first row of a table by column."""
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return dict(db.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchone())


def parts(record: Record) -> dict[str, Any]:
    """Return what a record keeps of an old row, by the names of `COLUMNS`."""
    return {
        "scope": record.scope,
        "kind": record.kind,
        "text": record.text,
        "field": record.field,
        "value": record.value,
        "source_id": record.source.source_id,
        "created_at": record.created_at,
        "expires_at": record.expires_at,
        "evidence": record.evidence,
        "embedding": record.embedding,
    }


@pytest.mark.promise("EXP-2")
@pytest.mark.parametrize("table", ["durable_memory_v2", "durable_memory"])
def test_every_column_of_a_durable_memory_has_its_place(
    old: Path, memory: Memory, table: str
) -> None:
    expiry = {"expires_at": "2026-12-01T03:30:00+03:30", "expires_at_epoch": SOON}
    only = row(1, text="صندلی کنار راهرو.\nاز پرواز بعدی.", **expiry)
    second = table == "durable_memory_v2"
    path = made(old / "old.db", [only] if second else [], [] if second else [only])
    before, held = bytes_of(old), columns(path, table)
    assert set(held) == set(COLUMNS[table])

    me = mine(memory)
    report = me.import_from("durable_memory", path)

    assert (report.read, report.saved, report.skipped) == (1, 1, ())
    (record,) = me.list()
    assert parts(record) == {
        "scope": Scope(held["tenant_id"], held["user_id"], held["agent_id"]),
        "kind": held["kind"],
        "text": held["text"],
        "field": None,
        "value": None,
        "source_id": held["source_id"],
        "created_at": datetime.fromisoformat(held["created_at"]),
        "expires_at": datetime.fromtimestamp(SOON, UTC),
        "evidence": (f"durable_memory:{held['id']}",),
        "embedding": EmbeddingState.READY,
    }
    assert (record.source.path, record.authority) == (WritePath.IMPORT, Authority.EXPLICIT)
    assert bytes_of(old) == before


@pytest.mark.promise("EXP-2")
def test_every_column_of_a_table_of_facts_has_its_place(old: Path, memory: Memory) -> None:
    path = made(old / "facts.db", facts=[FACT])
    before, held = bytes_of(old), columns(path, "memories")
    assert set(held) == set(COLUMNS["memories"])

    me = mine(memory)
    me.import_from("memories", path, approved_by_operator=True)

    (record,) = me.list()
    assert record.scope == Scope("acme", held["user_id"], "helper")
    assert (record.field, record.value) == (held["key"], held["value"])
    assert record.text == "max apples: 100"
    assert bytes_of(old) == before


SMALL = st.sampled_from(["a", "b"])
EXPIRY = st.sampled_from([None, NOW.timestamp() - 1, NOW.timestamp(), SOON])


@st.composite
def old_rows(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return rows of the second table, with a source_id once in each scope."""
    keys = st.tuples(SMALL, SMALL, SMALL, st.integers(0, 3))
    drawn = draw(st.lists(keys, unique=True, max_size=12))
    return [
        row(
            number,
            tenant_id=tenant,
            user_id=user,
            agent_id=agent,
            source_id=f"source {source}",
            kind=draw(st.sampled_from(["preference", "decision", "verified_fact"])),
            expires_at_epoch=draw(EXPIRY),
        )
        for number, (tenant, user, agent, source) in enumerate(drawn)
    ]


@pytest.mark.promise("EXP-2", "SCO-3")
@pytest.mark.slow
@given(rows=old_rows())
def test_every_live_fact_of_a_tenant_arrives_once_and_every_row_is_accounted_for(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("old")
    path = made(folder / "old.db", second=[row(59, tenant_id="other"), *rows])
    before = bytes_of(folder)
    live = [one for one in rows if one["expires_at_epoch"] in (None, SOON)]
    with opened(FrozenClock("2026-11-30T00:00:00Z")) as memory:
        reports = [memory.import_from("durable_memory", path, tenant_id="a") for _ in range(2)]

        assert live_facts(memory) == Counter(fact(one) for one in live if one["tenant_id"] == "a")
        expected = sum(live_facts(memory).values())
        assert [report.saved for report in reports] == [expected, 0]
        assert all(one.read == one.saved + len(one.skipped) for one in reports)
        assert sum(one.reason == "known" for one in reports[1].skipped) == expected
    assert bytes_of(folder) == before


def fact(old: dict[str, Any]) -> tuple[str, ...]:
    return (old["user_id"], old["agent_id"], old["source_id"], old["kind"], old["text"])


def live_facts(memory: Memory) -> Counter[tuple[str, ...]]:
    """Return how often each fact is in some scope of the tenant."""
    scopes: list[ScopedMemory] = [
        memory.scoped(tenant_id="a", user_id=user, agent_id=agent)
        for user in ("a", "b")
        for agent in ("a", "b")
    ]
    return Counter(
        (me.scope.user_id, me.scope.agent_id, one.source.source_id, one.kind, one.text)
        for me in scopes
        for one in me.list(limit=1000)
    )
