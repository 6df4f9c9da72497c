"""What was exported comes back without loss."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import MunimentError, ScopedMemory
from muniment.results import Outcome
from muniment.scope import Principal, Role, Space
from muniment.testing import FakeEmbedder, FrozenClock
from tests.exchange.world import (
    ME,
    Line,
    exported,
    items_of,
    lines_of,
    lived,
    mine,
    opened,
    restored,
)

WORDS = st.sampled_from(
    ["Rome", "Oslo", "tea", "چای سبز", "two\nlines", "\u2028", 'a "quote" \\', "🙂", "C++"]
)
STEP = st.tuples(st.integers(0, 8), st.integers(0, 10_000), WORDS)
KINDS = ("preference", "verified_fact", "context", "feedback")

Act = Callable[[ScopedMemory, int, str], object]


def _remember(me: ScopedMemory, pick: int, word: str) -> None:
    more: dict[str, Any] = {"field": "place", "value": word} if pick % 2 else {}
    if pick % 3 == 0:
        more["expires_at"] = "2030-01-01T00:10:00Z"
    if pick % 5 == 0:
        more["metadata"] = {"n": pick, "x": [0.1, None, {"y": word}]}
    kind = KINDS[pick % len(KINDS)]
    me.remember(f"{word} {pick}", kind=kind, source_id=f"r{pick}", approved=True, **more)


def _propose(me: ScopedMemory, pick: int, word: str) -> None:
    more: dict[str, Any] = {"field": "place", "value": word} if pick % 2 else {}
    kind = KINDS[pick % len(KINDS)]
    me.propose(f"{word} {pick}", kind=kind, source_id=f"c{pick}", evidence=[f"evt_{pick}"], **more)


def _some_record(me: ScopedMemory, pick: int) -> str:
    records = me.list(superseded=True).records
    return records[pick % len(records)].memory_id if records else "mem_none"


def _decide(me: ScopedMemory, pick: int, *, approve: bool) -> None:
    waiting = me.candidates()
    if waiting:
        one = waiting[pick % len(waiting)]
        if approve:
            me.approve(one.candidate_id, version=one.version, content_hash=one.content_hash)
        else:
            me.reject(one.candidate_id, reason="no")


def _outcome(me: ScopedMemory, pick: int, word: str) -> None:
    me.record_outcome(word, source_id=f"o{pick}", succeeded=bool(pick % 2), actions=["a", "b"])


ACTS: tuple[Act, ...] = (
    _remember,
    _remember,
    _propose,
    _outcome,
    lambda me, pick, word: me.correct(_some_record(me, pick), text=f"No, {word}", value=word),
    lambda me, pick, _: _decide(me, pick, approve=True),
    lambda me, pick, _: _decide(me, pick, approve=False),
    lambda me, pick, _: me.forget(_some_record(me, pick)),
)


def _live(me: ScopedMemory, clock: FrozenClock, steps: list[tuple[int, int, str]]) -> None:
    for act, pick, word in steps:
        if act == len(ACTS):
            clock.advance(seconds=pick / 10)
            continue
        try:
            ACTS[act](me, pick, word)
        except MunimentError:
            continue


def _came_along(before: str, after: str) -> list[Line]:
    """Return the later export's lines without those of the new store's own audit chain."""
    old = {line["chain"] for line in items_of(before, "audit")}
    return [line for line in items_of(after) if line["type"] != "audit" or line["chain"] in old]


@pytest.mark.promise("EXP-1")
@settings(max_examples=60)
@given(st.lists(STEP, max_size=40))
def test_any_history_comes_back_as_it_was(steps: list[tuple[int, int, str]]) -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    _live(me, clock, steps)
    before = exported(me)

    other = opened(clock)
    again = mine(other)
    report = again.import_export(io.StringIO(before))
    after = exported(again)

    assert report.read == report.saved == len(items_of(before))
    assert _came_along(before, after) == items_of(before)
    assert lines_of(after)[0]["owners"][0]["scope"] == lines_of(before)[0]["owners"][0]["scope"]
    shown = [
        [(hit.record.memory_id, hit.score) for hit in one.recall("Rome tea چای").packet]
        for one in (me, again)
    ]
    assert shown[0] == shown[1]


@pytest.mark.promise("EXP-1")
def test_history_reviews_and_belief_in_the_past_come_back() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    ids = lived(me, clock)

    again = restored(exported(me), opened(clock))

    assert [one.memory_id for one in again.history(ids["corrected"])] == [
        ids["first"],
        ids["second"],
        ids["corrected"],
    ]
    then = again.recall("Where does he live?", as_of="2030-01-01T00:00:30Z").packet
    assert [hit.record.text for hit in then] == ["Lives in Rome."]
    (waiting,) = again.candidates()
    decided = again.approve(
        waiting.candidate_id, version=waiting.version, content_hash=waiting.content_hash
    )
    assert decided.superseded == ids["corrected"]


@pytest.mark.promise("EXP-1")
def test_links_of_a_thread_and_versions_of_a_candidate_come_back() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    city: dict[str, Any] = {"kind": "verified_fact", "field": "city"}
    me.remember("Lives in Rome.", source_id="s1", value="Rome", approved=True, **city)
    me.propose("Lives in Bonn.", source_id="s2", value="Bonn", **city)
    me.remember("Lives in Oslo.", source_id="s3", value="Oslo", approved=True, **city)
    asked = me.remember("Which one?", kind="feedback", source_id="t1", approved=True)
    me.remember("The second.", kind="feedback", source_id="t2", approved=True, follows="t1")
    text = exported(me)

    again = restored(text, opened(clock))

    assert [one.version for one in again.candidates()] == [2]
    assert [one.follows for one in again.list() if one.text == "The second."] == [asked.memory_id]
    assert _came_along(text, exported(again)) == items_of(text)


@pytest.mark.promise("EXP-1")
@pytest.mark.parametrize(("before", "after"), [(True, True), (True, False), (False, True)])
def test_an_export_moves_between_plain_and_sealed_files(
    tmp_path: Path, before: bool, after: bool
) -> None:
    clock = FrozenClock()
    options: dict[str, Any] = {"clock": clock, "embedder": FakeEmbedder()}
    with (
        muniment.open(tmp_path / "old.db", sealed=before, **options) as old,
        muniment.open(tmp_path / "new.db", sealed=after, **options) as new,
    ):
        lived(mine(old), clock)
        text = exported(mine(old))

        report = mine(new).import_export(io.StringIO(text))

        assert report.saved == report.read
        assert _came_along(text, exported(mine(new))) == items_of(text)


def test_a_retry_after_the_import_is_known_as_it_was_before() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    again = restored(exported(me), opened(clock))

    repeated = again.remember(
        "Is writing a thesis.",
        kind="context",
        source_id="s3",
        approved=True,
        metadata={"week": 4.5},
    )

    assert repeated.outcome is Outcome.REPEATED


@pytest.mark.promise("EXP-1")
def test_the_new_chain_starts_with_an_import_that_names_the_old_one() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    text = exported(me)

    first, *_ = restored(text, opened(clock)).audit()

    last = items_of(text, "audit")[-1]
    assert (first.number, first.action, first.actor) == (1, "import", "operator")
    assert first.reason is not None
    assert lines_of(text)[-1]["sha256"] in first.reason
    assert last["digest"] in first.reason


def test_importing_twice_changes_nothing() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    text = exported(me)
    again = restored(text, opened(clock))
    before = exported(again)

    report = again.import_export(io.StringIO(text))

    assert (report.saved, {one.reason for one in report.skipped}) == (0, {"known"})
    assert report.read == len(report.skipped)
    assert exported(again) == before


def test_importing_where_it_came_from_changes_nothing() -> None:
    clock = FrozenClock()
    me = mine(opened(clock))
    lived(me, clock)
    text = exported(me)

    report = me.import_export(io.StringIO(text))

    assert (report.saved, {one.reason for one in report.skipped}) == (0, {"known"})
    assert exported(me) == text


def test_an_import_of_nothing_leaves_no_trace() -> None:
    memory = opened()

    report = mine(memory).import_export(io.StringIO(exported(mine(opened()))))

    assert (report.read, report.saved, report.skipped) == (0, 0, ())
    assert memory.health().scopes == 0


@pytest.mark.promise("EXP-1")
def test_a_whole_user_comes_back_over_all_agents() -> None:
    clock = FrozenClock()
    memory = opened(clock)
    space = Space.of_user("acme", "user_42")
    for agent in ("helper", "planner"):
        mine(memory, agent_id=agent).remember(
            f"Told to {agent}.", kind="preference", source_id="s1", approved=True
        )
    shown = (
        memory.scoped(**ME)
        .with_spaces(space)
        .propose("Shared.", kind="preference", source_id="s2", space=space)
    )
    desk = memory.reviewing(Principal("acme", "ruth", frozenset({Role.REVIEWER})))
    desk.approve(space, shown.candidate_id, version=shown.version, content_hash=shown.content_hash)
    before, after = io.StringIO(), io.StringIO()
    memory.export_user(before, tenant_id="acme", user_id="user_42")

    other = opened(clock)
    report = other.import_user(io.StringIO(before.getvalue()), tenant_id="acme", user_id="user_42")
    other.export_user(after, tenant_id="acme", user_id="user_42")

    assert report.saved == report.read
    assert _came_along(before.getvalue(), after.getvalue()) == items_of(before.getvalue())


def test_a_thousand_records_are_each_saved_or_skipped() -> None:
    clock = FrozenClock()
    me = mine(opened(clock, embedder="none"))
    memory = opened(clock, embedder="none")
    again = mine(memory)
    for number in range(1000):
        words: dict[str, Any] = {
            "text": f"Statement {number}.",
            "kind": "feedback",
            "source_id": f"s{number}",
        }
        me.remember(**words, approved=True)
        if number % 10 == 0:
            again.remember(**words, approved=True)
        if number % 250 == 1:
            again.remember(**{**words, "text": "Something else."}, approved=True)

    report = again.import_export(io.StringIO(exported(me)), mode="skip")

    records = [one for one in report.skipped if one.reason in ("known", "conflict")]
    assert (len(records), report.read, report.saved) == (104, 2000, 1896)
    assert report.read == report.saved + len(report.skipped)
    assert again.counts().active == 1000
