"""Search is exact: as a slow reference says, and the same however a segment came to be."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.rules.ranking import arrange, fuse, overheard
from muniment.segment.part import Mask
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.segment.search import Channels, Query, Sought, search
from muniment.segment.segment import Segment
from muniment.segment.view import View
from tests.segment import reference

NOW = 1_000_000
DIMENSIONS = 3
NAME = 99


def _blob(parts: Sequence[int]) -> bytes:
    vector = np.array(parts, dtype=np.float64)
    return bytes((vector / np.linalg.norm(vector)).astype("<f4").tobytes())


def _words(counts: dict[int, int], *names: int) -> bytes:
    entries = [*counts.items(), *((name, 0) for name in names if name not in counts)]
    return b"".join(struct.pack("<IB", word, count) for word, count in entries)


VECTORS = st.tuples(*[st.integers(-3, 3)] * DIMENSIONS).filter(any).map(_blob)
INSTANTS = st.none() | st.sampled_from([NOW - 1, NOW, NOW + 1])
ROWS = st.builds(
    IndexRow,
    seq=st.just(0),
    kind=st.sampled_from(["preference", "context", "insight"]),
    valid_from=INSTANTS,
    valid_until=INSTANTS,
    expires_at=INSTANTS,
    words=st.builds(
        _words,
        st.dictionaries(st.integers(1, 6), st.sampled_from([1, 2, 7, 255]), max_size=4),
        st.sampled_from([NAME, 3]),
    ),
    vector=st.none() | VECTORS,
    follows=st.none() | st.integers(1, 12),
)
QUERIES = st.builds(
    Query,
    words=st.lists(st.integers(1, 8), unique=True, max_size=4).map(tuple),
    exact=st.none() | st.just(NAME),
    vector=st.none() | VECTORS.map(lambda blob: np.frombuffer(blob, dtype="<f4")),
)
STEPS = st.lists(
    st.tuples(st.sampled_from(["write", "write", "replace", "remove", "embed"]), ROWS, VECTORS),
    max_size=12,
)


def _all(view: View) -> Mask:
    return view.live


def _numbered(rows: Sequence[IndexRow]) -> list[IndexRow]:
    return [row._replace(seq=seq) for seq, row in enumerate(rows, start=1)]


def _scores(segment: Segment, query: Query, now: int = NOW) -> dict[int, reference.Scores]:
    """Return what a segment says about each live record, by seq."""
    found = segment.search(query, now, _all)
    heard = overheard(found.lexical, found.chosen, *found.beside)
    coverage = found.coverage[:]
    return {
        int(found.seqs[n]): reference.Scores(
            lexical=float(found.lexical[n]),
            coverage=float(coverage[n]),
            exact=bool(found.exact[n]),
            cosine=float(found.cosine[n]),
            centred=float(found.centred[n]),
            heard=float(heard[n]),
        )
        for n in np.flatnonzero(found.live)
    }


def _check_equal(found: dict[int, reference.Scores], said: dict[int, reference.Scores]) -> None:
    assert found.keys() == said.keys()
    for seq, score in found.items():
        other = said[seq]
        assert score.exact is other.exact
        assert score.lexical == pytest.approx(other.lexical, abs=1e-5)
        assert score.heard == pytest.approx(other.heard, abs=1e-5)
        assert score.coverage == pytest.approx(other.coverage, abs=1e-5)
        assert score.cosine == pytest.approx(other.cosine, abs=1e-5)
        assert score.centred == pytest.approx(other.centred, abs=1e-3)


def _order(found: Channels) -> list[int]:
    pool = found.live & found.embedded
    exact = np.flatnonzero(found.exact)
    fused = fuse(found.lexical, found.centred, found.voice, pool, exact)
    ranked = arrange(found.chosen, fused.round(3), found.coverage, found.seqs, -1, 10_000)
    return [int(seq) for seq in found.seqs[ranked.order]]


class Growing:
    """A scope's rows and the changes since a segment last looked."""

    def __init__(self, rows: Sequence[IndexRow]) -> None:
        self.rows = {row.seq: row for row in rows}
        self.last = len(rows)
        self.changed: set[int] = set()
        self.gone: set[int] = set()

    def write(self, row: IndexRow) -> None:
        self.last += 1
        self.rows[self.last] = row._replace(seq=self.last)
        self.changed.add(self.last)

    def remove(self, choice: int) -> None:
        seq = sorted(self.rows)[choice % len(self.rows)]
        del self.rows[seq]
        self.gone.add(seq)

    def embed(self, choice: int, vector: bytes) -> None:
        seq = sorted(self.rows)[choice % len(self.rows)]
        self.rows[seq] = self.rows[seq]._replace(vector=vector)
        self.changed.add(seq)

    def step(self, what: str, row: IndexRow, vector: bytes) -> None:
        choice = len(row.words) + sum(vector)
        if what == "embed" and self.rows:
            self.embed(choice, vector)
        elif what in ("replace", "remove") and self.rows:
            self.remove(choice)
        if what in ("write", "replace"):
            self.write(row)

    def news(self) -> IndexChanges:
        """Return what changed since the last call."""
        rows = [self.rows[seq] for seq in sorted(self.changed) if seq in self.rows]
        gone = sorted(self.gone)
        self.changed, self.gone = set(), set()
        return IndexChanges(rows, gone)

    def packed(self) -> Segment:
        return Segment.of(IndexChanges(sorted(self.rows.values()), []), 1, DIMENSIONS)


@given(st.lists(ROWS, max_size=12).map(_numbered), QUERIES)
def test_search_says_what_the_reference_says(rows: list[IndexRow], query: Query) -> None:
    segment = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS)
    _check_equal(_scores(segment, query), reference.search(rows, query, NOW))


@pytest.mark.parametrize("before", [0, 5, 90, 700])
@given(steps=STEPS, query=QUERIES, filler=ROWS, every=st.integers(1, 4))
def test_a_segment_that_grew_equals_one_built_at_once(
    before: int,
    steps: list[tuple[str, IndexRow, bytes]],
    query: Query,
    filler: IndexRow,
    every: int,
) -> None:
    kinds = [filler, filler._replace(kind="error", vector=None, words=_words({1: 1}))]
    growing = Growing(_numbered([kinds[number % 2] for number in range(before)]))
    grown = growing.packed()
    for number, step in enumerate(steps, start=1):
        growing.step(*step)
        if number % every == 0:
            grown = grown.apply(growing.news(), number)
    grown = grown.apply(growing.news(), 99)
    once = growing.packed()
    assert (len(grown), grown.lapsed(NOW)) == (len(once), once.lapsed(NOW))
    assert grown.version == 99
    _check_equal(_scores(grown, query), _scores(once, query))
    assert _order(grown.search(query, NOW, _all)) == _order(once.search(query, NOW, _all))
    assert _kinds(grown) == _kinds(once)


def _kinds(segment: Segment) -> dict[int, str]:
    return {
        int(part.seqs[n]): part.kind_names[part.kinds[n]]
        for part, here in segment.live(NOW)
        for n in np.flatnonzero(here)
    }


@given(st.lists(ROWS, max_size=12).map(_numbered))
def test_times_are_cut_at_the_very_instant(rows: list[IndexRow]) -> None:
    segment = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS)
    for now in (NOW - 2, NOW - 1, NOW, NOW + 1):
        live = [row.seq for row in reference.live(rows, now)]
        assert sorted(_scores(segment, Query((), None, None), now)) == live
        assert sum(segment.lapsed(now)) == len(rows) - len(live)


@given(
    st.lists(ROWS, max_size=12).map(_numbered),
    st.lists(st.integers(NOW - 2, NOW + 2), max_size=6),
    QUERIES,
)
def test_an_answer_does_not_depend_on_when_others_asked(
    rows: list[IndexRow], moments: list[int], query: Query
) -> None:
    asked = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS)
    for now in moments:
        fresh = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS)
        assert _scores(asked, query, now) == _scores(fresh, query, now)
        assert asked.lapsed(now) == fresh.lapsed(now)


@given(st.lists(ROWS, max_size=12).map(_numbered), QUERIES, st.integers(0, 12))
def test_two_segments_are_searched_as_if_they_were_one(
    rows: list[IndexRow], query: Query, cut: int
) -> None:
    pieces = [rows[:cut], rows[cut:]]
    segments = [Segment.of(IndexChanges(piece, []), 1, DIMENSIONS) for piece in pieces]
    sought = [Sought(one.view(NOW), query.words, query.exact) for one in segments]
    both = search(sought, query.vector, lambda view, _: view.live)
    whole = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS).search(query, NOW, _all)
    assert both.seqs.tolist() == whole.seqs.tolist()
    for name in ("live", "embedded", "pool", "exact"):
        assert np.array_equal(getattr(both, name), getattr(whole, name))
    for name, close in (("lexical", 1e-5), ("coverage", 1e-5), ("cosine", 0), ("centred", 1e-3)):
        live = whole.live
        found, said = (getattr(one, name)[:][live] for one in (both, whole))
        assert found == pytest.approx(said, abs=close)


@pytest.mark.promise("REC-2")
def test_coverage_asked_of_some_of_many_records_is_what_it_is_among_all() -> None:
    words = [_words({1: 1, n % 7: 2, n % 1000: 1}) for n in range(20_000)]
    rows = _numbered([IndexRow(0, "context", None, None, None, each, None) for each in words])
    segment = Segment.of(IndexChanges(rows, []), 1, 0)
    places = np.array([19_000, 3, 3, 700, 10])
    one, other = (segment.search(Query((1, 3, 700), None, None), NOW, _all) for _ in range(2))
    found = one.coverage[places]
    assert found.tolist() == other.coverage[:][places].tolist()
    assert len({*found.tolist()}) == 4
    assert one.coverage[places[:1]].tolist() == found[:1].tolist()


@pytest.mark.promise("TIM-3")
@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("valid_from", [False, True, True]),
        ("valid_until", [True, False, False]),
        ("expires_at", [True, False, False]),
    ],
)
def test_a_record_is_seen_from_and_until_its_very_microsecond(name: str, seen: list[bool]) -> None:
    times = {"valid_from": None, "valid_until": None, "expires_at": None, name: NOW}
    row = IndexRow(seq=1, kind="context", words=b"", vector=None, **times)
    segment = Segment.of(IndexChanges([row], []), 1, 0)
    found = [bool(_scores(segment, Query((), None, None), NOW + step)) for step in (-1, 0, 1)]
    assert found == seen


def test_what_has_lapsed_is_counted_once_and_by_its_reason() -> None:
    times = [(None, None, NOW), (NOW + 1, None, None), (None, NOW, None), (NOW + 1, NOW, NOW)]
    rows = [IndexRow(n, "context", *each, b"", None) for n, each in enumerate(times, start=1)]
    assert Segment.of(IndexChanges(rows, []), 1, 0).lapsed(NOW) == (2, 1, 1)


def test_a_lapsed_record_does_not_weigh_on_the_words_of_others() -> None:
    alone = [IndexRow(1, "context", None, None, None, _words({1: 1, 2: 1}), None)]
    lapsed = [IndexRow(n, "context", None, None, NOW, _words({1: 1}), None) for n in range(2, 30)]
    query = Query((1, 2), None, None)
    one = _scores(Segment.of(IndexChanges(alone, []), 1, 0), query)
    many = _scores(Segment.of(IndexChanges(alone + lapsed, []), 1, 0), query)
    assert one == many


@given(VECTORS, VECTORS, st.integers(2, 9))
def test_records_with_equal_vectors_are_equally_far_from_everything(
    vector: bytes, asked: bytes, count: int
) -> None:
    rows = _numbered([IndexRow(0, "context", None, None, None, b"", vector)] * count)
    grown = Segment.of(IndexChanges(rows[:1], []), 1, DIMENSIONS)
    grown = grown.apply(IndexChanges(rows[1:], []), 2)
    query = Query((), None, np.frombuffer(asked, dtype="<f4"))
    assert {score.centred for score in _scores(grown, query).values()} == {0.0}


def test_equal_long_vectors_do_not_part_by_rounding() -> None:
    chance = np.random.default_rng(7)
    for _ in range(100):
        vector, asked = chance.normal(size=(2, 384))
        blob = bytes((vector / np.linalg.norm(vector)).astype("<f4").tobytes())
        rows = _numbered([IndexRow(0, "context", None, None, None, b"", blob)] * 9)
        grown = Segment.of(IndexChanges(rows[:8], []), 1, 384).apply(IndexChanges(rows[8:], []), 2)
        query = Query((), None, (asked / np.linalg.norm(asked)).astype(np.float32))
        assert _order(grown.search(query, NOW, _all)) == list(range(9, 0, -1))
        assert set(grown.search(query, NOW, _all).centred) == {0.0}


def test_a_segment_that_was_given_out_never_changes() -> None:
    rows = _numbered(
        [IndexRow(0, "context", None, None, None, _words({1: 1}), _blob([1, 0, 0]))] * 3
    )
    old = Segment.of(IndexChanges(rows, []), 1, DIMENSIONS)
    query = Query((1,), None, np.array([1, 0, 0], dtype=np.float32))
    before = _scores(old, query)
    for version in range(2, 200):
        old.apply(IndexChanges([rows[0]._replace(seq=version + 2)], [1, 2]), version)
    assert _scores(old, query) == before
    assert len(old) == 3


def test_the_tail_is_merged_before_it_grows_large() -> None:
    row = IndexRow(0, "context", None, None, None, _words({1: 1}), None)
    growing = Growing(_numbered([row] * 2000))
    segment = growing.packed()
    for version in range(2, 1000):
        growing.write(row)
        growing.remove(version)
        segment = segment.apply(growing.news(), version)
        assert len(segment.tail) + int(segment.left.sum()) <= len(segment.base) / 8 + 1
    assert len(segment) == 2000


def test_a_segment_without_rows_answers_with_nothing() -> None:
    empty = Segment.of(IndexChanges([], []), 1, DIMENSIONS)
    query = Query((1,), NAME, np.array([1, 0, 0], dtype=np.float32))
    assert (len(empty), _scores(empty, query), empty.lapsed(NOW)) == (0, {}, (0, 0, 0))
    same = empty.apply(IndexChanges([], [7]), 2)
    assert (len(same), _scores(same, query), same.version) == (0, {}, 2)
