"""Forgetting: what goes, what stays away, what the receipt says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment import (
    BatchError,
    NotFoundError,
    ScopedMemory,
    Statement,
    TombstonedError,
)
from muniment.results import Receipt
from muniment.rules.deletion import THREADS
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope, texts


def is_gone(me: ScopedMemory, memory_id: str, text: str) -> bool:
    """Whether no way of reading gives the record or its text."""
    for verb in (me.get, me.history, me.forget):
        with pytest.raises(NotFoundError):
            verb(memory_id)
    listed = texts(me.list(limit=1000, superseded=True))
    recalled = texts(me.recall(text, minimum_score=-1, limit=1000, budget=None))
    asked = texts(me.recall("What do you know about me?", limit=1000, budget=None))
    return text not in [*listed, *recalled, *asked]


def surfaces(receipt: Receipt) -> dict[str, tuple[int, int, int]]:
    return {one.name: (one.found, one.removed, one.left) for one in receipt.surfaces}


class TestWhatGoes:
    @pytest.mark.promise("FOR-2")
    def test_a_forgotten_record_is_nowhere(self, house: House, me: ScopedMemory) -> None:
        kept = said(me, "Likes jasmine tea.")
        said(me, "Likes rye bread.")
        me.forget(kept.memory_id)
        assert is_gone(me, kept.memory_id, "Likes jasmine tea.")
        assert is_gone(same_scope(house.open(), me), kept.memory_id, "Likes jasmine tea.")
        assert texts(me.list()) == ["Likes rye bread."]

    @pytest.mark.promise("FOR-3")
    def test_other_memories_on_the_file_see_it_at_once(
        self, house: House, me: ScopedMemory
    ) -> None:
        kept = said(me, "Likes jasmine tea.")
        elsewhere = same_scope(house.open(), me)
        assert ids(elsewhere.recall("jasmine")) == [kept.memory_id]
        me.forget(kept.memory_id)
        found = elsewhere.recall("jasmine", minimum_score=-1)
        assert (list(found), found.trace.records) == ([], 0)

    @pytest.mark.promise("FOR-5")
    def test_neighbours_stay(
        self, me: ScopedMemory, other_user: ScopedMemory, other_tenant: ScopedMemory
    ) -> None:
        mine = said(me, "Shared words.", source_id="s1")
        copy = said(me, "Shared words.", source_id="s2")
        for stranger in (other_user, other_tenant):
            said(stranger, "Shared words.", source_id="s1")
        me.forget(mine.memory_id)
        assert ids(me.recall("shared words")) == [copy.memory_id]
        for stranger in (other_user, other_tenant):
            assert texts(stranger.recall("shared words")) == ["Shared words."]
            assert stranger.counts().tombstones == 0

    def test_a_replaced_value_does_not_come_back_to_life(self, me: ScopedMemory) -> None:
        old = said(me, "Lives in Rome.", field="city", value="Rome")
        new = said(me, "Lives in Oslo.", field="city", value="Oslo")
        receipt = me.forget(new.memory_id)
        assert len(me.list()) == 0
        assert any("history" in reason for reason in receipt.remains)
        me.forget(old.memory_id)
        assert me.counts().superseded == 0
        said(me, "Lives in Lima.", field="city", value="Lima")
        assert texts(me.list()) == ["Lives in Lima."]

    def test_an_expired_record_can_be_forgotten(self, me: ScopedMemory, clock: FrozenClock) -> None:
        kept = said(me, "Likes tea.", expires_at="2030-01-02T00:00:00Z")
        clock.set("2030-01-03T00:00:00Z")
        me.forget(kept.memory_id)
        assert (me.counts().expired, me.counts().tombstones) == (0, 1)

    @LEXICAL
    @pytest.mark.promise("FOR-4")
    def test_after_waiting_no_byte_of_it_is_in_the_files(
        self, house: House, me: ScopedMemory
    ) -> None:
        needle = "unique-needle-7f3a"
        said(me, "Something else.")
        kept = said(me, f"Holds {needle}.", source_id=f"src-{needle}", metadata={"k": needle})
        receipt = me.forget(kept.memory_id, wait=True)
        assert "compacted" in dict(receipt.states)
        house.opened[0].close()
        for file in Path(house.path).parent.iterdir():
            assert needle.encode() not in file.read_bytes()


class TestTheReceipt:
    @pytest.mark.promise("FOR-2")
    def test_it_counts_what_was_found_and_reads_back(
        self, me: ScopedMemory, embedder: FakeEmbedder | None, clock: FrozenClock
    ) -> None:
        kept = said(me, "Likes tea.")
        receipt = me.forget(kept.memory_id)
        vectors = 0 if embedder is None else 1
        assert surfaces(receipt) == {
            "records": (1, 1, 0),
            "words": (1, 1, 0),
            "vectors": (vectors, vectors, 0),
            "candidates": (0, 0, 0),
            "contexts": (0, 0, 0),
            "blocks": (0, 0, 0),
            **dict.fromkeys(THREADS, (0, 0, 0)),
        }
        assert receipt.memory_ids == (kept.memory_id,)
        assert receipt.receipt_id.startswith("rcp_")
        assert [name for name, _ in receipt.states] == [
            "requested",
            "hidden",
            "derived",
        ]
        assert {at.timestamp() for _, at in receipt.states} == {clock.now() / 1_000_000}

    @pytest.mark.promise("FOR-2")
    def test_it_says_that_bytes_remain_until_compaction(self, me: ScopedMemory) -> None:
        early = me.forget(said(me, "Likes tea.").memory_id)
        done = me.forget(said(me, "Likes rye.").memory_id, wait=True)
        assert any("compacted" in reason for reason in early.remains)
        assert not any("compacted" in reason for reason in done.remains)
        assert "compacted" not in dict(early.states)

    @HYBRID
    def test_it_counts_the_vector_of_the_present_model(
        self, house: House, me: ScopedMemory
    ) -> None:
        kept = said(me, "Likes tea.")
        second = house.open(embedder=FakeEmbedder(name="second"))
        second.embed()
        receipt = same_scope(second, me).forget(kept.memory_id)
        assert surfaces(receipt)["vectors"] == (1, 1, 0)

    @pytest.mark.promise("SEC-2")
    def test_it_holds_no_text(self, me: ScopedMemory) -> None:
        kept = said(me, "Zebra stripes.", source_id="zebra", field="zebra", value="zebra")
        receipt = me.forget(kept.memory_id)
        assert "zebra" not in (repr(receipt) + str(receipt.to_dict())).lower()


DISGUISES = [
    ("My name is Zed.", "  MY NAME   is zed. "),
    ("My name is Zed.", "Ｍｙ name\u00a0is Zed."),
    ("کتاب می\u200cخواهم", "كتاب مي\u200cخواهم"),
    ("کتاب می\u200cخواهم", "کتاب می خواهم"),
    ("کتاب می\u200cخواهم", "کتاب میخواهم"),
    ("اتاق ۱۲", "اتاق ١٢"),
    ("café", "cafe\u0301"),
]


class TestTombstones:
    @pytest.mark.promise("FOR-3")
    @pytest.mark.parametrize("text", ["Likes tea.", "Likes coffee."])
    def test_a_late_write_with_the_old_source_is_refused(self, me: ScopedMemory, text: str) -> None:
        me.forget(said(me, "Likes tea.", source_id="s1").memory_id)
        with pytest.raises(TombstonedError):
            said(me, text, source_id=" s1 ")
        for many in (me.import_many, lambda batch: me.remember_many(batch, approved=True)):
            with pytest.raises(BatchError) as caught:
                many([Statement("preference", text, "s1")])
            assert [item.error.code for item in caught.value.items] == ["tombstoned"]
        assert me.counts().active == 0

    @pytest.mark.promise("FOR-3", "CON-5")
    @pytest.mark.parametrize(("text", "disguise"), DISGUISES)
    def test_an_import_of_the_value_in_any_disguise_is_refused(
        self, house: House, me: ScopedMemory, text: str, disguise: str
    ) -> None:
        me.forget(said(me, text).memory_id)
        house.opened[0].close()
        again = same_scope(house.open(), me)
        with pytest.raises(BatchError) as caught:
            again.import_many([Statement("preference", disguise, "late job")])
        assert [item.error.code for item in caught.value.items] == ["tombstoned"]
        batch = again.import_many([Statement("preference", disguise, "late")], on_error="skip")
        assert (len(batch), len(batch.skipped)) == (0, 1)

    @pytest.mark.promise("FOR-3", "CON-5")
    def test_an_import_of_a_fields_value_is_refused_whatever_its_text(
        self, me: ScopedMemory
    ) -> None:
        me.forget(said(me, "Lives in Rome.", field="home_city", value="Rome").memory_id)
        late = Statement("preference", "Rome it is!", "late", field="Home City", value=" rome ")
        with pytest.raises(BatchError):
            me.import_many([late])

    @pytest.mark.parametrize(
        "late",
        [
            {"kind": "verified_fact", "text": "Lives in Rome.", "field": "city", "value": "Rome"},
            {"kind": "preference", "text": "Lives in Rome."},
            {"kind": "preference", "text": "Lives in Rome.", "field": "town", "value": "Rome"},
        ],
    )
    def test_an_import_of_the_same_words_in_another_dress_is_refused(
        self, me: ScopedMemory, late: dict[str, Any]
    ) -> None:
        me.forget(said(me, "Lives in Rome.", field="city", value="Rome").memory_id)
        with pytest.raises(BatchError):
            me.import_many([Statement(source_id="late", **late)])

    @pytest.mark.promise("FOR-3")
    def test_the_person_may_say_it_again_and_an_import_may_not(self, me: ScopedMemory) -> None:
        me.forget(said(me, "Likes tea.", source_id="s1").memory_id)
        again = said(me, "Likes tea.", source_id="s2")
        assert ids(me.list()) == [again.memory_id]
        with pytest.raises(BatchError):
            me.import_many([Statement("preference", "Likes tea.", "s3")])

    @pytest.mark.promise("CON-5", "CON-6")
    @pytest.mark.parametrize("forgotten", ["C", "C++", "C#", "1.1", "1.10", "Likes tea"])
    def test_neighbours_of_a_forgotten_value_pass(self, me: ScopedMemory, forgotten: str) -> None:
        neighbours = {"C", "C++", "C#", "1.1", "1.10", "Likes tea", "Likes no tea"} - {forgotten}
        me.forget(said(me, forgotten).memory_id)
        batch = me.import_many(
            [Statement("preference", text, f"source of {text}") for text in sorted(neighbours)]
        )
        assert set(texts(me.list())) == neighbours
        assert len(batch) == len(neighbours)

    def test_a_tombstone_holds_in_its_scope_only(
        self, me: ScopedMemory, other_user: ScopedMemory
    ) -> None:
        me.forget(said(me, "Likes tea.", source_id="s1").memory_id)
        other_user.import_many([Statement("preference", "Likes tea.", "s1")])
        assert texts(other_user.list()) == ["Likes tea."]

    @HYBRID
    @pytest.mark.promise("FOR-3")
    def test_embedding_anew_brings_nothing_back(self, house: House, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.")
        me.forget(kept.memory_id)
        second = house.open(embedder=FakeEmbedder(name="second"))
        assert second.embed() == (0, 0)
        assert is_gone(same_scope(second, me), kept.memory_id, "Likes tea.")
