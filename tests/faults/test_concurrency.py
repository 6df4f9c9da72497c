"""Failures under load: lost and doubled writes, locked files, one error that spoils the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import TypeVar

import pytest

from muniment import ConflictError, MunimentError, RefusedError, ScopedMemory, StoreError
from muniment.records import Status
from muniment.results import Outcome
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope

T = TypeVar("T")


def at_once(calls: Sequence[Callable[[], T]]) -> list[T | MunimentError]:
    """Run calls in threads that start together, and return what each gave or raised."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], T]) -> T | MunimentError:
        barrier.wait()
        try:
            return call()
        except MunimentError as error:
            return error

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


@pytest.fixture
def several(house: House, me: ScopedMemory) -> list[ScopedMemory]:
    """The same scope through one memory object shared by threads, and through others."""
    return [me, me, me, same_scope(house.open(), me), same_scope(house.open(), me)]


@HYBRID
@pytest.mark.promise("WRI-2", "OPE-4")
def test_one_source_said_many_times_at_once_is_one_record(several: list[ScopedMemory]) -> None:
    """mem0#6515"""
    calls = [
        lambda scoped=scoped: said(scoped, "I really like coffee", source_id="same")
        for scoped in several * 3
    ]
    results = at_once(calls)
    written = [one for one in results if not isinstance(one, MunimentError)]
    assert len(written) == 15
    assert len({one.memory_id for one in written}) == 1
    assert sorted(one.outcome for one in written) == [Outcome.CREATED] + [Outcome.REPEATED] * 14
    assert (len(several[0].list()), len(several[0].audit())) == (1, 1)


@LEXICAL
@pytest.mark.promise("WRI-2")
def test_two_payloads_at_once_under_one_source_leave_one(several: list[ScopedMemory]) -> None:
    calls = [
        lambda scoped=scoped, n=n: said(scoped, f"I like number {n}", source_id="same")
        for n, scoped in enumerate(several)
    ]
    results = at_once(calls)
    assert sum(isinstance(one, ConflictError) for one in results) == len(several) - 1
    assert len(several[0].list()) == 1


@LEXICAL
@pytest.mark.promise("WRI-9", "CON-2")
def test_values_of_one_field_at_once_end_in_one_active_chain(several: list[ScopedMemory]) -> None:
    """agentmemory#15, remnic#402"""
    first = said(several[0], "Lives in Rome.", field="city", value="Rome")
    calls = [
        lambda scoped=scoped, n=n: said(scoped, f"Lives in {n}.", field="city", value=n)
        for n, scoped in enumerate(several * 2)
    ]
    results = at_once(calls)
    assert not any(isinstance(one, MunimentError) for one in results)
    (active,) = several[0].list()
    chain = several[0].history(first.memory_id)
    assert len(chain) == 11
    assert chain[-1] == active
    for older, newer in pairwise(chain):
        assert (older.superseded_by, newer.supersedes) == (newer.memory_id, older.memory_id)
        assert older.status is Status.SUPERSEDED


@LEXICAL
@pytest.mark.promise("OPE-4")
def test_a_refused_write_fails_alone(several: list[ScopedMemory]) -> None:
    """txtai#1110"""
    said(several[0], "Taken.", source_id="taken")

    def call(scoped: ScopedMemory, number: int) -> Callable[[], object]:
        if number % 3 == 0:
            return lambda: said(scoped, f"Other {number}.", source_id="taken")
        if number % 3 == 1:
            return lambda: said(scoped, f"hid\u200bden {number}")
        return lambda: said(scoped, f"Good {number}.")

    results = at_once([call(scoped, n) for n, scoped in enumerate(several * 3)])
    kinds = [type(one) for one in results]
    assert (kinds.count(ConflictError), kinds.count(RefusedError)) == (5, 5)
    assert several[0].counts().active == 1 + 5


@LEXICAL
def test_a_failure_in_the_middle_of_a_write_spoils_nothing(
    me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """txtai#1110"""
    from muniment.storage.views import RowTransaction

    def broken(*_: object, **__: object) -> None:
        raise StoreError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(RowTransaction, "append_audit", broken)
        with pytest.raises(StoreError, match="disk is full"):
            said(me, "Never written.")
    assert (me.counts().active, me.audit(), len(me.recall("written", minimum_score=-1))) == (
        0,
        (),
        0,
    )
    kept = said(me, "Written after all.")
    results = at_once([lambda: ids(me.recall("written"))] * 8)
    assert results == [[kept.memory_id]] * 8


@HYBRID
@pytest.mark.promise("OPE-4")
def test_reading_while_others_write_and_forget_is_always_whole(
    house: House, several: list[ScopedMemory]
) -> None:
    kept = [said(several[0], f"tea number {number}").memory_id for number in range(12)]

    def forget() -> list[str]:
        for memory_id in kept[6:]:
            several[3].forget(memory_id)
        return []

    def write() -> list[str]:
        return [said(several[4], f"tea more {number}").memory_id for number in range(6)]

    def read() -> list[str]:
        for _ in range(15):
            found = several[1].recall("tea", limit=50, minimum_score=-1, budget=None)
            assert len(found.trace.hits) == len(found)
            assert set(kept[:6]) <= set(ids(found))
        return []

    results = at_once([forget, write, read, read])
    assert not [one for one in results if isinstance(one, MunimentError)]
    written = results[1]
    assert isinstance(written, list)
    everything = ids(several[2].recall("tea", limit=50, minimum_score=-1, budget=None))
    assert set(everything) == {*kept[:6], *written}
    assert sorted(everything) == sorted(ids(several[2].list(limit=50)))
