"""What a store does with scopes, versions and models."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from muniment.ports import EmbeddingModel, OwnerState, Store, Transaction
from muniment.scope import Scope
from muniment.testing.samples import (
    NOW,
    SCOPE,
    everything,
    found,
    grave,
    put,
    raises,
    sample,
    slot_of,
    state,
    stored,
)

if TYPE_CHECKING:
    from muniment.records import Record

LOOKALIKES = (
    "a",
    "A",
    " a",
    "a ",
    "a\u200b",
    "a%",
    "a_",
    "%",
    "_",
    "a*",
    "a'--",
    'a"',
    "a/b",
    "a|b",
    "a:b",
    "ab",
    "abc",
    "\u00e9",
    "e\u0301",
    "\u06cc",
    "\u064a",
    "\uff41",
    "ß",
    "ss",
    "\U0001f600",
    "\U0001f600\U0001f3fd",
    "NULL",
    "0",
    "00",
)


class OwnersContract:
    """Scopes are told apart byte for byte, and each has a version of its own."""

    def test_strangers_find_nothing(self, store: Store) -> None:
        """A scope that was never written to is None and has no records."""
        stored(store, sample())
        assert state(store, Scope("acme", "user_42", "other")) is None
        assert everything(store, Scope("acme", "other", "helper")) == []

    def test_owners_are_stable(self, store: Store) -> None:
        """Ensuring a scope a second time gives the state it has, not a new one."""
        first = store.write(lambda tx: tx.ensure_owner(SCOPE, NOW))
        second = store.write(lambda tx: tx.ensure_owner(SCOPE, NOW + 1))
        assert first == second == state(store)
        assert first.owner == SCOPE

    def test_lookalikes_stay_apart(self, store: Store) -> None:
        """Case, spaces, Unicode forms, wildcards and quotes never make two scopes one."""
        for place in ("tenant_id", "user_id", "agent_id"):
            scopes = [Scope(**SCOPE.to_dict() | {place: part}) for part in LOOKALIKES]
            _each_sees_its_own(store, scopes)

    def test_parts_never_join(self, store: Store) -> None:
        """The same letters cut elsewhere are another scope, whatever the delimiter."""
        cuts = [("a", "b|c", "d"), ("a|b", "c", "d"), ("a", "b", "c|d"), ("ab", "c", "d")]
        cuts += [("a", "bc", "d"), ("a", "b", "cd"), ("a:b", "c", "d"), ("a", "b:c", "d")]
        cuts += [("b", "a", "d"), ("a", "d", "b")]
        _each_sees_its_own(store, [Scope(*parts) for parts in cuts])

    def test_scopes_never_mix(self, store: Store) -> None:
        """Any two different scopes have different records and different numbers."""
        from hypothesis import given, settings
        from hypothesis import strategies as st

        letters = st.characters(exclude_categories=("Cs", "Cc"))
        part = st.text(letters, min_size=1, max_size=8).filter(lambda p: p.strip() and p != "*")
        scopes = st.lists(st.builds(Scope, part, part, part), min_size=2, max_size=4, unique=True)

        @settings(max_examples=25, deadline=None)
        @given(scopes)
        def check(drawn: list[Scope]) -> None:
            _each_sees_its_own(store, drawn)

        check()

    def test_numbers_are_distinct(self, store: Store) -> None:
        """Within a tenant no two scopes share a number, however they come."""
        scopes = [Scope(tenant, f"user_{n}", "helper") for n in range(5) for tenant in "ab"]
        owners = store.write(lambda tx: [tx.ensure_owner(scope, NOW) for scope in scopes])
        numbers = {(owner.owner.tenant_id, owner.owner_no) for owner in owners}
        assert len(numbers) == len(scopes)
        assert len({owner.incarnation for owner in owners}) == len(scopes)

    def test_scopes_are_listed(self, store: Store) -> None:
        """Maintenance sees every scope with its present state."""
        scopes = {Scope("acme", f"user_{n}", "helper") for n in range(3)}
        states = {stored(store, sample(), scope=scope) for scope in scopes}
        with store.snapshot() as view:
            assert set(view.owners()) == states

    def test_foreign_ids_vanish(self, store: Store) -> None:
        """What another scope wrote is found by no lookup, not even by its exact id."""
        theirs = sample(field="seat", field_key="seat")
        stored(store, theirs)
        mine = stored(store, scope=Scope("acme", "user_43", "helper"))
        with store.snapshot() as view:
            assert view.record(mine, theirs.memory_id, NOW) is None
            assert view.filed(mine, theirs.source_id, NOW) is None
            assert view.active_field(mine, theirs.kind, "seat", NOW) is None
            assert view.records(mine, [1], NOW) == view.page(mine, 99, 99, NOW) == []
            assert view.facts(mine) == []
            assert view.audit(mine, 0, 99) == []
            assert view.index_changes(mine, 0, None) == ([], [])
            assert not any(view.traces(mine, 1))
            assert not any(view.counts(mine, NOW).to_dict().values())

    def test_foreign_writes_miss(self, store: Store) -> None:
        """A write under one scope leaves a record of another one as it is."""
        theirs = sample()
        stored(store, theirs)
        before = found(store, theirs.memory_id)
        other = Scope("acme", "user_43", "helper")

        def work(tx: Transaction) -> None:
            mine = tx.bump(tx.ensure_owner(other, NOW))
            tx.supersede(mine, theirs.memory_id, "mem_mine", NOW)
            tx.set_vector(mine, 1, tx.ensure_slot(EmbeddingModel("m", "1", 1)), b"\0\0\0\0")
            tx.remove(mine, _seen(tx, theirs.memory_id))

        store.write(work)
        assert found(store, theirs.memory_id) == before

    def test_graves_stay_inside(self, store: Store) -> None:
        """A tombstone of one scope says nothing about another one."""

        def work(tx: Transaction) -> OwnerState:
            tx.bury(tx.ensure_owner(SCOPE, NOW), grave())
            return tx.ensure_owner(Scope("acme", "user_43", "helper"), NOW)

        other = store.write(work)
        with store.snapshot() as view:
            assert view.buried_source(other, b"source") is None
            assert view.buried_value(other, b"value") == frozenset()

    def test_bump_adds_one(self, store: Store) -> None:
        """Each bump moves the version by one, and the new version is what snapshots see."""
        versions = [stored(store).version for _ in range(3)]
        now = state(store)
        assert versions == [1, 2, 3]
        assert now is not None
        assert now.version == 3

    def test_versions_move_alone(self, store: Store) -> None:
        """A write in one scope does not move the version of another one."""
        before = stored(store, sample())
        stored(store, sample(), scope=Scope("acme", "user_43", "helper"))
        assert state(store) == before

    def test_audit_keeps_version(self, store: Store) -> None:
        """An audit entry alone does not move the version, so segments stay as they are."""
        before = stored(store, sample())
        store.write(
            lambda tx: tx.append_audit(
                before, at=NOW, actor="agent", action="used", memory_ids=["mem_1"]
            )
        )
        assert state(store) == before

    def test_failed_bump_vanishes(self, store: Store) -> None:
        """A version that was not committed is given out again."""
        before = stored(store, sample())

        def work(tx: Transaction) -> None:
            tx.bump(before)
            raise LookupError

        with raises(LookupError):
            store.write(work)
        assert state(store) == before
        assert stored(store).version == before.version + 1

    def test_slots_tell_models(self, store: Store) -> None:
        """Name, version and dimensions each make another model with a slot of its own."""
        models = [
            EmbeddingModel("one", "1", 4),
            EmbeddingModel("two", "1", 4),
            EmbeddingModel("one", "2", 4),
            EmbeddingModel("one", "1", 8),
        ]
        slots = [slot_of(store, model) for model in models]
        assert len(set(slots)) == len(models)
        with store.snapshot() as view:
            assert [view.slot(model) for model in models] == slots

    def test_slots_are_stable(self, store: Store) -> None:
        """A model keeps its slot; one that was never stored has none."""
        model = EmbeddingModel("one", "1", 4)
        first, second = (slot_of(store, model) for _ in range(2))
        with store.snapshot() as view:
            assert first == second == view.slot(model)
            assert view.slot(EmbeddingModel("unknown", "1", 4)) is None


def _seen(tx: Transaction, memory_id: str) -> Record:
    owner = tx.ensure_owner(SCOPE, NOW)
    record = tx.record(owner, memory_id, NOW)
    assert record is not None
    return record


def _each_sees_its_own(store: Store, scopes: list[Scope]) -> None:
    """Write one record to each of different scopes and expect each to find only its own."""
    assert all(one != other for one, other in combinations(scopes, 2))
    before = {scope: len(everything(store, scope)) for scope in scopes}
    written = {scope: sample(text=repr(scope)) for scope in scopes}

    def work(tx: Transaction) -> None:
        for scope, record in written.items():
            put(tx, scope, record)

    store.write(work)
    for scope, record in written.items():
        records = everything(store, scope)
        assert len(records) == before[scope] + 1
        assert records[-1].memory_id == record.memory_id
        assert records[-1].scope == scope
        assert {one.text for one in records} == {repr(scope)}
