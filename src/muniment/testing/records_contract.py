"""What a store does with records, words, vectors and tombstones."""

from __future__ import annotations

from muniment.clock import from_instant, to_instant
from muniment.errors import StoreError
from muniment.ports import EmbeddingModel, NewRecord, Store, Traces, Transaction
from muniment.records import Authority, EmbeddingState, Record, Source, Status, WritePath
from muniment.results import Counts
from muniment.scope import Scope
from muniment.testing.samples import (
    NOW,
    SCOPE,
    changes,
    everything,
    found,
    grave,
    put,
    raises,
    removed,
    replace,
    sample,
    slot_of,
    state,
    stored,
)

MODEL = EmbeddingModel("model", "1", 2)
VECTOR = b"\x00\x00\x80?\x00\x00\x00\x00"
EARLIEST = to_instant("earliest", "0001-01-01T00:00:00Z")
LATEST = to_instant("latest", "9999-12-31T23:59:59.999999Z")


class RecordsContract:
    """A record comes back as it was written, and its parts come and go together."""

    def test_every_column_returns(self, store: Store) -> None:
        """A record with everything set is read back equal in every column."""
        new = sample(
            kind="verified_fact",
            text="ترجیح: راهرو — naïve 🪑",
            field="seat",
            field_key="seat",
            value={"list": [1, 2.5, "سه", None, True], "big": 2**80},
            path=WritePath.IMPORT,
            authority=Authority.SYSTEM_OF_RECORD,
            actor="operator",
            created_at=NOW + 1,
            valid_from=EARLIEST,
            valid_until=LATEST,
            expires_at=LATEST - 1,
            metadata={"tag": ["a", "b"], "n": 1},
            supersedes="mem_before",
            embedding=EmbeddingState.PENDING,
        )
        stored(store, new)
        assert found(store, new.memory_id) == _expected(new, seq=1)

    def test_empty_columns_return(self, store: Store) -> None:
        """A record with nothing optional set is read back with None, not with defaults."""
        new = sample()
        stored(store, new)
        record = found(store, new.memory_id)
        assert record == _expected(new, seq=1)
        assert record is not None
        assert (record.field, record.value, record.valid_from) == (None, None, None)
        assert (record.valid_until, record.expires_at, record.supersedes) == (None, None, None)

    def test_values_round_trip(self, store: Store) -> None:
        """Any JSON value and any text come back equal and of the same type."""
        from hypothesis import given, settings
        from hypothesis import strategies as st

        text = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
        leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | text
        json = st.recursive(
            leaves, lambda inner: st.lists(inner) | st.dictionaries(text, inner), max_leaves=8
        )

        @settings(max_examples=50, deadline=None)
        @given(json, st.dictionaries(text, json, max_size=3), text)
        def check(value: object, metadata: dict[str, object], said: str) -> None:
            new = sample(value=value, metadata=metadata, text=said, actor=said, field=said)
            stored(store, new)
            record = found(store, new.memory_id)
            assert record is not None
            assert repr((record.value, record.text)) == repr((_sorted(value), said))
            assert repr(record.metadata) == repr(_sorted(metadata))
            assert (record.actor, record.field) == (said, said)

        check()

    def test_words_return_whole(self, store: Store) -> None:
        """Word lists are opaque bytes: zeros, nothing at all and long ones come back equal."""
        lists = [b"", b"\x00" * 5, bytes(range(255)), b"\xff" * 50_000]
        stored(store, *(sample(words=words) for words in lists))
        assert [row.words for row in changes(store, 0).rows] == lists

    def test_vectors_return_whole(self, store: Store) -> None:
        """A vector comes back bit for bit, and only for the model that made it."""
        slot = slot_of(store, MODEL)
        other = slot_of(store, EmbeddingModel("model", "2", 2))
        stored(store, sample(vector=(slot, VECTOR)), sample())
        assert [row.vector for row in changes(store, 0, slot).rows] == [VECTOR, None]
        assert [row.vector for row in changes(store, 0, other).rows] == [None, None]
        assert [row.vector for row in changes(store, 0, None).rows] == [None, None]

    def test_records_keep_order(self, store: Store) -> None:
        """Records are numbered in the order of writing and returned in the order asked for."""
        owner = stored(store, *(sample(text=text) for text in "abc"))
        with store.snapshot() as view:
            chosen = view.records(owner, [3, 99, 1], NOW)
        assert [(record.seq, record.text) for record in chosen] == [(3, "c"), (1, "a")]

    def test_source_is_unique(self, store: Store) -> None:
        """A second record under a source_id is refused, and the first one stays."""
        first, second = sample(source_id="s"), sample(source_id="s")
        stored(store, first)
        with raises(StoreError):
            stored(store, second)
        assert [record.memory_id for record in everything(store)] == [first.memory_id]

    def test_sources_repeat_elsewhere(self, store: Store) -> None:
        """The same source_id in another scope, or in another spelling, is another source."""
        stored(store, *(sample(source_id=one) for one in ("s", "S", "s ", "é", "e\u0301")))
        stored(store, sample(source_id="s"), scope=Scope("acme", "user_43", "helper"))
        assert len(everything(store)) == 5

    def test_ids_are_unique(self, store: Store) -> None:
        """No two records of a tenant share an id, not even in two scopes."""
        new = sample()
        stored(store, new)
        with raises(StoreError):
            stored(store, sample(memory_id=new.memory_id), scope=Scope("acme", "b", "c"))

    def test_field_has_one(self, store: Store) -> None:
        """A field that allows one active record refuses a second; other fields do not care."""
        first = sample(field_key="seat")
        stored(store, first, sample(field_key="meal"), sample(field_key="seat", kind="context"))
        with raises(StoreError):
            stored(store, sample(field_key="seat"))
        stored(store, sample(field="seat"), sample(field="seat"))
        owner = state(store)
        assert owner is not None
        with store.snapshot() as view:
            active = view.active_field(owner, first.kind, "seat", NOW)
            assert view.active_field(owner, first.kind, "sea", NOW) is None
        assert active is not None
        assert active.memory_id == first.memory_id

    def test_links_go_both(self, store: Store) -> None:
        """A supersession frees the field, marks the old record and links both ways."""
        old = sample(field_key="seat")
        new = sample(field_key="seat", supersedes=old.memory_id)
        stored(store, old)
        owner = replace(store, old.memory_id, new)
        before, after = everything(store)
        assert (before.status, before.superseded_by) == (Status.SUPERSEDED, new.memory_id)
        assert (after.status, after.supersedes) == (Status.ACTIVE, old.memory_id)
        with store.snapshot() as view:
            assert view.active_field(owner, new.kind, "seat", NOW) == after

    def test_filed_knows_state(self, store: Store) -> None:
        """A source_id leads to its record's id, digest and state, also once it is superseded."""
        old = sample(source_id="s", payload_digest=b"\x00d", embedding=EmbeddingState.PENDING)
        stored(store, old)
        owner = replace(store, old.memory_id, sample())
        with store.snapshot() as view:
            filed = view.filed(owner, "s", NOW)
            assert view.filed(owner, "unknown", NOW) is None
        assert filed == (old.memory_id, Status.SUPERSEDED, b"\x00d", EmbeddingState.PENDING)

    def test_pages_go_backwards(self, store: Store) -> None:
        """Pages are newest first, end where they should and hold every status."""
        new = [sample() for _ in range(5)]
        stored(store, *new)
        owner = replace(store, new[4].memory_id, sample(expires_at=NOW))
        with store.snapshot() as view:
            pages = [view.page(owner, before, 2, NOW) for before in (99, 5, 3, 1)]
        assert [[record.seq for record in page] for page in pages] == [[6, 5], [4, 3], [2, 1], []]
        assert [record.status for record in pages[0]] == [Status.EXPIRED, Status.SUPERSEDED]

    def test_expiry_is_exact(self, store: Store) -> None:
        """A record is active until the microsecond before its expiry, in every kind of read."""
        new = sample(expires_at=NOW, field_key="seat")
        owner = stored(store, new)
        for now, status in (
            (NOW - 1, Status.ACTIVE),
            (NOW, Status.EXPIRED),
            (NOW + 1, Status.EXPIRED),
        ):
            with store.snapshot() as view:
                seen = [
                    view.record(owner, new.memory_id, now),
                    view.active_field(owner, new.kind, "seat", now),
                    *view.records(owner, [1], now),
                    *view.page(owner, 99, 9, now),
                ]
            assert [record and record.status for record in seen] == [status] * 4

    def test_counts_follow_expiry(self, store: Store) -> None:
        """Counts move from active to expired at the very microsecond."""
        owner = stored(store, sample(expires_at=NOW), sample())
        with store.snapshot() as view:
            assert view.counts(owner, NOW - 1) == Counts(active=2)
            assert view.counts(owner, NOW) == Counts(active=1, expired=1)

    def test_counts_each_sort(self, store: Store) -> None:
        """Superseded, pending and buried are counted apart; nothing is counted as zero."""
        owner = stored(store)
        with store.snapshot() as view:
            assert view.counts(owner, NOW) == Counts()
        old = sample(embedding=EmbeddingState.PENDING)
        stored(store, old, sample(embedding=EmbeddingState.PENDING))
        owner = replace(store, old.memory_id, sample())
        for _ in range(3):
            store.write(lambda tx: tx.bury(owner, grave()))
        with store.snapshot() as view:
            assert view.counts(owner, NOW) == Counts(2, 1, 0, 1, 3)

    def test_facts_are_complete(self, store: Store) -> None:
        """Filters see every active record, with times as instants and JSON as values."""
        old = sample()
        new = sample(field="f", value=["v"], valid_from=1, metadata={"n": {"deep": 2**70}})
        stored(store, old)
        owner = replace(store, old.memory_id, new)
        with store.snapshot() as view:
            ((seq, facts),) = view.facts(owner)
        assert seq == 2
        assert facts == {
            "kind": new.kind,
            "field": "f",
            "value": ["v"],
            "source_id": new.source_id,
            "actor": "subject",
            "created_at": NOW,
            "valid_from": 1,
            "valid_until": None,
            "expires_at": None,
            "metadata": {"n": {"deep": 2**70}},
        }

    def test_tombstones_match(self, store: Store) -> None:
        """A tombstone is found by its source and by its value, and by nothing else."""
        owner = stored(store)
        store.write(lambda tx: tx.bury(owner, grave(source_digest=b"s\x00", value_digest=b"v")))
        with store.snapshot() as view:
            assert view.buried_source(owner, b"s\x00") == "forgotten"
            assert view.buried_value(owner, b"v") == {"forgotten"}
            assert view.buried_source(owner, b"s") is None
            assert view.buried_value(owner, b"s\x00") == frozenset()

    def test_sources_found_together(self, store: Store) -> None:
        """Of many source_ids those are found that the scope has records of, and no others."""
        owner = stored(store, *(sample(source_id=one) for one in ("a", 'naïve "b"', "سه")))
        other = stored(store, sample(source_id="theirs"), scope=Scope("acme", "user_43", "helper"))
        asked = ["سه", "A", "theirs", 'naïve "b"', "a", "a", "new"]
        with store.snapshot() as view:
            assert view.filed_among(owner, asked) == {"a", 'naïve "b"', "سه"}
            assert view.filed_among(owner, []) == frozenset()
            assert [view.filed_among(owner, [one]) for one in ("a", "A")] == [{"a"}, frozenset()]
            assert view.filed_among(other, asked) == {"theirs"}

    def test_precedents_match(self, store: Store) -> None:
        """A record and a tombstone stand before a statement; what is another scope's does not."""
        owner = stored(store, sample(source_id="a"))
        other = stored(store, scope=Scope("acme", "user_43", "helper"))
        store.write(lambda tx: tx.bury(owner, grave(source_digest=b"s", value_digest=b"v")))
        more = [bytes([number]) for number in range(5)]
        cases = {
            ("a", b"new", b"new"): True,
            ("new", b"s", b"new"): True,
            ("new", b"new", b"v"): True,
            ("new", b"v", b"s"): False,
            ("A", b"S", b"V"): False,
        }
        with store.snapshot() as view:
            for (source_id, source, value), is_there in cases.items():
                for values in ([value], [value, *more], [*more, value]):
                    assert view.has_precedent(owner, source_id, source, values) is is_there
                    assert not view.has_precedent(other, source_id, source, values)

    def test_removal_leaves_nothing(self, store: Store) -> None:
        """Removing a record takes its words and the vectors of every model, and says so."""
        slots = [slot_of(store, EmbeddingModel("m", version, 2)) for version in "ab"]
        new, neighbour = sample(vector=(slots[0], VECTOR)), sample(vector=(slots[0], VECTOR))
        owner = stored(store, new, neighbour)
        store.write(lambda tx: tx.set_vector(owner, 1, slots[1], VECTOR))
        record = found(store, new.memory_id)
        assert record is not None
        assert store.write(lambda tx: tx.remove(tx.bump(owner), record)) == Traces(1, 1, 2)
        with store.snapshot() as view:
            assert view.traces(owner, 1) == Traces(0, 0, 0)
            assert view.traces(owner, 2) == Traces(1, 1, 1)
            assert view.record(owner, new.memory_id, NOW) is None
            assert view.filed(owner, new.source_id, NOW) is None

    def test_removed_numbers_rest(self, store: Store) -> None:
        """The place of a removed record is never given to another one."""
        new = [sample(), sample()]
        stored(store, *new)
        removed(store, new[1].memory_id)
        stored(store, sample())
        assert [record.seq for record in everything(store)] == [1, 3]

    def test_pending_lists_waiting(self, store: Store) -> None:
        """What has no vector of the model is listed in order and in pages, active ones only."""
        slot = slot_of(store, MODEL)
        new = [sample(text=text, embedding=EmbeddingState.PENDING) for text in "abcd"]
        stored(store, *new, sample(vector=(slot, VECTOR)))
        owner = replace(store, new[1].memory_id, sample(vector=(slot, VECTOR)))
        with store.snapshot() as view:
            first = view.pending(owner, slot, 0, 2)
            rest = view.pending(owner, slot, first[-1].seq, 9)
            assert view.count_pending(owner, slot) == 3
        assert [one[:3] for one in first] == [
            (1, new[0].memory_id, "a"),
            (3, new[2].memory_id, "c"),
        ]
        assert [one[:3] for one in rest] == [(4, new[3].memory_id, "d")]

    def test_vectors_end_waiting(self, store: Store) -> None:
        """A vector that comes late makes the record ready and replaces an earlier one."""
        slot = slot_of(store, MODEL)
        new = sample(embedding=EmbeddingState.PENDING)
        owner = stored(store, new)
        store.write(lambda tx: tx.set_vector(owner, 1, slot, b"\x00" * 8))
        store.write(lambda tx: tx.set_vector(owner, 1, slot, VECTOR))
        record = found(store, new.memory_id)
        assert record is not None
        assert record.embedding is EmbeddingState.READY
        assert changes(store, 0, slot).rows[0].vector == VECTOR
        with store.snapshot() as view:
            assert view.count_pending(owner, slot) == 0

    def test_late_vectors_vanish(self, store: Store) -> None:
        """A vector for a record that is gone is dropped without an error or a trace."""
        slot = slot_of(store, MODEL)
        new = sample()
        stored(store, new)
        owner = removed(store, new.memory_id)
        store.write(lambda tx: tx.set_vector(owner, 1, slot, VECTOR))
        with store.snapshot() as view:
            assert view.traces(owner, 1) == Traces(0, 0, 0)

    def test_replaced_vectors_go(self, store: Store) -> None:
        """Vectors of other models go only where the present model has one."""
        old, present = store.write(
            lambda tx: (tx.ensure_slot(MODEL), tx.ensure_slot(EmbeddingModel("next", "1", 2)))
        )

        def work(tx: Transaction) -> None:
            owner = put(tx, SCOPE, sample(vector=(old, VECTOR)), sample(vector=(old, VECTOR)))
            tx.set_vector(owner, 1, present, VECTOR)
            tx.drop_replaced_vectors(owner, present)

        store.write(work)
        assert [row.vector for row in changes(store, 0, old).rows] == [None, VECTOR]
        assert [row.vector for row in changes(store, 0, present).rows] == [VECTOR, None]


def _expected(new: NewRecord, seq: int) -> Record:
    """Return the record that should come back for a new one in the sample scope."""
    times = (new.valid_from, new.valid_until, new.expires_at)
    valid_from, valid_until, expires_at = (None if at is None else from_instant(at) for at in times)
    return Record(
        memory_id=new.memory_id,
        seq=seq,
        scope=SCOPE,
        kind=new.kind,
        text=new.text,
        field=new.field,
        value=new.value,
        source=Source(new.source_id, new.path),
        approved_by=new.approved_by,
        evidence=new.evidence,
        reference=new.reference,
        follows=new.follows,
        authority=new.authority,
        actor=new.actor,
        status=Status.ACTIVE,
        created_at=from_instant(new.created_at),
        valid_from=valid_from,
        valid_until=valid_until,
        expires_at=expires_at,
        metadata=new.metadata,
        supersedes=new.supersedes,
        superseded_by=None,
        embedding=new.embedding,
    )


def _sorted(value: object) -> object:
    """Return a JSON value with its mappings in order of their names."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
