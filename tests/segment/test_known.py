"""Records of a hot scope: read once, right at every version, nobody else's to change."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from muniment.ports import OwnerState, Snapshot, Store
from muniment.records import PacketItem, Record
from muniment.rules.packet import line
from muniment.services import known as known_module
from muniment.services.known import KnownRecords, Shown
from muniment.storage import open_store
from muniment.testing.samples import NOW, SCOPE, removed, replace, sample, stored


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "memory.db")
    yield opened
    opened.close()


class Counted:
    """A snapshot that notes which records were read from it."""

    def __init__(self, view: Snapshot) -> None:
        self.view = view
        self.asked: list[int] = []

    def records(self, owner: OwnerState, seqs: Sequence[int], now: int) -> list[Record]:
        self.asked += seqs
        return self.view.records(owner, seqs, now)


def _read(store: Store, known: KnownRecords, *seqs: int) -> tuple[list[Shown], list[int]]:
    with store.snapshot() as view:
        state = view.owner(SCOPE)
        assert state is not None
        counted = Counted(view)
        return known.read(cast("Snapshot", counted), state, seqs, NOW), counted.asked


def _texts(shown: list[Shown]) -> list[str]:
    return [one.record.text for one in shown]


def test_a_record_is_read_once(store: Store) -> None:
    stored(store, *(sample(text=text) for text in ("one", "two", "three")))
    known = KnownRecords()
    assert _read(store, known, 2, 1)[1] == [2, 1]
    shown, asked = _read(store, known, 3, 2, 9, 1)
    assert (_texts(shown), asked) == (["three", "two", "one"], [3, 9])
    assert [one.line.text for one in shown] == [line(PacketItem(one.record, 0.0)) for one in shown]


def test_what_moved_is_read_anew_and_the_rest_is_not(store: Store) -> None:
    new = [sample(text="old"), sample(text="stays"), sample(text="goes")]
    stored(store, *new)
    known = KnownRecords()
    _read(store, known, 1, 2, 3)
    replace(store, new[0].memory_id, sample(text="new"))
    removed(store, new[2].memory_id)
    shown, asked = _read(store, known.without({1, 3, 4}), 2, 3, 4)
    assert (_texts(shown), asked) == (["stays", "new"], [3, 4])


def test_a_caller_cannot_change_what_the_next_one_gets(store: Store) -> None:
    stored(store, sample(metadata={"tags": ["a"]}, field="f", value=[1, {"b": 2}]), sample())
    known = KnownRecords()
    for _ in range(3):
        (first, plain), _ = _read(store, known, 1, 2)
        mine, other = first.own(), plain.own()
        assert (mine, other) == (first.record, plain.record)
        assert (mine.metadata, mine.value) == ({"tags": ["a"]}, [1, {"b": 2}])
        assert other.metadata == {}
        mine.metadata["tags"].append("x")  # type: ignore[union-attr]
        mine.value.append("y")  # type: ignore[union-attr]
        other.metadata["z"] = 1  # type: ignore[index]


def test_what_is_known_is_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_module, "MOST", 5_000)
    stored(store, *(sample(text="x" * size) for size in (1, 1, 1, 9_000)))
    known = KnownRecords()
    sizes = []
    for seq in (1, 2, 3, 4):
        assert len(_read(store, known, seq)[0]) == 1
        sizes.append(known.nbytes)
    assert sizes[0] < sizes[1] <= 5_000
    assert sizes[2:] == [sizes[0], 0]
    assert known.without(()).nbytes == 0
