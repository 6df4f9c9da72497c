"""A summary is a lossy index: it says what it covers, and goes when what it rests on changes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import InvalidInputError, ProviderError, RefusedError
from muniment.scoped import Thread
from muniment.testing import FrozenClock
from muniment.threads import Event, NewEvent, NewSummary, OpenItem, Summary

GOAL = OpenItem("Book a flight", ("e1",))
OPEN = OpenItem("Ask for the seat", ("e3",))
LOOSE = OpenItem("Be quick")


@pytest.fixture
def thread(me: ScopedMemory) -> Thread:
    thread = me.thread("t")
    thread.append_many([NewEvent(f"said {n}", f"e{n}") for n in range(1, 7)])
    return thread


def summary(**changes: object) -> NewSummary:
    given: dict[str, object] = {
        "text": "A flight to Oslo is wanted.",
        "last": 4,
        "goals": (GOAL,),
        "unresolved": (OPEN, LOOSE),
        "references": ("e2",),
        "summariser": "model 1",
        "prompt_version": "p3",
    }
    return NewSummary(**{**given, **changes})  # type: ignore[arg-type]


def again(old: Summary, events: Sequence[Event]) -> NewSummary:
    said = ", ".join(str(event.content) for event in events)
    return NewSummary(f"Made anew of {said}.", last=99, summariser="again 1")


def only(thread: Thread) -> Summary:
    (found,) = thread.summaries()
    return found


@pytest.mark.promise("THR-4")
def test_it_says_what_it_covers_who_made_it_and_when(thread: Thread, clock: FrozenClock) -> None:
    kept = thread.save_summary(summary(first=2))
    assert only(thread) == kept
    assert (kept.first, kept.last, kept.thread_id, kept.type) == (2, 4, "t", "conversation")
    assert (kept.summariser, kept.prompt_version) == ("model 1", "p3")
    assert (kept.goals, kept.unresolved, kept.references) == ((GOAL,), (OPEN, LOOSE), ("e2",))
    assert kept.created_at.isoformat() == "2030-01-01T00:00:00+00:00"
    assert kept.stale is None


@pytest.mark.promise("THR-4", "THR-1")
def test_it_is_never_recalled(me: ScopedMemory, thread: Thread) -> None:
    thread.save_summary(summary())
    assert me.recall("Which flight to Oslo?", minimum_score=-1).packet.items == ()


@pytest.mark.promise("THR-4")
def test_goals_and_open_work_stay_until_they_are_resolved(thread: Thread) -> None:
    thread.save_summary(summary())
    later = thread.save_summary(
        NewSummary("The seat is known.", last=6, resolved=(OPEN.text,), unresolved=(GOAL,))
    )
    assert (later.goals, later.unresolved) == ((), (GOAL, LOOSE))


@pytest.mark.promise("THR-4")
@pytest.mark.parametrize(
    "changes",
    [{"last": 7}, {"first": 0}, {"first": 5}, {"text": " "}, {"summariser": ""}],
)
def test_it_covers_events_that_are_there(thread: Thread, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError):
        thread.save_summary(summary(**changes))
    assert thread.summaries() == ()


@pytest.mark.promise("THR-4", "WRI-4")
def test_a_secret_is_not_summarised(me: ScopedMemory, thread: Thread) -> None:
    with pytest.raises(RefusedError):
        thread.save_summary(summary(text="Pays with 4111 1111 1111 1111."))
    with pytest.raises(RefusedError):
        thread.save_summary(summary(goals=(OpenItem("Charge 4111 1111 1111 1111"),)))
    assert [entry.action for entry in me.audit()][-2:] == ["refused", "refused"]


@pytest.mark.promise("THR-4")
def test_a_withdrawn_event_takes_the_text_of_the_summaries_over_it(thread: Thread) -> None:
    thread.save_summary(summary(last=6))
    thread.pop()
    assert (only(thread).stale, only(thread).text) == ("withdrawn", "")


@pytest.mark.promise("THR-4")
def test_an_event_outside_its_range_leaves_it_alone(thread: Thread) -> None:
    thread.save_summary(summary())
    thread.pop()
    assert only(thread).stale is None


@pytest.mark.promise("THR-4")
@pytest.mark.parametrize("evidence", ["referred", "covered"])
def test_a_correction_of_a_record_makes_it_stale_and_keeps_open_work(
    me: ScopedMemory, thread: Thread, evidence: str
) -> None:
    said = me.remember(
        "Lives in Rome.",
        kind="verified_fact",
        source_id="e2" if evidence == "covered" else "r",
        approved=True,
        field="home",
        value="Rome",
    )
    ids = () if evidence == "covered" else (said.memory_id,)
    thread.save_summary(summary(references=ids))
    me.correct(said.memory_id, text="Lives in Oslo.", value="Oslo")
    stale = only(thread)
    assert (stale.stale, stale.text) == ("corrected", "")
    assert (stale.goals, stale.unresolved) == ((GOAL,), (OPEN, LOOSE))
    assert me.stale_summaries() == (stale,)


@pytest.mark.promise("THR-4", "FOR-2")
def test_forgetting_takes_what_may_repeat_it_too(
    memory: Memory, me: ScopedMemory, thread: Thread
) -> None:
    said = me.remember("Lives in Rome.", kind="insight", source_id="r", approved=True)
    about = OpenItem("Write to Rome", (said.memory_id,))
    thread.save_summary(summary(references=(said.memory_id,), unresolved=(OPEN, LOOSE, about)))
    me.forget(said.memory_id)
    stale = only(thread)
    assert (stale.stale, stale.text) == ("forgotten", "")
    assert (stale.goals, stale.unresolved) == ((GOAL,), (OPEN,))
    assert memory.verify().is_intact
    assert "Rome" not in repr(stale)


@pytest.mark.promise("THR-4", "FOR-2")
def test_a_forgotten_event_reaches_the_summaries_of_other_threads(
    me: ScopedMemory, thread: Thread
) -> None:
    other = me.thread("other")
    other.append("unrelated")
    other.save_summary(NewSummary("Refers to e2.", last=1, references=("e2",)))
    me.forget_thread("t")
    assert only(other).stale == "forgotten"


@pytest.mark.promise("THR-4")
def test_stale_ones_are_made_anew_from_what_is_left(me: ScopedMemory, thread: Thread) -> None:
    thread.save_summary(summary(last=6))
    thread.save_summary(summary(first=6, last=6))
    thread.pop()
    assert [one.stale for one in thread.summaries()] == ["withdrawn", "withdrawn"]
    assert me.remake_summaries(again) == (2, 0)
    made = only(thread)
    assert made.text == "Made anew of said 1, said 2, said 3, said 4, said 5."
    assert (made.first, made.last, made.stale) == (1, 6, None)
    assert made.summariser == "again 1"
    assert me.stale_summaries() == ()


@pytest.mark.promise("THR-4")
def test_what_could_not_be_made_goes_on_waiting(me: ScopedMemory, thread: Thread) -> None:
    def fail(old: Summary, events: Sequence[Event]) -> NewSummary:
        raise ProviderError("The model failed.")

    thread.save_summary(summary(last=6))
    thread.pop()
    assert me.remake_summaries(fail) == (0, 1)
    assert len(me.stale_summaries()) == 1
    with pytest.raises(InvalidInputError):
        me.remake_summaries()


@pytest.mark.promise("THR-4", "SCO-1")
def test_another_scope_sees_and_makes_none(
    me: ScopedMemory, other: ScopedMemory, thread: Thread
) -> None:
    thread.save_summary(summary(last=6))
    thread.pop()
    assert other.stale_summaries() == ()
    assert other.remake_summaries(again) == (0, 0)
    assert len(me.stale_summaries()) == 1
