"""Packed records: a segment built from them is the one that the rows give, whatever happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muniment.errors import StoreVersionError
from muniment.ports import (
    EmbeddingModel,
    NewRecord,
    OwnerState,
    Snapshot,
    Store,
    Transaction,
)
from muniment.segment import matrix
from muniment.segment.block import Unpacked, decode, encode, with_vectors
from muniment.segment.matrix import Gathering
from muniment.segment.part import NEVER, Part, build, merge
from muniment.segment.rows import IndexChanges, IndexRow
from muniment.segment.segment import Segment
from muniment.segment.vectors import centring
from muniment.services import packing
from muniment.services.filling import changes_since, filled
from muniment.services.packing import pack
from muniment.services.segments import Segments
from muniment.storage import open_store
from muniment.testing.samples import NOW, SCOPE, sample, slot_of, state, stored

MODEL = EmbeddingModel("model", "1", 2)
INSTANTS = st.none() | st.integers(0, 9)
VECTORS = st.none() | st.tuples(st.floats(-1, 1, width=32), st.floats(-1, 1, width=32))
WORDS = st.dictionaries(st.integers(0, 9), st.integers(0, 3), max_size=4)
ROWS = st.lists(
    st.tuples(st.sampled_from("abc"), INSTANTS, INSTANTS, INSTANTS, WORDS, VECTORS, INSTANTS),
    max_size=9,
)

READING = st.sampled_from(["apart", "in place", "copied"])


def rows_of(drawn: list[tuple[object, ...]]) -> list[IndexRow]:
    rows = []
    for seq, (kind, begins, until, expires, words, vector, follows) in enumerate(drawn, start=1):
        assert isinstance(words, dict)
        packed = b"".join(int(w).to_bytes(4, "little") + bytes([n]) for w, n in words.items())
        blob = None if vector is None else np.array(vector, dtype="<f4").tobytes()
        drawn_row = (3 * seq, kind, begins, until, expires, packed, blob, follows)
        rows.append(IndexRow._make(drawn_row))
    return rows


def held(rows: list[IndexRow]) -> list[tuple[int, bytes]]:
    return [(row.seq, row.vector) for row in rows if row.vector is not None]


def through_bytes(
    rows: list[IndexRow],
    others: Iterable[tuple[int, bytes]] = (),
    dimensions: int = 2,
    *,
    reading: str = "apart",
) -> Unpacked:
    """Return what rows give after they were packed, with vectors of other records among theirs."""
    part = build([row._replace(vector=None) for row in rows], 0)
    vectors = sorted([*held(rows), *others]) if dimensions else []
    pieces = [piece for piece in (vectors[:2], vectors[2:]) if piece]
    blocks = [matrix.encode(matrix.from_rows(piece)) for piece in pieces]
    packed = {7: with_vectors(part, blocks)} if held(rows) else {}
    gathering = Gathering(dimensions)
    contents = iter(blocks) if reading == "apart" else _read_into(gathering, blocks, reading)
    return decode(encode(part, packed), contents, 7 if dimensions else None, gathering)


def _read_into(
    gathering: Gathering, blocks: list[bytes], reading: str
) -> Iterator[bytes | memoryview]:
    for block in blocks:
        room = gathering.room(len(block))
        room[:] = block
        yield bytes(room) if reading == "copied" else room


def differing(one: Part, other: Part) -> set[str]:
    """Return the columns in which two parts are not the same bytes; `drift` need not be known."""
    found = set()
    for field in fields(Part):
        left, right = getattr(one, field.name), getattr(other, field.name)
        if field.name == "drift":
            same = True
        elif isinstance(left, tuple):
            same = left == right
        else:
            same = left.dtype == right.dtype and np.array_equal(left, right)
        found |= set() if same else {field.name}
    return found


@given(ROWS, READING)
def test_a_block_gives_back_the_part(drawn: list[tuple[object, ...]], reading: str) -> None:
    rows = rows_of(drawn)
    part, packed = through_bytes(rows, reading=reading)
    assert differing(part, build(rows, 2)) == set()
    assert packed.tolist() == part.embedded.tolist()
    part, packed = through_bytes(rows, dimensions=0)
    assert differing(part, build([row._replace(vector=None) for row in rows], 0)) == set()
    assert not packed.any()


@given(ROWS, st.sets(st.integers(0, 30)), READING)
def test_vectors_of_other_records_are_left_out(
    drawn: list[tuple[object, ...]], foreign: set[int], reading: str
) -> None:
    rows = rows_of(drawn)
    blob = np.array([1, 1], dtype="<f4").tobytes()
    others = [(seq, blob) for seq in foreign if seq not in {row.seq for row in rows}]
    part = through_bytes(rows, others, reading=reading).part
    assert differing(part, build(rows, 2)) == set()


@given(ROWS, st.sets(st.integers(0, 30)), st.integers(0, 9))
def test_a_matrix_without_some_is_that_of_the_others(
    drawn: list[tuple[object, ...]], gone: set[int], cut: int
) -> None:
    rows = held(rows_of(drawn))
    stay = [row for row in rows if row[0] not in gone]
    if rows:
        content = matrix.without(matrix.encode(matrix.from_rows(rows)), gone)
        assert content == (matrix.encode(matrix.from_rows(stay)) if stay else None)
    pieces = [matrix.from_rows(piece) for piece in (rows[:cut], rows[cut:]) if piece]
    if pieces:
        assert matrix.joined(pieces).stored() == rows
        assert matrix.joined(pieces[::-1]).stored() == rows


@given(ROWS, st.integers(0, 9))
def test_a_centre_read_from_a_block_is_the_one_that_is_worked_out(
    drawn: list[tuple[object, ...]], lapsed: int
) -> None:
    rows = rows_of(drawn)
    plain, (part, _) = build(rows, 2), through_bytes(rows)
    some = part.embedded & (np.arange(len(part)) != lapsed)
    for pool in (part.embedded, some):
        one, other = centring([part], pool), centring([plain], pool)
        assert one.mean.tolist() == other.mean.tolist()
        assert one.drift.tolist() == other.drift.tolist()
        assert one.scale.tolist() == other.scale.tolist()
    assert (part.drift is None) == (not held(rows))


def test_a_block_of_another_form_is_refused() -> None:
    part, vectors = build(rows_of([("a", None, None, None, {}, None, None)]), 0), [(3, bytes(8))]
    words, packed = encode(part, {}), matrix.encode(matrix.from_rows(vectors))
    with pytest.raises(StoreVersionError):
        decode(b"blk0" + words[4:], [], None, Gathering())
    with pytest.raises(StoreVersionError):
        matrix.decode(b"vec0" + packed[4:])


def test_many_records_have_wide_numbers() -> None:
    rows = [IndexRow(seq, "k", None, None, None, b"\1\0\0\0\1", None) for seq in range(1, 70_000)]
    part = build(rows, 0)
    assert differing(decode(encode(part, {}), [], None, Gathering()).part, part) == set()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "memory.db")
    yield opened
    opened.close()


def _cold(view: Snapshot, slot: int | None) -> Segment:
    owner = view.owner(SCOPE)
    assert owner is not None
    return Segments(0).current(view, owner, slot, 0 if slot is None else 2)


def _whole(segment: Segment) -> Part:
    """Return all records of a segment as one part."""
    everything = np.ones(len(segment.tail), dtype=np.bool_)
    return merge([(segment.base, ~segment.left), (segment.tail, everything)])


def _kinds(part: Part) -> list[str]:
    return [part.kind_names[number] for number in part.kinds.tolist()]


def _postings(part: Part) -> list[tuple[int, int, int]]:
    words = np.repeat(part.words, np.diff(part.starts))
    return sorted(zip(words.tolist(), part.docs.tolist(), part.counts.tolist(), strict=True))


def _act(tx: Transaction, step: str, choice: int, slot: int, known: dict[int, bytes]) -> None:
    owner = tx.bump(tx.ensure_owner(SCOPE, NOW))
    records = tx.page(owner, 2**62, 10, NOW)
    chosen = records[choice % len(records)] if records else None
    vector = np.array([choice, 1], dtype="<f4").tobytes()
    words = bytes([choice, 0, 0, 0, 1 + choice % 3])
    new = sample(kind="abc"[choice % 3], words=words, vector=(slot, vector) if choice % 2 else None)
    if step == "pack":
        pack(tx, SCOPE)
    elif step == "insert" or chosen is None:
        _insert(tx, owner, new, known)
    elif step == "supersede":
        tx.supersede(owner, chosen.memory_id, new.memory_id, NOW)
        _insert(tx, owner, new, known)
    elif step == "remove":
        tx.remove(owner, chosen)
        known.pop(chosen.seq, None)
    else:
        tx.set_vector(owner, chosen.seq, slot, vector)
        known[chosen.seq] = vector


def _insert(tx: Transaction, owner: OwnerState, new: NewRecord, known: dict[int, bytes]) -> None:
    seq = tx.insert(owner, new)
    if new.vector is not None:
        known[seq] = new.vector[1]


def _known(store: Store, slot: int) -> dict[int, bytes]:
    """Return the vectors that the steps before this example left."""
    with store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        now = changes_since(view, owner, 0, slot).rows
        rows = [*now, *filled(view, owner, slot, view.superseded_rows(owner, NEVER, slot))]
    return {row.seq: row.vector for row in rows if row.vector}


def _past(view: Snapshot, slot: int) -> dict[int, bytes | None]:
    """Return the vector of every record that was replaced, wherever it lies."""
    owner = view.owner(SCOPE)
    assert owner is not None
    return {
        row.seq: row.vector
        for row in filled(view, owner, slot, view.superseded_rows(owner, NEVER, slot))
    }


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["pack", "insert", "supersede", "remove", "vector"]), st.integers(0, 9)
    ),
    max_size=14,
)


@given(STEPS)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_cold_segment_is_the_one_that_the_rows_give(
    store: Store, monkeypatch: pytest.MonkeyPatch, drawn: list[tuple[str, int]]
) -> None:
    for name, value in (("LEAST", 1), ("SHARE", 10**6), ("VECTORS", 3), ("RESTING", 2)):
        monkeypatch.setattr(packing, name, value)
    slot = slot_of(store, MODEL)
    stored(store, sample(), sample())
    known = _known(store, slot)
    for step, choice in drawn:
        store.write(partial(_act, step=step, choice=choice, slot=slot, known=known))
        with store.snapshot() as view:
            owner = view.owner(SCOPE)
            assert owner is not None
            for asked in (slot, None):
                rows = [
                    row._replace(vector=known.get(row.seq) if asked else None)
                    for row in view.index_changes(owner, 0, asked).rows
                ]
                packed = _cold(view, asked)
                plain = Segment.of(IndexChanges(rows, []), owner.version, 0 if asked is None else 2)
                assert packed.version == plain.version
                one, other = _whole(packed), _whole(plain)
                assert differing(one, other) <= {"kinds", "kind_names", "docs", "counts"}
                assert (_kinds(one), _postings(one)) == (_kinds(other), _postings(other))
            past = _past(view, slot)
            assert past == {seq: known.get(seq) for seq in past}


def test_packing_waits_until_it_pays(store: Store) -> None:
    stored(store, sample())
    for _ in range(packing.LEAST - 2):
        store.write(lambda tx: tx.bump(tx.ensure_owner(SCOPE, NOW)))
    assert not store.write(lambda tx: pack(tx, SCOPE))
    assert store.write(lambda tx: pack(tx, SCOPE, is_upkeep=True))
    assert not store.write(lambda tx: pack(tx, SCOPE, is_upkeep=True))
    owner = state(store)
    assert owner is not None
    with store.snapshot() as view:
        (block,) = view.blocks(owner, None)
        assert (block.slot, block.seq, block.version) == (0, 1, owner.version)
        assert view.packed_version(owner) == owner.version
