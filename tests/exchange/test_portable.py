"""Portable AI Memory 1.0, out and in, judged by the format's own validator."""

from __future__ import annotations

import io
import json
from typing import Any

import portable_ai_memory
import pytest

from muniment import BatchError
from muniment.errors import ImportFileError
from muniment.testing import FrozenClock
from tests.exchange.world import lived, mine, opened


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


def lively(clock: FrozenClock) -> dict[str, Any]:
    """Return the document of a scope that has one of everything."""
    me = mine(opened(clock))
    lived(me, clock)
    me.remember(
        "  Straße ﬁn İstanbul\n\tcafe\u0301 ", kind="decision", source_id="d", approved=True
    )
    target = io.StringIO()
    me.export(target, layout="pam")
    document: dict[str, Any] = json.loads(target.getvalue())
    return document


def as_file(document: dict[str, Any]) -> io.StringIO:
    return io.StringIO(json.dumps(document, ensure_ascii=False))


@pytest.mark.promise("EXP-1")
def test_the_formats_own_validator_finds_nothing_wrong(clock: FrozenClock) -> None:
    document = lively(clock)

    result = portable_ai_memory.validate(portable_ai_memory.load_dict(document))

    assert not result.issues
    assert document["integrity"]["total_memories"] == len(document["memories"]) == 7


def test_the_validator_sees_a_changed_text(clock: FrozenClock) -> None:
    document = lively(clock)
    document["memories"][0]["content"] = "Lives in Bari."

    result = portable_ai_memory.validate(portable_ai_memory.load_dict(document))

    assert {issue.check for issue in result.errors} == {"content-hash", "integrity-checksum"}


def test_a_successor_that_was_forgotten_leaves_a_valid_document(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    last = ""
    for source_id, place in (("s1", "Rome"), ("s2", "Oslo")):
        last = me.remember(place, kind="verified_fact", field="city", value=place,
                           source_id=source_id, approved=True).memory_id  # fmt: skip
    me.forget(last)
    target = io.StringIO()
    me.export(target, layout="pam")
    document = json.loads(target.getvalue())

    result = portable_ai_memory.validate(portable_ai_memory.load_dict(document))

    assert not result.issues
    assert [memory["status"] for memory in document["memories"]] == ["archived"]


def test_only_records_are_in_it(clock: FrozenClock) -> None:
    text = json.dumps(lively(clock))

    assert "Bonn" not in text
    assert "stamps" not in text
    assert "zanzibar" not in text


@pytest.mark.promise("EXP-1")
def test_a_document_of_ours_comes_back_as_candidates_with_field_value_and_kind(
    clock: FrozenClock,
) -> None:
    document = lively(clock)
    other, trusting = mine(opened(clock)), mine(opened(clock))

    report = other.import_from("pam", as_file(document))
    trusting.import_from("pam", as_file(document), approved_by_operator=True)

    assert (report.saved, report.candidates) == (5, 5)
    assert [one.reason for one in report.skipped] == ["inactive", "inactive"]
    city = next(record for record in trusting.list() if record.field == "city")
    assert (city.kind, city.value, city.text) == ("verified_fact", "Bergen", "Lives in Bergen.")
    thesis = next(record for record in trusting.list() if record.kind == "context")
    assert thesis.metadata == {"week": 4.5}
    assert thesis.expires_at is not None


def test_a_document_of_ours_is_known_where_it_came_from(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    lived(me, clock)
    target = io.StringIO()
    me.export(target, layout="pam")

    report = me.import_from("pam", io.StringIO(target.getvalue()))

    assert report.saved == 0
    assert {one.reason for one in report.skipped} == {"known", "inactive"}


def memory(content: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a memory as another program would write it."""
    return {
        "id": f"id {content}",
        "type": "fact",
        "content": content,
        "content_hash": portable_ai_memory.compute_content_hash(content),
        "temporal": {"created_at": "2029-12-01T00:00:00Z"},
        "provenance": {"platform": "chatgpt"},
        **changes,
    }


def document_of(*memories: dict[str, Any], **changes: Any) -> dict[str, Any]:  # noqa: ANN401
    """Return a document as another program would write it."""
    return {
        "schema": "portable-ai-memory",
        "schema_version": "1.0",
        "owner": {"id": "user_42"},
        "memories": list(memories),
        **changes,
    }


def test_another_programs_memories_arrive_by_type(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    document = document_of(
        memory("Speaks Farsi.", type="identity"),
        memory("Answer briefly.", type="instruction"),
        memory("Prefers tea.", type="preference", tags=["drinks"]),
        memory("Odd.", type="custom", custom_type="astrology"),
        memory("Chosen.", type="custom", custom_type="decision"),
        memory("Not any more.", status="retracted"),
    )

    report = me.import_from("pam", as_file(document))

    kinds = {one.statement.text: one.statement.kind for one in me.candidates()}
    assert kinds == {
        "Speaks Farsi.": "verified_fact",
        "Answer briefly.": "procedure",
        "Prefers tea.": "preference",
        "Odd.": "verified_fact",
        "Chosen.": "decision",
    }
    assert [one.reason for one in report.skipped] == ["inactive"]


def test_a_changed_text_is_not_taken_in(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    changed = memory("Speaks Farsi.") | {"content": "Speaks Finnish."}

    with pytest.raises(BatchError, match="1 of 2"):
        me.import_from("pam", as_file(document_of(memory("Prefers tea."), changed)))

    assert not me.candidates()


@pytest.mark.promise("SCO-3")
def test_another_persons_document_brings_nothing(clock: FrozenClock) -> None:
    me = mine(opened(clock))
    document = document_of(memory("Speaks Farsi."), owner={"id": "user_7"})

    report = me.import_from("pam", as_file(document))

    assert [one.reason for one in report.skipped] == ["other_scope"]
    assert not me.candidates()


@pytest.mark.parametrize(
    "changes", [{"schema": "mif"}, {"schema_version": "2.0"}, {"owner": None}, {"memories": {}}]
)
def test_a_document_of_another_format_is_refused(
    clock: FrozenClock, changes: dict[str, Any]
) -> None:
    with pytest.raises(ImportFileError):
        mine(opened(clock)).import_from("pam", as_file(document_of(**changes)))
