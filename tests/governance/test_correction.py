"""Correcting: what is kept, who may do it, and that the old value is gone everywhere at once."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from typing import Any

import pytest

from muniment import ScopedMemory
from muniment.errors import NotFoundError
from muniment.records import Authority, Record, WritePath
from muniment.scoped import ReviewDesk
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope, texts
from tests.governance.conftest import TEAM, code_of, published

KEPT: dict[str, Any] = {
    "kind": "decision",
    "field": "stack",
    "value": "postgres",
    "metadata": {"category": "tools", "priority": ["high"]},
    "expires_at": "2031-01-01T00:00:00Z",
    "valid_from": "2029-06-01T00:00:00Z",
    "valid_until": "2030-12-01T00:00:00Z",
}


def carried(record: Record) -> tuple[Any, ...]:
    return (
        record.scope,
        record.kind,
        record.field,
        record.metadata,
        record.expires_at,
        record.valid_from,
        record.valid_until,
    )


@pytest.mark.promise("CON-4")
def test_only_what_is_named_changes(me: ScopedMemory) -> None:
    old = me.get(said(me, "The stack is PostgreSQL.", **KEPT).memory_id)
    written = me.correct(old.memory_id, text="The stack is MySQL.", value="mysql")
    new = me.get(written.memory_id)
    assert carried(new) == carried(old)
    assert (new.text, new.value) == ("The stack is MySQL.", "mysql")
    assert (new.supersedes, me.get(old.memory_id).superseded_by) == (old.memory_id, new.memory_id)
    assert (new.source.path, new.actor) == (WritePath.CORRECT, "subject")
    assert new.authority is Authority.EXPLICIT


@LEXICAL
@pytest.mark.promise("CON-4")
@pytest.mark.parametrize(
    ("name", "after", "shown"),
    [
        ("expires_at", "2030-06-01T00:00:00Z", "2030-06-01T00:00:00+00:00"),
        ("valid_until", None, None),
        ("metadata", {"a": 1}, {"a": 1}),
    ],
)
def test_a_part_that_is_named_changes_alone(
    me: ScopedMemory, name: str, after: object, shown: object
) -> None:
    kept = said(me, "The stack is PostgreSQL.", **KEPT).memory_id
    changes: dict[str, Any] = {"text": "The stack is MySQL.", name: after}
    new = me.get(me.correct(kept, **changes).memory_id)
    value = getattr(new, name)
    assert (value.isoformat() if hasattr(value, "isoformat") else value) == shown
    assert new.field == "stack"


@pytest.mark.promise("CON-4")
def test_it_reaches_every_read_and_every_opening_at_once(house: House, me: ScopedMemory) -> None:
    said(me, "Keeps bees.")
    kept = said(me, "The stack is PostgreSQL.", source_id="s1").memory_id
    elsewhere = same_scope(house.open(), me)
    assert kept in ids(elsewhere.recall("stack PostgreSQL"))
    new = me.correct(kept, text="The stack is MySQL.").memory_id
    for face in (me, elsewhere):
        assert (
            ids(face.recall("stack PostgreSQL", minimum_score=-1, kinds=["preference"]))[0] == new
        )
        assert "PostgreSQL" not in face.recall("stack PostgreSQL", minimum_score=-1).packet.text
        assert "The stack is PostgreSQL." not in texts(face.list())
        assert ids(face.history(new)) == [kept, new]
        target = StringIO()
        face.export(target)
        assert f'"superseded_by":"{new}"' in target.getvalue()


@LEXICAL
@pytest.mark.promise("CON-4")
def test_another_process_sees_it(house: House, me: ScopedMemory) -> None:
    kept = said(me, "The stack is PostgreSQL.").memory_id
    me.correct(kept, text="The stack is MySQL.")
    program = (
        "import sys, muniment\n"
        "with muniment.open(sys.argv[1], embedder='none') as memory:\n"
        "    me = memory.scoped(tenant_id='t1', user_id='u1', agent_id='a1')\n"
        "    print([record.text for record in me.list()])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(house.path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "['The stack is MySQL.']"


@HYBRID
@pytest.mark.promise("CON-4", "REC-8")
def test_the_new_text_is_embedded_and_the_old_one_no_longer_compared(
    me: ScopedMemory, embedder: FakeEmbedder
) -> None:
    kept = said(me, "Plays tennis.").memory_id
    new = me.correct(kept, text="Plays padel.").memory_id
    assert "Plays padel." in embedder.asked
    (hit,) = me.recall("Plays tennis.", minimum_score=-1).trace.hits
    assert hit.memory_id == new
    assert hit.semantic is not None
    assert hit.semantic < 0.9


@LEXICAL
@pytest.mark.promise("CON-4")
def test_a_reviewer_corrects_within_reach_and_in_a_space(
    me: ScopedMemory, desk: ReviewDesk
) -> None:
    mine = said(me, "Likes tea.").memory_id
    shared = published(desk, me, "Ask twice.", field="refunds", value="twice").memory_id
    for owner, kept in ((me.scope, mine), (TEAM, shared)):
        written = desk.correct(owner, kept, text="Corrected.")
        record = desk.record(owner, written.memory_id)
        assert (record.actor, record.authority) == ("dana", Authority.APPROVED_SHARED)
        assert record.supersedes == kept
    assert texts(me.with_spaces(TEAM).recall("corrected", minimum_score=-1)) == ["Corrected."] * 2


@LEXICAL
@pytest.mark.promise("CON-5", "AUD-1")
def test_the_corrected_value_stays_out_unless_a_reason_is_given(me: ScopedMemory) -> None:
    kept = said(me, "Likes tea.", field="drink", value="tea").memory_id
    new = me.correct(kept, text="Likes rye.", value="rye").memory_id
    for call in (
        lambda: said(me, "likes TEA."),
        lambda: said(me, "So it is.", field="drink", value="Tea"),
        lambda: me.correct(new, text="Likes tea."),
    ):
        assert code_of(call) == "tombstoned"
    refusals = [entry.reason for entry in me.audit() if entry.action == "refused"]
    assert refusals == ["remember: tombstoned", "remember: tombstoned", "correct: tombstoned"]
    me.correct(new, text="Likes tea.", value="tea", override_tombstone="a slip of mine")
    assert texts(me.list()) == ["Likes tea."]
    assert me.audit()[-1].reason == "a slip of mine"


@LEXICAL
@pytest.mark.promise("CON-4")
def test_what_cannot_be_corrected_says_why(
    me: ScopedMemory, other_user: ScopedMemory, clock: FrozenClock
) -> None:
    kept = said(me, "Likes tea.", source_id="s1", expires_at="2030-01-02T00:00:00Z").memory_id
    said(me, "Likes rye.", source_id="s2")
    assert code_of(lambda: me.correct(kept)) == "invalid_input"
    assert code_of(lambda: me.correct(kept, text=" Likes tea. ")) == "invalid_input"
    assert code_of(lambda: me.correct(kept, kind="insight", text="x")) == "invalid_input"
    assert code_of(lambda: me.correct(kept, authority="explicit", text="x")) == "invalid_input"
    assert code_of(lambda: me.correct(kept, text="x", source_id="s2")) == "conflict"
    assert code_of(lambda: me.correct(kept, text="card 4111 1111 1111 1111")) == "refused"
    with pytest.raises(NotFoundError):
        other_user.correct(kept, text="x")
    new = me.correct(kept, text="Likes oats.").memory_id
    assert code_of(lambda: me.correct(kept, text="Likes figs.")) == "not_found"
    clock.set("2030-01-02T00:00:00Z")
    assert code_of(lambda: me.correct(new, text="Likes figs.")) == "not_found"
