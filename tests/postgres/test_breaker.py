"""A server that cannot be reached: one caller tries, everybody else fails at once."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from muniment.errors import StoreUnavailableError
from muniment.storage import Postgres, open_store
from muniment.storage.pg_breaker import Breaker, Resting
from muniment.storage.pg_errors import driver_errors
from muniment.storage.pg_pool import Pool
from muniment.testing.samples import everything, sample, stored
from tests.postgres.proxy import counted


@dataclass
class Hand:
    """A clock that stands still until it is moved."""

    seconds: float = 100.0

    def __call__(self) -> float:
        return self.seconds


def fails(breaker: Breaker) -> None:
    """Try to connect, and fail."""
    with pytest.raises(psycopg.OperationalError), breaker.watched():
        raise psycopg.OperationalError


def rests(breaker: Breaker) -> float:
    """Return the seconds for which a breaker lets nobody try."""
    with pytest.raises(Resting) as caught, breaker.admitted():
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
    with breaker.watched():
        pass
    assert breaker.is_closed
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
    with breaker.admitted():
        assert rests(breaker) == 0.0


def test_an_attempt_that_is_broken_off_leaves_the_next_to_another() -> None:
    hand = Hand()
    breaker = Breaker(hand)
    fails(breaker)
    hand.seconds += 1
    with pytest.raises(KeyboardInterrupt), breaker.admitted():
        raise KeyboardInterrupt
    with breaker.admitted():
        pass


def test_attempts_that_fail_together_begin_one_pause() -> None:
    breaker = Breaker(Hand(), chance=lambda: 1.0)
    fails(breaker)
    fails(breaker)
    assert rests(breaker) == pytest.approx(0.1)


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

    assert "the next attempt is due in 0.1 s" in message()
    assert "the next attempt is due in 0.1 s" in message()
    hand.seconds += 0.1
    assert "the next attempt is due in 0.2 s" in message()
    pool.close()


@pytest.mark.promise("OPE-3")
def test_a_store_goes_on_when_its_server_is_back(
    place: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hand = Hand()
    monkeypatch.setattr(Breaker.__init__, "__defaults__", (hand, lambda: 1.0))
    with counted(place, tmp_path) as (where, _):
        store = open_store(where)
        stored(store, sample(source_id="before"))
    with pytest.raises(StoreUnavailableError, match="the next attempt is due"):
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
