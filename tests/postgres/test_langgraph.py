"""LangGraph's checkpointer and store over PostgreSQL, plain and sealed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp, SearchOp

import muniment
from muniment import Memory, Scope, ScopedMemory
from muniment.adapters.langgraph import AsyncMunimentStore, MunimentSaver, MunimentStore
from muniment.errors import StoreClosedError
from muniment.storage import Postgres
from tests.postgres.server import Server

SEATS = ("flights", "seats")


@pytest.fixture(params=[False, True], ids=["plain", "sealed"])
def place(request: pytest.FixtureRequest, server: Server, tmp_path: Path) -> Iterator[Postgres]:
    with server.database(tmp_path, sealed=request.param) as where:
        yield where


@pytest.fixture
def memory(place: Postgres) -> Iterator[Memory]:
    with muniment.open(place, embedder="none") as opened:
        yield opened


def of(memory: Memory, user_id: str) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id=user_id, agent_id="helper")


@pytest.mark.conformance
@pytest.mark.promise("TOO-3")
def test_the_checkpointer_passes_the_base_and_extended_kit(memory: Memory) -> None:
    from langgraph.checkpoint.conformance import checkpointer_test, validate

    @checkpointer_test(name="muniment")
    async def saver() -> AsyncIterator[MunimentSaver]:
        yield MunimentSaver(of(memory, "alice"))

    results = asyncio.run(validate(saver)).results

    assert not [failure for one in results.values() for failure in one.failures]
    assert sum(one.tests_passed for one in results.values()) == 58 + 23


@pytest.mark.promise("TOO-6")
def test_items_are_kept_found_and_deleted_within_their_scope(memory: Memory) -> None:
    def embed(texts: Sequence[str]) -> list[list[float]]:
        return [[float("aisle" in text), 0.5] for text in texts]

    alice = MunimentStore(of(memory, "alice"), index={"dims": 2, "embed": embed})
    alice.batch([PutOp(SEATS, one, {"seat": one}) for one in ("window", "aisle")])

    assert [one.key for one in alice.search(SEATS, query="aisle")] == ["aisle", "window"]
    assert not MunimentStore(of(memory, "bob")).search(())
    alice.delete(SEATS, "aisle")
    assert [one.key for one in alice.search((), filter={"seat": {"$ne": "x"}})] == ["window"]


def test_what_a_place_opens_is_closed_with_it(place: Postgres) -> None:
    scope = Scope("acme", "alice", "helper")

    with MunimentStore.from_conn_string(place, scope=scope) as store:
        store.put(SEATS, "aisle", {"row": 3})
    with MunimentStore.from_conn_string(place, scope=scope) as again:
        assert again.get(SEATS, "aisle") is not None
    with pytest.raises(StoreClosedError):
        store.get(SEATS, "aisle")


def test_calls_of_one_moment_become_one_batch(memory: Memory) -> None:
    async def work() -> list[Any]:
        store = AsyncMunimentStore(of(memory, "alice"))
        await asyncio.gather(*(store.aput(SEATS, str(n), {"n": n}) for n in range(20)))
        return list(await store.abatch([SearchOp(SEATS, limit=50)]))

    [found] = asyncio.run(work())

    assert {one.value["n"] for one in found} == set(range(20))
