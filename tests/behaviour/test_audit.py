"""The audit trail, and the rule that no text appears where only ids and reasons belong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import BatchError, Memory, MunimentError, ProviderError, ScopedMemory, Statement
from muniment.clock import to_instant
from muniment.records import AuditEntry, plain
from muniment.storage.base import audit_digest
from muniment.testing import FakeEmbedder, FakeModel, FrozenClock
from tests.behaviour.conftest import LEXICAL, House, said, same_scope


def recomputed(memory: Memory, me: ScopedMemory, entries: tuple[AuditEntry, ...]) -> list[str]:
    """Compute the links of a chain from what its entries say."""
    store = memory._store
    with store.snapshot() as view:
        owner = view.owner(me.scope)
    assert owner is not None
    links, previous = [], b""
    for entry in entries:
        previous = audit_digest(
            store.keys.audit(me.scope),
            previous,
            tenant_id=me.scope.tenant_id,
            owner_no=owner.owner_no,
            number=entry.number,
            at=to_instant("at", entry.at),
            actor=entry.actor,
            action=entry.action,
            memory_ids=entry.memory_ids,
            reason=entry.reason,
        )
        links.append(previous.hex())
    return links


@pytest.mark.promise("AUD-1")
@pytest.mark.parametrize(
    ("action", "ids", "reason", "digest"),
    [
        ("remember", ["mem_1", "mem_2"], None, "d51ce781df769ef711f0cab9810f292c"),
        ("refused", [], "a\\b\n", "ea5f4341fbec6c37b65c2575592d4221"),
    ],
)
def test_a_link_that_was_stored_still_holds(
    action: str, ids: list[str], reason: str | None, digest: str
) -> None:
    link = audit_digest(
        b"k" * 32,
        b"p" * 16,
        tenant_id='ac"me',
        owner_no=7,
        number=3,
        at=1_700_000_000_000_000,
        actor="مریم",
        action=action,
        memory_ids=ids,
        reason=reason,
    )
    assert link.hex() == digest


@LEXICAL
class TestTheTrail:
    @pytest.mark.promise("AUD-1")
    def test_every_change_has_an_entry_in_order(
        self, house: House, me: ScopedMemory, clock: FrozenClock
    ) -> None:
        rome = said(me, "Lives in Rome.", field="city", value="Rome").memory_id
        clock.advance(seconds=1)
        oslo = said(me, "Lives in Oslo.", field="city", value="Oslo").memory_id
        (tea,) = me.import_many([Statement("preference", "Likes tea.", "i1")])
        same_scope(house.open(model=FakeModel("Tea.")), me).answer("tea")
        receipt = me.forget(rome)
        entries = me.audit()
        assert [
            (one.number, one.actor, one.action, one.memory_ids, one.reason) for one in entries
        ] == [
            (1, "subject", "remember", (rome,), None),
            (2, "subject", "remember", (oslo, rome), "superseded"),
            (3, "operator", "import", (tea.memory_id,), None),
            (4, "agent", "used", (tea.memory_id,), "answer"),
            (5, "subject", "forget", (rome,), f"record {receipt.receipt_id}"),
        ]
        assert entries[0].at == datetime(2030, 1, 1, tzinfo=UTC)
        assert all(earlier.at <= later.at for earlier, later in pairwise(entries))

    @pytest.mark.promise("AUD-1")
    def test_the_chain_can_be_recomputed_and_outlives_its_records(
        self, house: House, memory: Memory, me: ScopedMemory
    ) -> None:
        kept = [said(me, f"Statement {number}.").memory_id for number in range(3)]
        for memory_id in kept:
            me.forget(memory_id)
        entries = same_scope(house.open(), me).audit()
        assert len(entries) == 6
        assert [entry.digest for entry in entries] == recomputed(memory, me, entries)

    @pytest.mark.promise("AUD-1")
    def test_a_changed_dropped_or_moved_entry_breaks_the_chain(
        self, memory: Memory, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        for scoped in (me, other_user):
            for number in range(3):
                said(scoped, f"Statement {number}.")
        one, two, three = me.audit()
        foreign = other_user.audit()
        for forged in ((two, three), (two, one, three), (one, three), (one, foreign[1], three)):
            assert [entry.digest for entry in forged] != recomputed(memory, me, forged)
        assert {entry.digest for entry in me.audit()}.isdisjoint(one.digest for one in foreign)

    @pytest.mark.promise("AUD-1")
    def test_what_did_not_happen_has_no_entry(self, me: ScopedMemory) -> None:
        said(me, "Likes tea.", source_id="s1")
        for attempt in (
            lambda: said(me, "Likes milk.", source_id="s1"),
            lambda: said(me, "hid\u200bden"),
            lambda: me.forget("mem_0"),
            lambda: me.import_many([Statement("preference", "", "i1")]),
        ):
            with pytest.raises(MunimentError):
                attempt()
        done = [entry.action for entry in me.audit()]
        assert done == ["remember", "refused"]

    @pytest.mark.promise("AUD-1", "SCO-3")
    def test_a_trail_is_of_one_scope(self, me: ScopedMemory, other_user: ScopedMemory) -> None:
        said(other_user, "Likes tea.")
        assert me.audit() == ()


TOKENS = st.text("qxzjkvw", min_size=9, max_size=12).map(lambda letters: f"q{letters}x")


def failures(me: ScopedMemory, token: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield calls that fail, each with the token wherever a caller can put text."""
    whole: dict[str, Any] = {"kind": "preference", "source_id": token, "approved": True}
    wrong: list[dict[str, Any]] = [
        {"text": f"{token} other"},
        {"kind": token},
        {"approved": token},
        {"text": f"{token}\u200b", "source_id": "n1"},
        {"text": token * 20_000, "source_id": "n2"},
        {"text": f"{token}\x00", "source_id": "n3"},
        {"text": f"{token}\ud800", "source_id": "n4"},
        {"source_id": token * 100},
        {"field": token * 100, "source_id": "n5"},
        {"value": token, "source_id": "n6"},
        {"field": "f", "value": {token: {token}}, "source_id": "n7"},
        {"metadata": {token: {token}}, "source_id": "n8"},
        {"metadata": {f"{token}\ud800": 1}, "source_id": "n9"},
        {"metadata": {token: f"{token}\u202e"}, "source_id": "n10"},
        {"expires_at": token, "source_id": "n11"},
        {"valid_from": token, "source_id": "n12"},
    ]
    for parts in wrong:
        call = {"text": token, **whole, **parts}
        yield str(sorted(parts)), lambda call=call: me.remember(**call)  # type: ignore[misc]
    batch = [Statement("preference", token, "b1"), Statement(token, token, token)]
    yield "batch", lambda: me.import_many(batch)
    yield "get", lambda: me.get(token)
    yield "forget", lambda: me.forget(token)
    yield "history", lambda: me.history(token)
    yield "cursor", lambda: me.list(cursor=token)
    yield "kinds", lambda: me.recall(token, kinds=[token])
    yield "filter name", lambda: me.recall(token, filters={token: token})
    yield "filter operator", lambda: me.recall(token, filters={"kind": {token: token}})
    yield "filter time", lambda: me.list(filters={"created_at": token})
    yield "filter list", lambda: me.list(filters={"metadata.k": {"in": token}})
    yield "no model", lambda: me.answer(token)
    yield "embedder", lambda: me.recall(token, strict=True)
    yield "tombstoned", lambda: me.remember(token, **{**whole, "source_id": f"{token} gone"})


def shown(error: MunimentError) -> str:
    items = error.items if isinstance(error, BatchError) else ()
    return " ".join([str(error), repr(error), str(error.to_dict()), *(str(one) for one in items)])


class TestSecrecy:
    @pytest.mark.promise("SEC-2")
    @settings(max_examples=8)
    @given(TOKENS)
    def test_no_text_appears_in_an_error(self, token: str) -> None:
        embedder = FakeEmbedder()
        with muniment.open(":memory:", embedder=embedder, clock=FrozenClock()) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            said(me, token, source_id=token)
            me.forget(said(me, "Other.", source_id=f"{token} gone").memory_id)
            embedder.fail = True
            for name, call in failures(me, token):
                with pytest.raises(MunimentError) as caught:
                    call()
                assert token not in shown(caught.value), name

    @pytest.mark.promise("SEC-2", "AUD-1", "REC-5")
    @settings(max_examples=8)
    @given(TOKENS)
    def test_no_text_appears_in_a_trace_a_trail_or_a_receipt(self, token: str) -> None:
        embedder = FakeEmbedder()
        model = FakeModel(f"about {token}")
        with muniment.open(
            ":memory:", embedder=embedder, model=model, clock=FrozenClock()
        ) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            parts: dict[str, Any] = {"field": token, "metadata": {token: token}}
            kept = said(me, f"About {token}.", source_id=token, value=token, **parts)
            said(me, f"{token} again.", source_id=f"{token}2", value=f"{token}2", **parts)
            trace = me.recall(token, filters={f"metadata.{token}": token}, minimum_score=-1).trace
            embedder.fail = True
            degraded = me.recall(token).trace
            me.answer(token)
            receipt = me.forget(kept.memory_id)
            for value in (
                trace,
                degraded,
                receipt,
                me.counts(),
                memory.health(),
                kept,
                *me.audit(),
            ):
                assert token not in repr(value) + str(plain(value))
            assert token not in repr(me) + repr(memory) + str(me)

    @pytest.mark.promise("SEC-2")
    def test_a_providers_failure_does_not_repeat_the_question(self) -> None:
        def echoing(texts: list[str]) -> list[list[float]]:
            raise RuntimeError(f"cannot embed {texts}")

        embedder = cast("Any", echoing)
        with muniment.open(":memory:", embedder=embedder) as memory:
            me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
            assert said(me, "Likes zebras.").embedding.value == "pending"
            with pytest.raises(ProviderError) as caught:
                me.recall("zebras", strict=True)
        assert "zebra" not in shown(caught.value)
