"""What says the same as a better record falls behind everything that says something else."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from muniment import ScopedMemory
from muniment.testing import FakeEmbedder
from muniment.trace import Reason
from tests.behaviour.conftest import HYBRID, House, said, texts
from tests.governance.conftest import DANA, TEAM, published

APART = [
    ("Writes mostly C code.", "Writes mostly C++ code."),
    ("Does drink coffee.", "Does not drink coffee."),
    ("The limit is 3.5 tons.", "The limit is 35 tons."),
    ("It was -5 degrees.", "It was 5 degrees."),
    ("Prefers tea over coffee.", "Prefers coffee over tea."),
    ("Flies from Rome to Oslo.", "Flies to Rome from Oslo."),
    ("Is she the owner?", "Is she the owner."),
    ("چای می‌نوشد.", "چای نمی‌نوشد."),
]
SAME = [
    ("Prefers an aisle seat.", "prefers  an aisle seat"),
    ("Prefers an aisle seat.", "Prefers an “aisle” seat!"),
    ("گزارش‌ها به زبان فارسی باشند.", "گزارش‌ها به زبان فارسي باشند"),
    ("Room ۱۲.", "Room 12."),
]


class Alike(FakeEmbedder):
    """Finds all texts the same, so that only words can keep two apart."""

    def embed_passages(self, texts: Sequence[str]) -> object:  # type: ignore[override]
        return super().embed_passages(["same"] * len(texts))


def order(me: ScopedMemory, first: str, second: str) -> list[str]:
    """Return how two texts and a third one are recalled, all above the least score."""
    said(me, "Something else altogether.")
    said(me, first)
    said(me, second)
    return texts(me.recall(second, minimum_score=-1))


@pytest.mark.promise("REC-13")
@pytest.mark.parametrize(("first", "second"), SAME)
def test_a_repeat_comes_last(me: ScopedMemory, first: str, second: str) -> None:
    assert order(me, first, second)[0] in {first, second}
    assert order(me, first, second)[1] == "Something else altogether."


@pytest.mark.promise("REC-13")
@pytest.mark.parametrize(("first", "second"), APART)
def test_what_differs_in_a_sign_a_number_a_not_or_an_order_is_no_repeat(
    house: House, first: str, second: str
) -> None:
    memory = house.open(embedder=Alike())
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    assert sorted(order(me, first, second)[:2]) == sorted([first, second])


@pytest.mark.promise("REC-13", "MAI-2")
@pytest.mark.parametrize(("first", "second"), [*SAME, *APART])
def test_deduplication_goes_by_the_same_rule(house: House, first: str, second: str) -> None:
    memory = house.open(embedder=Alike())
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    said(me, first)
    said(me, second)
    found = memory.deduplicate(dry_run=True).duplicates
    assert len(found) == int((first, second) in SAME)


@HYBRID
@pytest.mark.promise("REC-13")
def test_words_without_weight_make_no_difference_where_the_embeddings_agree(
    me: ScopedMemory, house: House
) -> None:
    first, second = "The user prefers an aisle seat.", "Prefers the aisle seat."
    alike = house.open(embedder=Alike()).scoped(tenant_id="t1", user_id="u2", agent_id="a1")
    assert order(alike, first, second)[-1] in {first, second}
    lexical = house.open(embedder="none").scoped(tenant_id="t1", user_id="u3", agent_id="a1")
    assert order(lexical, first, second)[-1] == "Something else altogether."


@pytest.mark.promise("REC-13", "REC-5")
def test_a_repeat_gives_up_its_place_and_the_trace_says_so(me: ScopedMemory) -> None:
    for _ in range(4):
        said(me, "Prefers the eu-west region.")
    said(me, "The us-east region is slow.")
    said(me, "No region beyond the sea.")
    found = me.recall("prefers eu-west region", limit=3, minimum_score=-1, explain=True)
    assert len(set(texts(found))) == 3
    assert found.trace.rejected == {Reason.DUPLICATE: 3}
    reasons = [one.reason for one in found.trace.explained]
    assert reasons.count(Reason.DUPLICATE) == 3
    assert texts(me.recall("prefers eu-west region", limit=6, minimum_score=-1))[:3] == texts(found)


@pytest.mark.promise("REC-13")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"field": "seat", "value": "aisle"}, {"field": "bed", "value": "aisle"}),
        ({"kind": "preference"}, {"kind": "verified_fact"}),
        ({}, {"valid_until": "2031-01-01T00:00:00Z"}),
    ],
)
def test_the_same_words_with_other_papers_are_no_repeat(
    me: ScopedMemory, one: dict[str, str], other: dict[str, str]
) -> None:
    said(me, "Something else altogether.")
    said(me, "Prefers an aisle seat.", **one)
    said(me, "Prefers an aisle seat.", **other)
    found = texts(me.recall("Which seat?", minimum_score=-1))
    assert found[:2] == ["Prefers an aisle seat."] * 2


@pytest.mark.promise("REC-13")
def test_many_repeats_never_hide_what_else_there_is(me: ScopedMemory) -> None:
    for _ in range(40):
        said(me, "Prefers the region eu-west.")
    said(me, "It rained.")
    for limit in (1, 2, 5, 41):
        found = texts(me.recall("region eu-west", limit=limit, minimum_score=-1, budget=None))
        assert found[:2] == ["Prefers the region eu-west.", "It rained."][:limit]
        assert len(found) == limit


@pytest.mark.promise("REC-13", "SCO-5")
def test_a_space_that_repeats_ones_own_record_falls_behind(house: House) -> None:
    memory = house.open()
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    desk = memory.reviewing(DANA)
    for text in ("Refunds need two signatures.", "Refunds take a week."):
        published(desk, me, text)
    said(me, "Refunds need two signatures.", kind="procedure")
    both = me.with_spaces(TEAM)
    assert sorted(texts(both.recall("refunds", limit=2, minimum_score=-1))) == [
        "Refunds need two signatures.",
        "Refunds take a week.",
    ]
    assert len(both.recall("refunds", limit=3, minimum_score=-1)) == 3
