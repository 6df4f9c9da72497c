"""A server that cannot be reached: one caller tries, everybody else fails at once."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from muniment.errors import StoreUnavailableError
from muniment.storage import Postgres, open_store
from muniment.storage.pg_breaker import Breaker, Resting
from muniment.storage.pg_errors import PoolFull, driver_errors
from muniment.storage.pg_pool import Pool, Turns
from muniment.testing.samples import everything, sample, stored
from tests.postgres.pair import wait_for
from tests.postgres.proxy import counted


@dataclass
class Hand:
    """A clock that stands still until it is moved."""

    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


def fails(breaker: Breaker) -> None:
    """Try to connect, and fail."""
    with pytest.raises(psycopg.OperationalError) as caught, breaker.attempt():
        raise psycopg.OperationalError
    assert not isinstance(caught.value, Resting)


def rests(breaker: Breaker) -> float:
    """Return the seconds for which a breaker lets nobody try."""
    with pytest.raises(Resting) as caught, breaker.attempt():
        raise AssertionError("it was let in")
    return caught.value.seconds


@pytest.mark.promise("OPE-3")
def test_pauses_double_up_to_five_seconds_and_end_with_the_first_success() -> None:
    hand = Hand()
    breaker = Breaker(hand, chance=lambda: 1.0)
    pauses = []
    for _ in range(8):
        fails(breaker)
        pauses.append(rests(breaker))
        hand.seconds += pauses[-1]
    assert pauses == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0])
    for _ in range(3):
        with breaker.attempt():
            pass
    fails(breaker)
    assert rests(breaker) == pytest.approx(0.1)


def test_chance_cuts_a_pause_by_up_to_half() -> None:
    breaker = Breaker(Hand(), chance=lambda: 0.0)
    fails(breaker)
    assert rests(breaker) == pytest.approx(0.05)


@pytest.mark.promise("OPE-3")
def test_after_a_pause_one_caller_tries_for_all() -> None:
    hand = Hand()
    breaker = Breaker(hand, chance=lambda: 1.0)
    fails(breaker)
    hand.seconds += 1
    with breaker.attempt():
        assert rests(breaker) == 0.0
    with breaker.attempt(), breaker.attempt():
        pass


def test_an_attempt_that_is_broken_off_leaves_the_next_to_another() -> None:
    hand = Hand()
    breaker = Breaker(hand)
    fails(breaker)
    hand.seconds += 1
    with pytest.raises(KeyboardInterrupt), breaker.attempt():
        raise KeyboardInterrupt
    with breaker.attempt():
        pass


def test_callers_that_fail_together_begin_one_pause() -> None:
    breaker = Breaker(Hand(), chance=lambda: 1.0)

    def meanwhile() -> None:
        with breaker.attempt():
            fails(breaker)
            raise psycopg.OperationalError

    with pytest.raises(psycopg.OperationalError):
        meanwhile()
    assert rests(breaker) == pytest.approx(0.1)


def test_turns_come_in_order_and_no_more_at_once_than_allowed() -> None:
    turns = Turns(1)
    assert turns.enter(0)
    assert not turns.enter(0)
    came: list[int] = []

    def take(number: int) -> None:
        assert turns.enter(60)
        came.append(number)
        turns.leave()

    threads = []
    for number in range(3):
        threads.append(threading.Thread(target=take, args=(number,)))
        threads[-1].start()
        wait_for(lambda number=number: len(turns._waiting) > number)  # type: ignore[misc]
    turns.leave()
    for thread in threads:
        thread.join()
    assert came == [0, 1, 2]
    assert turns.enter(0)


@pytest.fixture
def down() -> Iterator[Postgres]:
    """A place at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        yield Postgres(f"postgresql://me@127.0.0.1:{port}/none", patience=3600)


@pytest.mark.promise("OPE-3")
def test_a_server_that_is_down_costs_no_caller_its_patience(down: Postgres) -> None:
    hand = Hand()
    pool = Pool(down, breaker=Breaker(hand, chance=lambda: 1.0))

    def message() -> str:
        with pytest.raises(StoreUnavailableError) as caught, driver_errors(down.name):
            pool.first(lambda _: None)
        return str(caught.value)

    assert "cannot be reached" in message()
    assert "the next attempt is due in 0.1 s" in message()
    hand.seconds += 0.1
    assert "cannot be reached" in message()
    assert "the next attempt is due in 0.2 s" in message()


@pytest.mark.promise("OPE-3")
def test_a_store_goes_on_when_its_server_is_back(
    place: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = Hand()
    monkeypatch.setattr(Breaker.__init__, "__defaults__", (hand, lambda: 1.0))
    with counted(place, tmp_path) as (where, _):
        store = open_store(where)
        stored(store, sample(source_id="before"))
    for text in ("cannot be reached", "the next attempt is due"):
        with pytest.raises(StoreUnavailableError, match=text):
            everything(store)
    (tmp_path / ".s.PGSQL.5432").unlink()
    with counted(place, tmp_path):
        with pytest.raises(StoreUnavailableError, match="the next attempt is due"):
            everything(store)
        hand.seconds += 1
        stored(store, sample(source_id="after"))
        assert {one.source.source_id for one in everything(store)} == {"before", "after"}
        store.close()


def test_a_server_that_takes_no_more_keeps_the_connections_that_it_has(place: Postgres) -> None:
    hand = Hand()
    breaker = Breaker(hand, chance=lambda: 1.0)
    pool = Pool(place, breaker=breaker)
    _, one = pool.first(lambda connection: connection.execute("SELECT 1"))
    pool.take_back(one)
    fails(breaker)
    _, again = pool.first(lambda connection: connection.execute("SELECT 1"))
    assert again is one
    with pytest.raises(Resting):
        pool.first(lambda connection: connection.execute("SELECT 1"))
    pool.take_back(again)
    pool.close()
    assert one.closed


def test_what_is_idle_for_ten_minutes_is_closed(place: Postgres) -> None:
    hand = Hand()
    pool = Pool(place, breaker=Breaker(hand))
    lent = [pool.first(lambda connection: connection.execute("SELECT 1"))[1] for _ in range(2)]
    pool.take_back(lent[0])
    hand.seconds += 601
    pool.take_back(lent[1])
    assert [one.closed for one in lent] == [True, False]
    pool.close()
    assert lent[1].closed


def test_a_connection_that_comes_back_to_a_closed_pool_is_closed(place: Postgres) -> None:
    pool = Pool(place)
    _, one = pool.first(lambda connection: connection.execute("SELECT 1"))
    pool.close()
    pool.take_back(one)
    assert one.closed


def test_a_full_pool_serves_the_next_when_one_comes_back(place: Postgres) -> None:
    pool = Pool(Postgres(place.url, connections=1, patience=0.01))
    _, one = pool.first(lambda connection: connection.execute("SELECT 1"))
    with pytest.raises(PoolFull):
        pool.first(lambda connection: connection.execute("SELECT 1"))
    pool.take_back(one)
    assert pool.first(lambda connection: connection.execute("SELECT 1"))[1] is one
    pool.take_back(one)
    pool.close()
