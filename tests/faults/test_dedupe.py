"""Published failures of deduplication and conflict: distinct statements merged or lost."""

from __future__ import annotations

from io import StringIO
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muniment
from muniment import Memory, ScopedMemory, Statement
from muniment.records import Status
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import LEXICAL, ids, said, texts
from tests.governance.conftest import approved, code_of, proposed

DISTINCT = ["Use C", "Use C++", "Use C#", "Budget is 1,500", "Budget is 1500.0", "Version 1.10",
            "Version 1.1", "Logins are allowed", "Logins are not allowed", "Dose is .5 mg",
            "Dose is 5 mg", "Space is 5'", 'Space is 5"', "Space is 10³", "Space is 103",
            "Use .NET", "Use NET"]  # fmt: skip


@pytest.mark.promise("CON-6")
@pytest.mark.parametrize("path", ["remember", "import", "approve"])
def test_merges_distinct(memory: Memory, me: ScopedMemory, path: str) -> None:
    """hermes#70921"""
    for number, text in enumerate(DISTINCT):
        if path == "remember":
            said(me, text)
        elif path == "import":
            me.import_many([Statement("preference", text, f"s{number}")])
        else:
            approved(me, proposed(me, text))
    memory.maintain()
    assert memory.deduplicate(supersede=True).duplicates == ()
    assert sorted(texts(me.list())) == sorted(DISTINCT)
    assert me.conflicts() == ()


@LEXICAL
@pytest.mark.promise("CON-6")
@pytest.mark.parametrize(("one", "other"), [*combinations(DISTINCT[:3] + DISTINCT[5:9], 2)])
def test_neighbouring_fields_and_values_stay_apart(me: ScopedMemory, one: str, other: str) -> None:
    for value in (one, other):
        said(me, f"It is {value}.", field=f"field of {value}", value=value)
    assert len(me.list()) == 2


@LEXICAL
@pytest.mark.promise("AUD-1")
def test_silent_delete_no_audit(memory: Memory, me: ScopedMemory, clock: FrozenClock) -> None:
    """nowledge#81"""
    made = [said(me, "keep me").memory_id]
    made += [said(me, f"x {n}", expires_at="2030-01-02T00:00:00Z").memory_id for n in range(3)]
    made += [said(me, "going").memory_id]
    me.forget(made[-1])
    memory.maintain()
    assert me.get(made[0]).text == "keep me"
    clock.set("2030-01-03T00:00:00Z")
    memory.maintain()
    gone = {
        one
        for entry in me.audit()
        if entry.action in ("expire", "forget")
        for one in entry.memory_ids
    }
    assert gone == set(made[1:])
    assert {e.actor for e in me.audit() if e.action == "expire"} == {"maintenance"}
    counts = me.counts()
    assert counts.active + counts.tombstones == len(made)


@pytest.mark.promise("REC-2")
def test_threshold_on_fused_score(me: ScopedMemory) -> None:
    """marm#113"""
    kept = said(me, "the deploy region is eu-west")
    assert ids(me.recall("deploy region", minimum_score=0.3)) == [kept.memory_id]
    assert len(me.recall("quantum soup recipe", minimum_score=0.3)) == 0


@pytest.mark.promise("CON-6", "WRI-2")
def test_unrelated_overwritten(memory: Memory, me: ScopedMemory) -> None:
    """mem0#1750"""
    said(me, "eats late snacks at weekends")
    said(me, "wants to travel the world")
    memory.maintain()
    assert len(me.list()) == 2
    assert me.counts().superseded == 0


@pytest.mark.promise("CON-2")
@pytest.mark.parametrize("path", ["remember", "correct", "approve"])
def test_delete_without_replacement(me: ScopedMemory, path: str) -> None:
    """mem0#4536"""
    old = said(me, "loves Chinese food", field="food.chinese", value="loves").memory_id
    if path == "remember":
        said(me, "hates Chinese food", field="food.chinese", value="hates")
    elif path == "correct":
        me.correct(old, text="hates Chinese food", value="hates")
    else:
        seen = proposed(me, "hates Chinese food", field="food.chinese", value="hates")
        assert texts(me.list()) == ["loves Chinese food"]
        approved(me, seen)
    (active,) = me.list()
    assert texts(me.recall("chinese food")) == ["hates Chinese food"]
    before, after = me.history(old)
    assert (before.superseded_by, after.supersedes) == (after.memory_id, old)
    assert after == active


WRITES = st.lists(st.tuples(st.sampled_from("SIPA"), st.integers(0, 3)), min_size=1, max_size=12)


@pytest.mark.promise("CON-2", "WRI-9")
@settings(max_examples=40)
@given(WRITES)
def test_mutual_supersede(writes: list[tuple[str, int]]) -> None:
    """remnic#402"""
    with muniment.open(":memory:", embedder="none") as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        for number, (path, value) in enumerate(writes):
            if path == "S":
                said(me, f"value {value}", field="k", value=value)
            elif path == "I":
                late = Statement(
                    "preference", f"value {value}", f"i{number}", field="k", value=value
                )
                me.import_many([late])
            elif path == "P":
                proposed(me, f"value {value}", field="k", value=value)
            elif me.candidates():
                code = code_of(lambda: approved(me, me.candidates()[0]))
                assert code in ("", "stale_approval")
        every = {one.memory_id: one for one in me.list(superseded=True)}
        active = [one for one in every.values() if one.status is Status.ACTIVE]
        assert len(active) == (1 if every else 0)
        for one in every.values():
            assert me.history(one.memory_id)[-1] == active[0]
            assert len(me.history(one.memory_id)) == len(every)


@LEXICAL
@pytest.mark.promise("CON-1")
def test_forged_timestamp(me: ScopedMemory, clock: FrozenClock) -> None:
    """cadis#197"""
    said(me, "refund limit is 50", field="refund.limit", value=50, kind="decision")
    late = {"created_at": "2999-01-01T00:00:00Z", "observed_at": "2999-01-01T00:00:00Z"}
    clock.advance(seconds=60)
    seen = proposed(
        me, "refund limit is 5000", field="refund.limit", value=5000, kind="decision",
        metadata=late, valid_from="2029-12-31T00:00:00Z",
    )  # fmt: skip
    assert texts(me.recall("refund limit")) == ["refund limit is 50"]
    assert seen.created_at.year == 2030


@pytest.mark.promise("CON-6")
def test_unrelated_invalidated(me: ScopedMemory) -> None:
    """graphiti#1728"""
    said(me, "Ann is CTO of Acme", field="ann.job", value="CTO")
    said(me, "Ann administers Acme's git organisation", field="ann.git admin", value=True)
    said(me, "Ann's cat is called Miso")
    approved(me, proposed(me, "Ann left the CTO round early"))
    assert len(me.list()) == 4
    assert me.counts().superseded == 0


@pytest.mark.promise("SCO-3")
def test_detached_row(me: ScopedMemory) -> None:
    """nowledge#81b"""
    batch = [Statement("preference", f"m {n}", f"s{n}") for n in range(200)]
    made = {one.memory_id for one in me.remember_many(batch, approved=True)}
    proposed(me, "m waiting")
    target = StringIO()
    report = me.export(target)
    listed = {one.memory_id for one in me.list(limit=1000)}
    recalled = set(ids(me.recall("m", minimum_score=-1, limit=1000, budget=None)))
    assert made == listed == recalled == {one for one in made if me.get(one).memory_id == one}
    assert report.records == me.counts().active == len(made)
    assert all(f'"{one}"' in target.getvalue() for one in made)


@LEXICAL
@pytest.mark.promise("MAI-2")
def test_false_report(memory: Memory, me: ScopedMemory) -> None:
    """redis-ams#31"""
    for number, text in enumerate(["a1", "a1", "b1", "c1", "d1"]):
        said(me, text, source_id=f"s{number}")
    before = len(me.list())
    tried = memory.deduplicate(supersede=True, dry_run=True)
    report = memory.deduplicate(supersede=True)
    assert (tried.groups, report.groups, report.merged, report.left) == (1, 1, 1, 0)
    assert (report.examined, len(me.list())) == (before, before - report.merged) == (5, 4)
    assert me.counts().superseded == 1


@pytest.mark.promise("CON-6")
def test_an_embedder_that_thinks_everything_alike_merges_nothing() -> None:
    class Alike(FakeEmbedder):
        def _direction(self, word: str):  # type: ignore[no-untyped-def]  # noqa: ANN202
            return super()._direction("one")

    with muniment.open(":memory:", embedder=Alike()) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        for text in DISTINCT:
            approved(me, proposed(me, text))
        assert memory.deduplicate(supersede=True).duplicates == ()
        assert len(me.list()) == len(DISTINCT)
