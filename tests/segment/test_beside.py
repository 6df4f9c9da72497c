"""Neighbours among the records of several owners: each owner's stay its own."""

from __future__ import annotations

import numpy as np
import pytest

from muniment.segment.rows import IndexChanges, IndexRow
from muniment.segment.search import Channels, Sought, search
from muniment.segment.segment import Segment

WORD = 7


def sought(follows: list[int | None]) -> Sought:
    """Return an owner's records with seq from 1; every one has the word once."""
    entry = np.array([(WORD, 1)], dtype=[("word", "<u4"), ("count", "u1")]).tobytes()
    rows = [
        IndexRow(seq, "preference", None, None, None, entry, None, before)
        for seq, before in enumerate(follows, start=1)
    ]
    return Sought(Segment.of(IndexChanges(rows, []), 1, 0).view(0), (WORD,), None)


def neighbours(found: Channels) -> set[tuple[int, int]]:
    return set(zip(found.beside.hears.tolist(), found.beside.speaks.tolist(), strict=True))


@pytest.mark.promise("REC-2", "SCO-1")
def test_no_record_is_beside_one_of_another_owner() -> None:
    own, team = sought([None, 1, 2]), sought([None, None, 1, 9])
    found = search([own, team], None, lambda view, _: view.live)
    assert neighbours(found) == {(1, 0), (0, 1), (2, 1), (1, 2), (5, 3), (3, 5)}
    assert found.beside.shares.tolist() == [1.0] * 6


def test_without_threads_nobody_is_beside_anybody() -> None:
    found = search([sought([None, None]), sought([None])], None, lambda view, _: view.live)
    assert neighbours(found) == set()
