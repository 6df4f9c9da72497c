"""Batches: everything, nothing, or all but the bad, with the reasons."""

from __future__ import annotations

from typing import Any, cast

import pytest

from muniment import (
    BatchError,
    InvalidInputError,
    NotApprovedError,
    ScopedMemory,
    Statement,
    Written,
)
from muniment.records import WritePath
from muniment.results import Batch, Outcome
from muniment.testing import FakeEmbedder
from tests.behaviour.conftest import HYBRID, ids, said, texts


def statement(text: str, source_id: str = "", **parts: Any) -> Statement:  # noqa: ANN401
    return Statement("preference", text, source_id or f"source of {text}", **parts)


GOOD = [statement("Likes tea."), statement("Likes milk."), statement("Likes rye.")]
WRONG = [
    statement("Likes tea."),
    statement("  "),
    Statement("rumour", "Likes rye.", "s3"),
    statement("x" * 100_001),
    statement("hid\u200bden"),
    statement("Likes jam.", expires_at="2031-01-01"),
    statement("Likes oats."),
]
CODES = {
    1: "invalid_input",
    2: "unknown_kind",
    3: "invalid_input",
    4: "refused",
    5: "invalid_input",
}


@pytest.fixture(params=["remember_many", "import_many"])
def door(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def through(me: ScopedMemory, door: str, batch: list[Statement], **options: Any) -> Batch:  # noqa: ANN401
    if door == "remember_many":
        return me.remember_many(batch, approved=True, **options)
    return me.import_many(batch, **options)


@pytest.mark.promise("WRI-10")
def test_a_good_batch_is_written_in_order(me: ScopedMemory, door: str) -> None:
    batch = through(me, door, GOOD)
    assert [written.outcome for written in batch] == [Outcome.CREATED] * 3
    assert (len(batch), batch.skipped) == (3, ())
    assert [me.get(written.memory_id).text for written in batch] == [one.text for one in GOOD]
    assert texts(me.list()) == [one.text for one in reversed(GOOD)]


@pytest.mark.promise("WRI-10")
def test_one_bad_item_stops_the_whole_batch_and_all_are_named(me: ScopedMemory, door: str) -> None:
    with pytest.raises(BatchError) as caught:
        through(me, door, WRONG)
    assert {item.index: item.error.code for item in caught.value.items} == CODES
    assert caught.value.details["items"] == [item.to_dict() for item in caught.value.items]
    assert me.counts().active == 0
    assert {entry.action for entry in me.audit()} <= {"refused"}


@pytest.mark.promise("WRI-10")
def test_the_bad_items_can_be_left_out(me: ScopedMemory, door: str) -> None:
    batch = through(me, door, WRONG, on_error="skip")
    assert {item.index: item.error.code for item in batch.skipped} == CODES
    assert texts(me.list()) == ["Likes oats.", "Likes tea."]
    assert len(batch) == 2


@pytest.mark.promise("WRI-10")
def test_what_only_the_database_can_refuse_stops_the_batch_too(me: ScopedMemory, door: str) -> None:
    said(me, "Likes water.", source_id="taken")
    batch = [statement("Likes tea."), statement("Likes jam.", "taken"), statement("Likes rye.")]
    with pytest.raises(BatchError) as caught:
        through(me, door, batch)
    assert [(item.index, item.error.code) for item in caught.value.items] == [(1, "conflict")]
    assert texts(me.list()) == ["Likes water."]
    skipped = through(me, door, batch, on_error="skip").skipped
    assert [(item.index, item.error.code) for item in skipped] == [(1, "conflict")]
    assert texts(me.list()) == ["Likes rye.", "Likes tea.", "Likes water."]


@pytest.mark.promise("WRI-2", "WRI-10")
def test_a_batch_may_be_repeated(me: ScopedMemory, door: str) -> None:
    first = through(me, door, GOOD)
    again = through(me, door, [*GOOD, statement("Likes plums.")])
    assert [one.memory_id for one in again][:3] == [one.memory_id for one in first]
    assert [one.outcome.value for one in again] == ["repeated"] * 3 + ["created"]
    assert me.counts().active == 4


@pytest.mark.promise("WRI-2", "WRI-9")
def test_statements_of_one_batch_meet_each_other(me: ScopedMemory, door: str) -> None:
    batch = through(
        me,
        door,
        [
            statement("Lives in Rome.", "s1", field="city", value="Rome"),
            statement("Lives in Rome.", "s1", field="city", value="Rome"),
            statement("Lives in Oslo.", "s2", field="city", value="Oslo"),
        ],
    )
    first, again, last = batch
    assert (again.memory_id, again.outcome) == (first.memory_id, Outcome.REPEATED)
    assert last.superseded == first.memory_id
    assert ids(me.list()) == [last.memory_id]
    with pytest.raises(BatchError) as caught:
        through(me, door, [statement("One.", "s3"), statement("Two.", "s3")])
    assert [item.index for item in caught.value.items] == [1]


def test_an_empty_batch_does_nothing(me: ScopedMemory, door: str) -> None:
    assert through(me, door, []) == Batch((), ())
    assert me.audit() == ()


@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize("approved", [False, None, 1, "yes"])
def test_a_batch_needs_approval(me: ScopedMemory, approved: object) -> None:
    with pytest.raises(NotApprovedError):
        me.remember_many(GOOD, approved=cast("bool", approved))
    assert me.counts().active == 0


@pytest.mark.parametrize("on_error", ["ignore", "", None, True])
def test_an_unknown_way_with_errors_is_refused(
    me: ScopedMemory, door: str, on_error: object
) -> None:
    with pytest.raises(InvalidInputError, match="on_error"):
        through(me, door, GOOD, on_error=on_error)
    assert me.counts().active == 0


@pytest.mark.parametrize("item", [None, "Likes tea.", {"text": "Likes tea."}])
def test_an_item_that_is_no_statement_is_named(me: ScopedMemory, door: str, item: object) -> None:
    with pytest.raises(BatchError) as caught:
        through(me, door, [GOOD[0], cast("Statement", item)])
    assert [one.index for one in caught.value.items] == [1]


def test_an_import_is_the_operators_act(me: ScopedMemory) -> None:
    (written,) = me.import_many([GOOD[0]])
    record = me.get(written.memory_id)
    assert (record.actor, record.source.path) == ("operator", WritePath.IMPORT)
    assert [(entry.actor, entry.action) for entry in me.audit()] == [("operator", "import")]


@HYBRID
@pytest.mark.promise("WRI-10")
def test_long_work_shows_its_progress_and_asks_for_each_text_once(
    me: ScopedMemory, embedder: FakeEmbedder, door: str
) -> None:
    seen: list[tuple[int, int]] = []
    batch = [statement(f"Knows word{number}.") for number in range(150)]
    through(me, door, batch, progress=lambda done, total: seen.append((done, total)))
    assert seen == [(64, 150), (128, 150), (150, 150)]
    assert embedder.asked == [one.text for one in batch]
    through(me, door, batch)
    assert len(embedder.asked) == 150


@HYBRID
@pytest.mark.promise("WRI-10")
def test_a_failing_embedder_fails_no_batch(
    me: ScopedMemory, embedder: FakeEmbedder, door: str
) -> None:
    embedder.fail = True
    batch: list[Written] = list(through(me, door, GOOD))
    assert {written.embedding.value for written in batch} == {"pending"}
    assert me.counts().pending == 3
    assert texts(me.recall("tea")) == ["Likes tea."]
