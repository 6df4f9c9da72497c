"""LangGraph's store over the items of one scope: what its own suites cannot know."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp

import muniment
from muniment import InvalidInputError, RefusedError, StoreError
from muniment.adapters.langgraph import (
    AsyncMunimentStore,
    MunimentStore,
    decode_label,
    encode_label,
)
from muniment.adapters.langgraph.filters import matcher
from muniment.adapters.langgraph.sweeping import Sweeper
from muniment.errors import FilterError, StoreClosedError
from muniment.testing import FrozenClock
from tests.adapters.graphs.conftest import ALICE, BOB, Of

SEATS = ("flights", "seats")


def embed(texts: Sequence[str]) -> list[list[float]]:
    return [[float("aisle" in text), float("window" in text), 0.1] for text in texts]


INDEX: Any = {"dims": 3, "embed": embed}


@pytest.mark.promise("TOO-6")
def test_no_namespace_reaches_the_items_of_another_user(of: Of) -> None:
    alice, bob = MunimentStore(of(ALICE)), MunimentStore(of(BOB))
    alice.put(SEATS, "last", {"seat": "aisle"})

    assert bob.get(SEATS, "last") is None
    assert not bob.search(())
    assert not bob.list_namespaces()
    bob.put(SEATS, "last", {"seat": "window"})
    bob.delete(SEATS, "last")

    kept = alice.get(SEATS, "last")
    assert kept is not None
    assert kept.value == {"seat": "aisle"}


def test_items_are_not_records(of: Of) -> None:
    MunimentStore(of(ALICE)).put(SEATS, "last", {"seat": "aisle"})

    assert not of(ALICE).list().records
    assert not of(ALICE).recall("seat aisle", minimum_score=-1)


def test_a_secret_is_refused_and_nothing_of_its_batch_is_written(of: Of) -> None:
    store = MunimentStore(of(ALICE))
    secret = "ghp_" + "a1B2" * 9

    with pytest.raises(RefusedError):
        store.batch([PutOp(SEATS, "a", {"seat": "aisle"}), PutOp(SEATS, "b", {"token": secret})])

    assert not store.search(())


def test_reads_see_what_was_before_the_writes_of_their_batch(of: Of) -> None:
    store = MunimentStore(of(ALICE))
    store.put(SEATS, "last", {"seat": "aisle"})

    results: Any = store.batch(
        [
            PutOp(SEATS, "last", {"seat": "middle"}),
            GetOp(SEATS, "last"),
            PutOp(SEATS, "last", {"seat": "window"}),
            SearchOp(("flights",)),
            PutOp(("meals",), "last", {"meal": "fish"}),
            ListNamespacesOp(),
        ]
    )

    assert [results[0], results[2], results[4]] == [None] * 3
    assert results[1].value == {"seat": "aisle"}
    assert [one.value for one in results[3]] == [{"seat": "aisle"}]
    assert results[5] == [SEATS]
    after = store.get(SEATS, "last")
    assert after is not None
    assert after.value == {"seat": "window"}


def test_every_condition_on_a_namespace_must_hold(of: Of) -> None:
    store = MunimentStore(of(ALICE))
    for namespace in (("a", "b", "c"), ("a", "x", "c"), ("a", "b"), ("z", "b", "c")):
        store.put(namespace, "k", {"v": 1})

    found = store.batch(
        [
            ListNamespacesOp(
                (
                    MatchCondition("prefix", ("a",)),
                    MatchCondition("prefix", ("*", "b")),
                    MatchCondition("suffix", ("c",)),
                )
            )
        ]
    )

    assert found == [[("a", "b", "c")]]


def test_reads_prolong_the_time_to_live_but_never_beyond_the_longest(
    of: Of, clock: FrozenClock
) -> None:
    store = MunimentStore(of(ALICE), ttl={"default_ttl": 10}, longest=timedelta(minutes=25))
    store.put(SEATS, "last", {"seat": "aisle"})

    for _ in range(2):
        clock.advance(seconds=9 * 60)
        assert store.get(SEATS, "last") is not None
    clock.advance(seconds=6 * 60)
    assert store.get(SEATS, "last", refresh_ttl=False) is not None
    clock.advance(seconds=2 * 60)

    assert store.get(SEATS, "last") is None
    assert not store.search(())
    assert store.sweep_ttl() == 1


def test_a_read_that_does_not_count_as_use_does_not_prolong(of: Of, clock: FrozenClock) -> None:
    store = MunimentStore(of(ALICE), ttl={"default_ttl": 10, "refresh_on_read": False})
    store.put(SEATS, "last", {"seat": "aisle"})
    clock.advance(seconds=9 * 60)
    assert store.search(SEATS)
    clock.advance(seconds=60)

    assert not store.search(SEATS)


def test_an_item_is_found_by_the_nearest_of_its_texts(of: Of) -> None:
    store = MunimentStore(of(ALICE), index=INDEX | {"fields": ["wishes[*]", "note"]})
    store.put(SEATS, "both", {"wishes": ["an aisle", "a window"], "note": "نزدیک بال"})
    store.put(SEATS, "one", {"wishes": ["a window"]})
    store.put(SEATS, "none", {"wishes": ["an aisle"]}, index=False)

    found = store.search(SEATS, query="aisle")

    assert [one.key for one in found] == ["both", "one", "none"]
    assert found[0].score == pytest.approx(1.0)
    assert found[2].score is None


def test_vectors_of_two_embeddings_are_never_compared(of: Of) -> None:
    MunimentStore(of(ALICE), index=INDEX).put(SEATS, "last", {"seat": "aisle"})
    other = MunimentStore(
        of(ALICE), index={"dims": 2, "embed": lambda texts: [[1.0, 0.0]] * len(texts)}
    )

    assert [one.score for one in other.search(SEATS, query="aisle")] == [None]


def test_a_vector_of_another_length_than_the_index_names_is_refused(of: Of) -> None:
    store = MunimentStore(of(ALICE), index=INDEX | {"dims": 4})

    with pytest.raises(InvalidInputError, match="4 dimensions"):
        store.put(SEATS, "last", {"seat": "aisle"})


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        ({"صندلی": "راهرو"}, True),
        ({"seat row": 4}, True),
        ({"seat row": {"$gte": 4, "$lt": 5}}, True),
        ({"seat row": {"$gt": "3"}}, False),
        ({"paid": True}, True),
        ({"paid": 1}, False),
        ({"trip": {"to": {"city": "Rome"}}}, True),
        ({"trip.to.city": "Rome"}, True),
        ({"trip.to": {"$ne": None}}, True),
        ({"tags": ["a", 1]}, True),
        ({"tags": ["a"]}, False),
        ({"missing": None}, True),
        ({"missing": {"$lt": 1}}, False),
    ],
)
def test_what_a_filter_lets_pass(given: dict[str, Any], passes: bool) -> None:
    value = {
        "صندلی": "راهرو",
        "seat row": 4,
        "paid": True,
        "trip": {"to": {"city": "Rome"}},
        "tags": ["a", 1],
    }

    assert matcher(given)(value) is passes


@pytest.mark.parametrize("given", [{"a'b": 1}, {"a": {"$near": 1}}, {1: 1}])
def test_a_filter_that_cannot_be_meant_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(FilterError):
        matcher(given)


def test_a_bad_filter_fails_only_its_own_call(of: Of) -> None:
    async def work() -> list[object]:
        store = AsyncMunimentStore(of(ALICE))
        await store.aput(SEATS, "last", {"seat": "aisle"})
        calls = (store.aget(SEATS, "last"), store.asearch(SEATS, filter={"a": {"$near": 1}}))
        return list(await asyncio.gather(*calls, return_exceptions=True))

    item, error = asyncio.run(work())

    assert getattr(item, "key", None) == "last"
    assert isinstance(error, FilterError)


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_text_becomes_a_label_of_its_own(one: str, other: str) -> None:
    assert decode_label(encode_label(one)) == one
    assert not {".", "\x00"} & set(encode_label(one))
    assert (encode_label(one) == encode_label(other)) is (one == other)


def test_an_e_mail_address_can_be_a_label(of: Of) -> None:
    store = MunimentStore(of(ALICE))
    store.put((encode_label("a.b@acme.com"), "notes"), "k", {"v": 1})

    [namespace] = store.list_namespaces()

    assert decode_label(namespace[0]) == "a.b@acme.com"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # langmem uses old names of LangGraph's
def test_langmems_tools_work_on_the_store_unchanged(of: Of) -> None:
    from langmem import create_manage_memory_tool, create_search_memory_tool

    place = ("memories", "{langgraph_user_id}")
    config: Any = {"configurable": {"langgraph_user_id": encode_label("a.b@acme.com")}}

    def tools(store: MunimentStore) -> tuple[Any, Any]:
        return create_manage_memory_tool(place, store=store), create_search_memory_tool(
            place, store=store
        )

    manage, search = tools(MunimentStore(of(ALICE), index=INDEX))
    said = manage.invoke({"content": "Alice wants an aisle seat."}, config)
    key = said.rpartition(" ")[2]
    manage.invoke({"content": "Alice wants a window.", "action": "update", "id": key}, config)

    assert "window" in search.invoke({"query": "window"}, config)
    assert tools(MunimentStore(of(BOB)))[1].invoke({"query": "window"}, config) == "[]"
    manage.invoke({"action": "delete", "id": key}, config)
    assert search.invoke({"query": "window"}, config) == "[]"


def test_a_store_closes_what_it_opened(tmp_path: Path) -> None:
    with MunimentStore.from_conn_string(tmp_path / "a.db", scope=ALICE) as store:
        store.put(SEATS, "last", {"seat": "aisle"})
        store.start_ttl_sweeper()
    with pytest.raises(StoreClosedError):
        store.get(SEATS, "last")

    async def work() -> object:
        async with AsyncMunimentStore.from_conn_string(tmp_path / "a.db", scope=ALICE) as store:
            return await store.aget(SEATS, "last")

    assert asyncio.run(work()) is not None


def test_a_sweeper_goes_on_after_a_sweep_that_failed() -> None:
    swept, tries = Event(), iter([StoreError("busy"), None])

    def sweep() -> int:
        failure = next(tries, None)
        if failure is not None:
            raise failure
        swept.set()
        return 0

    sweeper = Sweeper(sweep, minutes=0.0001)
    sweeper.start()
    sweeper.start()
    assert swept.wait(30)

    assert sweeper.stop()
    assert sweeper.stop()


def test_without_the_framework_the_error_names_the_extra() -> None:
    code = "import sys; sys.modules['langgraph'] = None; import muniment.adapters.langgraph"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert "MissingExtraError" in done.stderr
    assert "pip install 'muniment[langgraph]'" in done.stderr


def test_a_deleted_item_leaves_no_byte_of_itself_and_may_be_put_anew(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with MunimentStore.from_conn_string(path, scope=ALICE, index=INDEX) as store:
        store.put(SEATS, "velvet", {"seat": "rhinoceros"})
        store.delete(SEATS, "velvet")
        assert store.get(SEATS, "velvet") is None
    with muniment.open(path, embedder="none") as memory:
        memory.maintain()

    for file in tmp_path.glob("a.db*"):
        held = file.read_bytes()
        assert b"velvet" not in held
        assert b"rhinoceros" not in held
    with MunimentStore.from_conn_string(path, scope=ALICE) as store:
        store.put(SEATS, "velvet", {"seat": "aisle"})
        assert store.get(SEATS, "velvet") is not None
