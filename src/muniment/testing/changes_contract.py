"""What a store says about changes, and what a transaction and a snapshot promise."""

from __future__ import annotations

from functools import partial
from threading import Thread
from typing import ClassVar

from muniment.ports import Block, EmbeddingModel, OwnerState, Store, Transaction
from muniment.segment.rows import IndexRow
from muniment.testing.samples import (
    NOW,
    SCOPE,
    changes,
    everything,
    put,
    raises,
    removed,
    replace,
    sample,
    slot_of,
    state,
    stored,
)

MODEL = EmbeddingModel("model", "1", 1)


class ChangesContract:
    """Deltas add up to the whole, snapshots stand still, transactions are whole or absent."""

    concurrent: ClassVar[bool] = True

    def test_zero_gives_everything(self, store: Store) -> None:
        """From version 0 on come all active rows in order, with nothing gone."""
        new = [sample(kind=kind, valid_from=1, expires_at=NOW) for kind in ("context", "insight")]
        stored(store, sample(), *new)
        removed(store, everything(store)[0].memory_id)
        rows, gone = changes(store, 0)
        assert [(row.seq, row.kind) for row in rows] == [(2, "context"), (3, "insight")]
        assert rows[0] == IndexRow(2, "context", 1, None, NOW, new[0].words, None)
        assert gone == []

    def test_deltas_give_news(self, store: Store) -> None:
        """A delta holds what came after the version, and nothing when nothing did."""
        since = stored(store, sample()).version
        assert changes(store, since) == ([], [])
        stored(store, sample(), sample())
        assert [row.seq for row in changes(store, since).rows] == [2, 3]

    def test_superseded_are_gone(self, store: Store) -> None:
        """A superseded record leaves, and its successor comes, in the same delta."""
        old = sample()
        since = stored(store, old).version
        replace(store, old.memory_id, sample())
        rows, gone = changes(store, since)
        assert ([row.seq for row in rows], gone) == ([2], [1])

    def test_removed_are_gone(self, store: Store) -> None:
        """A removed record leaves, whether it was active or superseded before."""
        old = sample()
        since = stored(store, old, sample()).version
        last = replace(store, old.memory_id, sample()).version
        for record in everything(store)[:2]:
            removed(store, record.memory_id)
        assert set(changes(store, since).gone) == {1, 2}
        assert 2 in changes(store, last).gone
        assert changes(store, last).rows == []

    def test_late_vectors_return(self, store: Store) -> None:
        """A record whose vector came late is in the delta again, with the vector."""
        slot = slot_of(store, MODEL)
        since = stored(store, sample(), sample()).version

        def work(tx: Transaction) -> None:
            owner = tx.bump(tx.ensure_owner(SCOPE, NOW))
            tx.set_vector(owner, 1, slot, b"1234")

        store.write(work)
        ((row,), gone) = changes(store, since, slot)
        assert (row.seq, row.vector, gone) == (1, b"1234", [])

    def test_threads_are_told(self, store: Store) -> None:
        """A record says which one it follows, for as long as that one is there."""
        first, lone = sample(), sample()
        since = stored(store, first, sample(follows=first.memory_id), lone).version
        assert [row.follows for row in changes(store, 0).rows] == [None, 1, None]
        removed(store, first.memory_id)
        assert [(row.seq, row.follows) for row in changes(store, since).rows] == [(2, None)]
        assert [row.follows for row in changes(store, 0).rows] == [None, None]

    def test_deltas_add_up(self, store: Store) -> None:
        """Whatever is done in whatever order, deltas from any version arrive at the whole."""
        from hypothesis import given, settings
        from hypothesis import strategies as st

        steps = st.lists(st.tuples(st.sampled_from("isrv"), st.integers(0, 9)), max_size=8)

        @settings(max_examples=25, deadline=None)
        @given(steps, st.integers(1, 4))
        def check(drawn: list[tuple[str, int]], every: int) -> None:
            _follow(store, drawn, every)

        check()

    def test_blocks_are_kept(self, store: Store) -> None:
        """A block comes back as it was packed, until the next one takes its place."""
        owner = stored(store, sample(), sample())
        assert _block(store) is None
        for content in (b"packed", b"packed again"):
            block = Block(1, owner.version, content)
            store.write(partial(_pack, block=block))
            assert _block(store) == block
        with store.snapshot() as view:
            assert view.packed_version(owner) == owner.version

    def test_blocks_have_order(self, store: Store) -> None:
        """Words come first, then one model's vectors by seq; a range finds the blocks it needs."""
        slot, other = slot_of(store, MODEL), slot_of(store, EmbeddingModel("model", "2", 1))
        owner = stored(store, sample())
        words = Block(1, owner.version, b"words")
        blocks = [Block(seq, owner.version, b"%d" % seq, slot) for seq in (9, 1, 5)]
        for block in (*blocks, words, Block(1, owner.version, b"other", other)):
            store.write(partial(_pack, block=block))
        first, second, third = sorted(blocks)
        with store.snapshot() as view:
            assert view.slots(owner) == [slot, other]
            assert list(view.blocks(owner, None)) == [words]
            assert list(view.blocks(owner, slot)) == [words, first, second, third]
            assert view.block_places(owner, slot) == [1, 5, 9]
            assert view.vector_blocks(owner, slot, 2, 4) == [first]
            assert view.vector_blocks(owner, slot, 5, 8) == [second]
            assert view.vector_blocks(owner, slot, 4, 5) == [first, second]
            assert view.vector_blocks(owner, slot, 0, 99) == [first, second, third]
        store.write(lambda tx: tx.drop_block(owner, slot, 5))
        store.write(lambda tx: tx.drop_words(owner))
        with store.snapshot() as view:
            assert list(view.blocks(owner, slot)) == [first, third]

    def test_vectors_leave_blocks(self, store: Store) -> None:
        """A vector that is removed or replaced goes out of its block before the write returns."""
        from muniment.segment import matrix

        slot = slot_of(store, MODEL)
        vectors = [(seq, b"%d" % seq * 4) for seq in range(1, 5)]
        owner = stored(store, *(sample(vector=(slot, vector)) for _, vector in vectors))
        content = matrix.encode(matrix.from_rows(vectors))
        store.write(partial(_pack, block=Block(1, owner.version, b"words")))
        store.write(partial(_pack, block=Block(1, owner.version, content, slot)))
        store.write(lambda tx: tx.hold(owner, slot, [(seq, b"") for seq, _ in vectors]))
        with store.snapshot() as view:
            assert view.own_vectors(owner, slot) == []
            assert view.packed_vectors(owner, slot) == dict.fromkeys(range(1, 5), True)
            assert view.count_pending(owner, slot) == 0
        removed(store, everything(store)[1].memory_id)
        assert _held(store, slot) == [vectors[0], *vectors[2:]]
        store.write(lambda tx: tx.set_vector(tx.bump(owner), 3, slot, b"3+3+"))
        assert _held(store, slot) == [vectors[0], vectors[3]]
        assert _block(store) is None
        with store.snapshot() as view:
            assert view.own_vectors(owner, slot) == [(3, b"3+3+")]
        store.write(lambda tx: tx.archive(tx.bump(owner), [1, 4]))
        assert _held(store, slot) == []

    def test_removal_drops_blocks(self, store: Store) -> None:
        """What is removed or archived takes the block that may hold it along."""
        owner = stored(store, sample(), sample(), sample())
        block = Block(1, owner.version, b"packed")
        store.write(partial(_pack, block=block))
        stored(store, sample())
        assert _block(store) == block
        removed(store, everything(store)[0].memory_id)
        assert _block(store) is None
        store.write(partial(_pack, block=block))
        store.write(lambda tx: tx.archive(tx.bump(tx.ensure_owner(SCOPE, NOW)), [2]))
        assert _block(store) is None

    def test_vectors_have_order(self, store: Store) -> None:
        """The vectors that rows hold of one model come by seq, none of another."""
        slot, other = slot_of(store, MODEL), slot_of(store, EmbeddingModel("model", "2", 1))
        new = [(slot, b"1111"), (other, b"2222"), None, (slot, b"4444")]
        owner = stored(store, *(sample(vector=vector) for vector in new))
        with store.snapshot() as view:
            assert view.own_vectors(owner, slot) == [(1, b"1111"), (4, b"4444")]
            assert view.own_vectors(owner, other) == [(2, b"2222")]

    def test_snapshots_stand_still(self, store: Store) -> None:
        """A snapshot that was opened before a write does not see it, even if it never read."""
        before = stored(store, sample())
        writer = Thread(target=stored, args=(store, sample()))
        with store.snapshot() as view:
            writer.start()
            if self.concurrent:
                writer.join()
            assert view.owner(SCOPE) == before
            assert view.counts(before, NOW).active == 1
        writer.join()
        assert len(everything(store)) == 2

    def test_snapshots_agree(self, store: Store) -> None:
        """Version, delta and texts of one snapshot belong together while others write."""
        stored(store, sample(text="1"))
        writers = [Thread(target=_write_numbered, args=(store, 10)) for _ in range(2)]
        for writer in writers:
            writer.start()
        for _ in range(20):
            with store.snapshot() as view:
                owner = view.owner(SCOPE)
                assert owner is not None
                rows = view.index_changes(owner, 0, None).rows
                texts = [record.text for record in view.records(owner, range(1, 99), NOW)]
            assert len(rows) == len(texts) == owner.version
            assert texts == [str(number + 1) for number in range(owner.version)]
        for writer in writers:
            writer.join()
        assert len(everything(store)) == 21

    def test_work_returns_result(self, store: Store) -> None:
        """What the work returns is what the caller gets; it sees its own writes."""

        def work(tx: Transaction) -> int:
            return len(tx.page(put(tx, SCOPE, sample(), sample()), 99, 99, NOW))

        assert store.write(work) == 2

    def test_unfinished_work_hides(self, store: Store) -> None:
        """Until the commit nobody else sees a write."""
        stored(store, sample())
        seen: list[int] = []
        reader = Thread(target=lambda: seen.append(len(everything(store))))

        def work(tx: Transaction) -> None:
            put(tx, SCOPE, sample())
            reader.start()
            if self.concurrent:
                reader.join()

        store.write(work)
        reader.join()
        assert seen == [1 if self.concurrent else 2]
        assert len(everything(store)) == 2

    def test_failed_work_vanishes(self, store: Store) -> None:
        """When the work raises, its error comes out as it is and nothing of it is kept."""
        before = stored(store, sample())

        def work(tx: Transaction) -> None:
            owner = put(tx, SCOPE, sample(source_id="again"))
            tx.remove(owner, tx.page(owner, 99, 99, NOW)[-1])
            tx.ensure_slot(MODEL)
            raise LookupError("mine")

        with raises(LookupError):
            store.write(work)
        with store.snapshot() as view:
            assert view.owner(SCOPE) == before
            assert view.slot(MODEL) is None
            assert view.filed(before, "again", NOW) is None
            assert len(view.audit(before, 0, 99)) == view.counts(before, NOW).active == 1

    def test_neighbours_are_kept(self, store: Store) -> None:
        """Callers that fail do not undo callers that succeed beside them."""
        errors: list[BaseException] = []

        def act(number: int) -> None:
            def work(tx: Transaction) -> None:
                put(tx, SCOPE, sample(source_id=str(number)))
                if number % 2:
                    raise LookupError

            try:
                store.write(work)
            except LookupError as error:
                errors.append(error)

        _together([Thread(target=act, args=(number,)) for number in range(16)])
        kept = {record.source.source_id for record in everything(store)}
        assert kept == {str(number) for number in range(0, 16, 2)}
        assert len(errors) == 8

    def test_interrupts_undo_work(self, store: Store) -> None:
        """An interrupt inside a work undoes it, and the next write works as ever."""
        before = stored(store, sample())

        def work(tx: Transaction) -> None:
            put(tx, SCOPE, sample())
            raise KeyboardInterrupt

        with raises(KeyboardInterrupt):
            store.write(work)
        assert state(store) == before
        assert stored(store, sample()).version == before.version + 1


def _pack(tx: Transaction, block: Block) -> None:
    tx.put_block(tx.ensure_owner(SCOPE, NOW), block)


def _block(store: Store) -> Block | None:
    owner = state(store)
    assert owner is not None
    with store.snapshot() as view:
        return next(iter(view.blocks(owner, None)), None)


def _held(store: Store, slot: int) -> list[tuple[int, bytes]]:
    """Return seq and vector of all that lie in blocks of a model."""
    from muniment.segment import matrix

    owner = state(store)
    assert owner is not None
    with store.snapshot() as view:
        blocks = view.vector_blocks(owner, slot, 0, 99)
    return [pair for block in blocks for pair in matrix.decode(block.content).stored()]


def _together(threads: list[Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _write_numbered(store: Store, times: int) -> None:
    def work(tx: Transaction) -> None:
        version = tx.ensure_owner(SCOPE, NOW).version
        put(tx, SCOPE, sample(text=str(version + 1)))

    for _ in range(times):
        store.write(work)


def _follow(store: Store, steps: list[tuple[str, int]], every: int) -> None:
    """Do the steps, keep a copy up to date by deltas and compare it with the whole."""
    slot = slot_of(store, MODEL)
    since = stored(store, sample()).version
    copy = {row.seq: row for row in changes(store, 0, slot).rows}
    for number, (step, choice) in enumerate(steps, start=1):
        store.write(partial(_do, step=step, choice=choice, slot=slot))
        if number % every == 0 or number == len(steps):
            rows, gone = changes(store, since, slot)
            for seq in gone:
                copy.pop(seq, None)
            copy.update({row.seq: row for row in rows})
            owner = state(store)
            assert owner is not None
            since = owner.version
    assert sorted(copy.values()) == changes(store, 0, slot).rows


def _do(tx: Transaction, step: str, choice: int, slot: int) -> OwnerState:
    """Insert, supersede, remove, or give a vector to one of the records there are."""
    owner = tx.bump(tx.ensure_owner(SCOPE, NOW))
    records = tx.page(owner, 2**62, 10, NOW)
    chosen = records[choice % len(records)] if records else None
    if step == "i" or chosen is None:
        tx.insert(owner, sample())
    elif step == "s":
        new = sample()
        tx.supersede(owner, chosen.memory_id, new.memory_id, NOW)
        tx.insert(owner, new)
    elif step == "r":
        tx.remove(owner, chosen)
    else:
        tx.set_vector(owner, chosen.seq, slot, b"1234")
    return owner
