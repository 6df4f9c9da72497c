"""A far database: what a recall costs in round trips, counted on the wire."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import muniment
from muniment import ScopedMemory
from muniment.scope import Space
from muniment.storage import Postgres
from muniment.testing import FakeEmbedder
from tests.postgres.proxy import Counter, counted
from tests.postgres.server import Server


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def place(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path, sealed=request.param) as where:
        yield where


@pytest.fixture
def far(place: Postgres) -> Iterator[tuple[ScopedMemory, Counter]]:
    if not str(place.parts()["host"]).startswith("/"):
        pytest.skip(
            "the proxy stands before a socket of this machine; a server elsewhere was given"
        )
    with (
        tempfile.TemporaryDirectory() as folder,
        counted(place, Path(folder)) as (behind, counter),
        muniment.open(behind, embedder=FakeEmbedder()) as memory,
    ):
        me = memory.scoped(tenant_id="acme", user_id="ada", agent_id="helper")
        for number in range(20):
            me.remember(
                f"Statement {number} about tea.",
                kind="context",
                source_id=f"{number}",
                approved=True,
            )
        yield me, counter


def trips(counter: Counter, me: ScopedMemory, question: str, **how: object) -> int:
    """Return how many round trips a recall makes, and check that it finds something."""
    before = counter.turns
    assert me.recall(question, **how).packet.items  # type: ignore[arg-type]
    return counter.turns - before


def test_a_warm_recall_makes_two_round_trips_at_most(far: tuple[ScopedMemory, Counter]) -> None:
    me, counter = far
    me.recall("tea")
    assert [trips(counter, me, "tea") for _ in range(5)] == [2] * 5


def test_a_recall_over_shared_spaces_makes_no_more(far: tuple[ScopedMemory, Counter]) -> None:
    me, counter = far
    shared = me.with_spaces(Space.of_user("acme", "ada"))
    shared.recall("tea")
    assert trips(counter, shared, "tea") <= 2


def test_a_recall_that_shows_records_for_the_first_time_makes_a_third(
    far: tuple[ScopedMemory, Counter],
) -> None:
    me, counter = far
    me.recall("tea", limit=1)
    assert trips(counter, me, "Statement 7") <= 3


def test_a_recall_after_a_write_reads_what_changed_in_two_more(
    far: tuple[ScopedMemory, Counter],
) -> None:
    me, counter = far
    me.recall("tea")
    me.remember("Another one about tea.", kind="context", source_id="new", approved=True)
    assert trips(counter, me, "tea") <= 5


def spent(counter: Counter, work: Callable[[], object]) -> int:
    """Return how many round trips some work makes."""
    before = counter.turns
    work()
    return counter.turns - before


def test_one_record_is_read_in_two_round_trips(far: tuple[ScopedMemory, Counter]) -> None:
    me, counter = far
    memory_id = me.recall("tea").packet.items[0].record.memory_id
    assert spent(counter, lambda: me.get(memory_id)) == 2


def test_a_list_costs_no_more_when_it_is_longer(far: tuple[ScopedMemory, Counter]) -> None:
    me, counter = far
    short = spent(counter, lambda: me.list(limit=2))
    assert spent(counter, lambda: me.list(limit=20)) == short <= 3


def test_a_write_makes_five_round_trips_at_most(far: tuple[ScopedMemory, Counter]) -> None:
    me, counter = far

    def write() -> None:
        me.remember("Another one about tea.", kind="context", source_id="new", approved=True)

    assert spent(counter, write) <= 5
    assert spent(counter, write) <= 6, "a repeated one reads what was kept"
