"""What a receipt says is what happened, and nobody can make it say something else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from muniment import Memory, NotFoundError, Receipt, ScopedMemory
from muniment.clock import iso
from muniment.rules.deletion import THREADS
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import House, said, same_scope
from tests.forgetting.breaking import writer_of
from tests.forgetting.looking import steps, surfaces

DERIVED = ["requested", "hidden", "derived"]
FINISHED = [*DERIVED, "compacted", "verified"]


@pytest.mark.promise("FOR-2")
def test_it_counts_what_was_found_removed_and_read_back(
    me: ScopedMemory, clock: FrozenClock
) -> None:
    first = said(me, "Which tea?", source_id="1")
    said(me, "The green one.", source_id="2", follows="1")
    me.propose("which TEA?", kind="insight", source_id="3", evidence=["e"])
    clock.advance(seconds=5)
    receipt = me.forget(first.memory_id)
    assert surfaces(receipt) == {
        "records": (1, 1, 0),
        "words": (1, 1, 0),
        "vectors": (1, 1, 0),
        "contexts": (1, 1, 0),
        "blocks": (0, 0, 0),
        "candidates": (1, 1, 0),
        **dict.fromkeys(THREADS, (0, 0, 0)),
    }
    assert {None if one.at is None else iso(one.at) for one in receipt.surfaces} == {
        "2030-01-01T00:00:05Z"
    }
    assert (receipt.memory_ids, receipt.records) == ((first.memory_id,), 1)


@pytest.mark.promise("FOR-2")
def test_the_record_after_it_is_embedded_anew_in_the_same_job(
    memory: Memory, me: ScopedMemory, embedder: FakeEmbedder
) -> None:
    first = said(me, "Which tea?", source_id="1")
    said(me, "The green one.", source_id="2", follows="1")
    embedder.asked.clear()
    me.forget(first.memory_id)
    assert embedder.asked == ["The green one."]
    assert me.counts().pending == 0


@pytest.mark.promise("FOR-2")
def test_a_failing_embedder_leaves_the_record_after_it_waiting(
    memory: Memory, me: ScopedMemory, embedder: FakeEmbedder
) -> None:
    first = said(me, "Which tea?", source_id="1")
    said(me, "The green one.", source_id="2", follows="1")
    embedder.fail = True
    receipt = me.forget(first.memory_id, wait=True)
    assert (receipt.is_finished, me.counts().pending) == (True, 1)


@pytest.mark.promise("FOR-2")
def test_it_says_which_steps_are_done_and_which_are_not(memory: Memory, me: ScopedMemory) -> None:
    early = me.forget(said(me, "Likes tea.").memory_id)
    assert (steps(early), early.is_finished) == (DERIVED, False)
    assert any("compacted" in reason for reason in early.remains)
    (waits,) = memory.deletions()
    assert (waits.receipt_id, waits.state, waits.waiting) == (
        early.receipt_id,
        "derived",
        "compaction",
    )
    assert memory.maintain().finished == 1
    late = me.receipt(early.receipt_id)
    assert (steps(late), late.is_finished) == (FINISHED, True)
    assert not any("compacted" in reason for reason in late.remains)
    assert memory.deletions() == ()
    assert surfaces(late) == surfaces(early)


@pytest.mark.promise("FOR-2")
def test_one_compaction_finishes_every_deletion_that_waits(
    memory: Memory, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    for number in range(3):
        me.forget(said(me, f"Likes {number}.").memory_id)
    other_user.forget(said(other_user, "Likes tea.").memory_id)
    assert len(memory.deletions()) == 4
    memory.compact()
    assert memory.deletions() == ()
    assert all(steps(one) == FINISHED for one in (*me.receipts(), *other_user.receipts()))


@pytest.mark.promise("FOR-2")
def test_it_can_be_read_later_from_another_memory_and_from_no_other_scope(
    house: House, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
) -> None:
    receipt = me.forget(said(me, "Likes tea.").memory_id, wait=True)
    said(other_user, "Likes tea.")
    elsewhere = same_scope(house.open(), me)
    assert elsewhere.receipt(receipt.receipt_id) == receipt
    assert elsewhere.receipts() == (receipt,)
    assert elsewhere.verify_receipt(receipt)
    for stranger in (other_user, other_tenant):
        with pytest.raises(NotFoundError):
            stranger.receipt(receipt.receipt_id)
        assert stranger.receipts() == ()


def test_a_receipt_about_several_scopes_is_the_operators(memory: Memory, me: ScopedMemory) -> None:
    other = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a2")
    for one in (me, other):
        said(one, "Likes tea.")
    receipt = memory.forget_user(tenant_id="t1", user_id="u1", wait=True)
    assert (receipt.memory_ids, receipt.records) == ((), 2)
    with pytest.raises(NotFoundError):
        me.receipt(receipt.receipt_id)
    assert memory.receipts(tenant_id="t1") == (receipt,)
    assert memory.receipts(tenant_id="t2") == ()
    assert memory.verify_receipt(receipt, tenant_id="t1")
    assert not memory.verify_receipt(receipt, tenant_id="t2")


CHANGES: list[dict[str, Any]] = [
    {"receipt_id": "rcp_other"},
    {"memory_ids": ()},
    {"states": ()},
    {"surfaces": ()},
    {"remains": ()},
    {"target": "tenant"},
    {"owner": "00" * 16},
    {"actor": "operator"},
    {"number": 1},
    {"previous": ""},
    {"digest": "00" * 16},
    {"digest": ""},
]


@pytest.fixture
def receipt(me: ScopedMemory) -> Receipt:
    me.forget(said(me, "Likes rye.").memory_id, wait=True)
    return me.forget(said(me, "Likes tea.").memory_id, wait=True)


@pytest.mark.promise("FOR-2")
@pytest.mark.parametrize("change", CHANGES)
def test_an_altered_receipt_is_recognised(
    me: ScopedMemory, receipt: Receipt, change: dict[str, Any]
) -> None:
    assert me.verify_receipt(receipt)
    assert not me.verify_receipt(replace(receipt, **change))


@pytest.mark.promise("FOR-2")
def test_a_receipt_of_another_store_is_recognised(
    house: House, me: ScopedMemory, receipt: Receipt
) -> None:
    house.path = str(house.path) + ".other"
    other = same_scope(house.open(), me)
    other.forget(said(other, "Likes tea.").memory_id, wait=True)
    assert not other.verify_receipt(receipt)


@pytest.mark.promise("FOR-2")
def test_a_receipt_that_was_taken_out_of_the_chain_is_missed(
    memory: Memory, me: ScopedMemory
) -> None:
    first, second = (me.forget(said(me, f"Likes {n}.").memory_id, wait=True) for n in range(2))
    later = me.forget(said(me, "Likes figs.").memory_id)
    assert all(map(me.verify_receipt, (first, second, later)))
    assert later.previous == second.digest
    writer_of(memory).execute("DELETE FROM receipts WHERE receipt_id = ?", (second.receipt_id,))
    assert me.verify_receipt(first)
    assert not me.verify_receipt(second)
    assert not me.verify_receipt(later)


def test_a_receipt_names_its_owner_only_by_a_keyed_hash(
    house: House, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    mine = [me.forget(said(me, "Likes tea.").memory_id) for _ in range(2)]
    theirs = other_user.forget(said(other_user, "Likes tea.").memory_id)
    assert mine[0].owner == mine[1].owner != theirs.owner
    assert "u1" not in mine[0].owner


@pytest.mark.promise("SEC-2")
def test_nothing_that_a_deletion_leaves_behind_holds_text(memory: Memory, me: ScopedMemory) -> None:
    kept = said(
        me,
        "Zebra stripes.",
        source_id="zebra:1",
        field="zebra",
        value="zebra",
        metadata={"zebra": "zebra"},
    )
    receipt = me.forget_where(source_prefix="zebra:", filters={"metadata.zebra": "zebra"})
    assert receipt.memory_ids == (kept.memory_id,)
    left = [receipt, memory.deletions(), me.audit(), memory.maintain(), me.receipts()]
    assert "zebra" not in repr(left).lower()
