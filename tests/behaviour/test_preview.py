"""Previewing: what `remember` would do, told before it does it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from muniment import InvalidInputError, MunimentError, ScopedMemory, Statement
from muniment.results import Outcome
from tests.behaviour.conftest import LEXICAL, House, said

pytestmark = LEXICAL


@pytest.fixture
def place() -> str:
    return ":memory:"


CASES: list[dict[str, Any]] = [
    {"text": "Likes rye."},
    {"text": " Likes rye.\n", "kind": "fact"},
    {"text": "Likes tea.", "source_id": "s1"},
    {"text": "Likes coffee.", "source_id": "s1"},
    {"text": "Lives in Oslo.", "field": "City", "value": "Oslo"},
    {"text": "Lives in Oslo.", "kind": "decision", "field": "city", "value": "Oslo"},
    {"text": "Works at Acme.", "field": "employer", "value": "Acme"},
    {"text": "Works at Initech.", "field": "employer", "value": "Initech"},
    {"text": "Was forgotten.", "source_id": "gone"},
    {"text": "Was forgotten.", "source_id": "fresh"},
    {"text": "hid\u200bden"},
    {"text": "On the move.", "kind": "context"},
    {"text": "Ends.", "expires_at": "2031-01-01T00:00:00+14:00", "metadata": {"a": 1}},
]
BAD: list[dict[str, Any]] = [
    {"text": "  "},
    {"text": "x" * 100_001},
    {"text": "a\x00b"},
    {"text": "a\ud800b"},
    {"kind": "rumour"},
    {"source_id": ""},
    {"value": "x"},
    {"expires_at": "2031-01-01"},
    {"metadata": {"k": float("nan")}},
    {"kind": "constraint"},
]


def parts(case: dict[str, Any]) -> dict[str, Any]:
    return {"text": "Likes rye.", "kind": "preference", "source_id": "new", **case}


@pytest.fixture
def lived_in(me: ScopedMemory) -> ScopedMemory:
    said(me, "Likes tea.", source_id="s1")
    said(me, "Lives in Rome.", field="city", value="Rome")
    me.forget(said(me, "Was forgotten.", source_id="gone").memory_id)
    me.import_many([Statement("preference", "At Acme.", "i1", field="employer", value="Acme")])
    return me


@pytest.mark.promise("WRI-11")
@pytest.mark.parametrize("case", CASES)
def test_a_preview_comes_true(lived_in: ScopedMemory, case: dict[str, Any]) -> None:
    before = (lived_in.audit(), lived_in.counts(), lived_in.recall("tea").trace.version)
    preview = lived_in.preview(**parts(case))
    assert (lived_in.audit(), lived_in.counts(), lived_in.recall("tea").trace.version) == before
    if not preview.accepted:
        with pytest.raises(MunimentError) as caught:
            lived_in.remember(**parts(case), approved=True)
        assert caught.value.code == preview.refusal
        return
    written = lived_in.remember(**parts(case), approved=True)
    assert preview.refusal is None
    if written.outcome is Outcome.CONTESTED:
        assert preview.contested == written.memory_id
        return
    record = lived_in.get(written.memory_id)
    assert preview.repeats == (written.memory_id if written.outcome is Outcome.REPEATED else None)
    assert preview.supersedes == written.superseded
    assert (preview.kind, preview.text) == (record.kind, record.text)
    assert (preview.field, preview.value) == (record.field, record.value)
    assert preview.expires_at == record.expires_at


@pytest.mark.promise("WRI-11")
def test_a_preview_shows_the_lifetime_and_the_alias(me: ScopedMemory) -> None:
    preview = me.preview("On the move.", kind="context", source_id="s1")
    assert preview.expires_at == datetime(2030, 4, 1, tzinfo=UTC)
    assert me.preview("Is tall.", kind="fact", source_id="s2").kind == "verified_fact"
    assert me.counts().active == 0


@pytest.mark.promise("WRI-11", "WRI-6")
def test_a_preview_shows_where_characters_hide(me: ScopedMemory) -> None:
    preview = me.preview("a\u200eb\u202ec", kind="preference", source_id="s1")
    assert [(one.name, one.start, one.end, one.refuses) for one in preview.findings] == [
        ("direction_marks", 1, 2, False),
        ("hidden_characters", 3, 4, True),
    ]
    assert (preview.accepted, preview.refusal) == (False, "refused")


@pytest.mark.parametrize(
    "case",
    [
        {"field": "dri\u200bnk"},
        {"field": "drink", "value": "te\u200ba"},
        {"metadata": {"k": ["te\u200ba"]}},
    ],
)
def test_a_preview_screens_all_that_remember_screens(
    me: ScopedMemory, case: dict[str, Any]
) -> None:
    preview = me.preview(**parts(case))
    assert (preview.accepted, preview.refusal) == (False, "refused")


@pytest.mark.promise("WRI-11")
@pytest.mark.parametrize("case", BAD)
def test_what_is_malformed_is_refused_by_a_preview_too(
    me: ScopedMemory, case: dict[str, Any]
) -> None:
    with pytest.raises(InvalidInputError) as previewed:
        me.preview(**parts(case))
    with pytest.raises(InvalidInputError) as remembered:
        me.remember(**parts(case), approved=True)
    assert (type(previewed.value), str(previewed.value)) == (
        type(remembered.value),
        str(remembered.value),
    )


def test_a_preview_creates_no_scope(house: House, me: ScopedMemory) -> None:
    me.preview("Likes tea.", kind="preference", source_id="s1")
    assert house.opened[0].health().scopes == 0
