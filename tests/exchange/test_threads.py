"""Threads and all that lies in them come back from an export as they were."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from muniment import ScopedMemory
from muniment.errors import BatchError, ImportFileError, TombstonedError
from muniment.testing import FrozenClock
from muniment.threads import NewEvent, NewSummary, NewWrite, OpenItem
from tests.exchange.world import (
    exported,
    items_of,
    lines_of,
    mine,
    opened,
    resealed,
    taken,
)

CARD = "4111 1111 1111 1111"


@pytest.fixture
def me() -> Iterator[ScopedMemory]:
    """Return a scope with one of everything that lies in threads."""
    with opened(FrozenClock()) as memory:
        me = mine(memory)
        thread = me.thread("گفتگو")
        thread.append_many([NewEvent({"said": "سلام\u2028"}, "e1"), NewEvent("two"), NewEvent(3)])
        thread.pop()
        thread.set_state({"open": True})
        thread.save_summary(NewSummary("Greeted.", last=2, goals=(OpenItem("Greet", ("e1",)),)))
        me.workflow("w").run("charge", lambda key: {"paid": key})
        me.workflow("w").ask("refund")
        me.items().put(("a", "b"), "k", {"n": 1}, idle=timedelta(minutes=5), vectors={"n": [1, 0]})
        kept = me.checkpoints()
        kept.put("g", "01", b"\x00\xff", metadata={"step": 1}, run_id="r")
        kept.put_writes("g", "01", [NewWrite("task", 0, "c", "json", b"w", "path")])
        me.thread("gone").append("forgotten words", event_id="e9")
        me.forget_thread("gone")
        yield me


def told(me: ScopedMemory) -> list[object]:
    """Return everything of a scope's threads, as its readers see it."""
    threads = [one.to_dict() for one in me.threads(oldest_first=True)]
    thread = me.thread("گفتگو")
    return [
        sorted(threads, key=repr),
        thread.latest(None),
        thread.summaries(),
        me.workflow("w").checkpoint(),
        me.workflow("w").effect("charge"),
        me.items().search(refresh=False),
        me.checkpoints().list(),
    ]


@pytest.mark.promise("EXP-1")
def test_everything_of_threads_comes_back(me: ScopedMemory) -> None:
    text = exported(me)
    with opened(FrozenClock()) as memory:
        new = mine(memory)
        report = taken(new, text)
        assert report.skipped == ()
        assert told(new) == told(me)
        kinds = ("thread", "entry")
        assert items_of(exported(new), *kinds) == items_of(text, *kinds)
        assert new.counts().threads == me.counts().threads == 4
        again = taken(new, text)
        assert {one.reason for one in again.skipped} == {"known"}
        assert again.saved == 0


@pytest.mark.promise("EXP-1", "FOR-3")
def test_what_was_forgotten_is_in_no_line_and_does_not_come_back(me: ScopedMemory) -> None:
    before = exported(me)
    assert "forgotten words" not in before
    assert "gone" not in before
    me.forget_thread("گفتگو")
    with pytest.raises(BatchError) as caught:
        taken(me, before)
    assert all(isinstance(one.error, TombstonedError) for one in caught.value.items[:1])
    report = taken(me, before, mode="skip")
    assert {"tombstoned"} <= {one.reason for one in report.skipped}
    assert me.thread("گفتگو").info() is None


@pytest.mark.promise("EXP-1")
def test_another_event_under_the_same_name_or_number_is_a_conflict(me: ScopedMemory) -> None:
    text = exported(me)
    for name, content in (("e1", "other"), ("e-other", {"said": "x"})):
        with opened(FrozenClock()) as memory:
            new = mine(memory)
            new.thread("گفتگو").append(content, event_id=name)
            report = taken(new, text, mode="skip")
            reasons = [one.reason for one in report.skipped if one.reason != "known"]
            assert reasons[0] == "conflict"
            assert new.thread("گفتگو").latest(1, before=2)[0].content == content


@pytest.mark.promise("EXP-1", "WRI-4")
def test_an_item_is_screened_as_it_comes_in(me: ScopedMemory) -> None:
    lines = lines_of(exported(me))
    for line in lines:
        if line.get("sort") == "item":
            line["content"] = {"n": CARD}
    with opened(FrozenClock()) as memory:
        new = mine(memory)
        report = taken(new, resealed(lines), mode="skip")
        assert [one.reason for one in report.skipped] == ["refused"]
        assert new.items().search() == ()


@pytest.mark.promise("EXP-1")
@pytest.mark.parametrize(
    ("sort", "member", "value"),
    [
        ("event", "sort", "vector"),
        ("event", "name", ""),
        ("event", "number", -1),
        ("checkpoint", "content", "no base64!"),
        ("checkpoint", "label", {}),
        ("write", "label", ["a"]),
        ("effect", "label", None),
        ("item", "name", "no json"),
        ("summary", "content", {"text": "x"}),
    ],
)
def test_a_malformed_line_is_named(me: ScopedMemory, sort: str, member: str, value: object) -> None:
    lines = lines_of(exported(me))
    place = next(at for at, line in enumerate(lines) if line.get("sort") == sort)
    lines[place][member] = value
    with opened(FrozenClock()) as memory, pytest.raises(ImportFileError) as caught:
        taken(mine(memory), resealed(lines))
    assert caught.value.line == place + 1


@pytest.mark.promise("EXP-1")
def test_an_entry_without_its_thread_is_a_conflict(me: ScopedMemory) -> None:
    lines = [line for line in lines_of(exported(me)) if line["type"] != "thread"]
    with opened(FrozenClock()) as memory:
        report = taken(mine(memory), resealed(lines), mode="skip")
    assert {one.reason for one in report.skipped} == {"conflict"}


def test_the_footer_counts_threads(me: ScopedMemory) -> None:
    text = exported(me)
    counts = lines_of(text)[-1]["counts"]
    assert (counts["thread"], counts["entry"]) == (4, 7)


@pytest.mark.promise("EXP-1")
def test_a_lone_surrogate_comes_back_as_it_was_said() -> None:
    with opened(FrozenClock()) as memory:
        mine(memory).thread("t").append("a\ud800b", event_id="e")
        text = exported(mine(memory))
    text.encode()
    with opened(FrozenClock()) as memory:
        taken(mine(memory), text)
        assert mine(memory).thread("t").event("e").content == "a\ud800b"
