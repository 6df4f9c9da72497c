"""Work that began before a deletion cannot undo it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from muniment import BatchError, Memory, ScopedMemory, Statement, TombstonedError
from muniment.errors import ConflictError, NotFoundError
from muniment.testing import FakeEmbedder, FrozenClock
from tests.behaviour.conftest import House, said, same_scope, texts
from tests.forgetting.looking import readable

DAY = 86_400


class Consolidation:
    """A job that reads records and writes what it draws from them later."""

    def __init__(self, me: ScopedMemory) -> None:
        self._me = me
        self._read = list(me.list(limit=1000))

    def verbatim(self) -> None:
        """Propose each statement again under a source of its own."""
        for record in self._read:
            self._me.propose(
                record.text, kind="insight", source_id=f"job:{record.seq}", evidence=["job"]
            )

    def drawn(self) -> None:
        """Propose a conclusion that rests on what was read."""
        ids = [record.memory_id for record in self._read]
        self._me.propose("A conclusion.", kind="insight", source_id="job", evidence=ids)

    def imported(self) -> None:
        """Import what was read."""
        batch = [Statement("preference", one.text, f"job:{one.seq}") for one in self._read]
        self._me.import_many(batch)


@pytest.mark.promise("FOR-3", "ANS-7")
@pytest.mark.parametrize("write", ["verbatim", "drawn", "imported"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_paused_consolidation_cannot_write_what_was_forgotten(
    house: House, memory: Memory, me: ScopedMemory, write: str, *, whole: bool
) -> None:
    kept = said(me, "Likes tea.")
    job = Consolidation(same_scope(house.open(), me))
    if whole:
        memory.forget_user(tenant_id="t1", user_id="u1", wait=True)
    else:
        me.forget(kept.memory_id, wait=True)
    with pytest.raises((TombstonedError, BatchError)):
        getattr(job, write)()
    assert readable(me) == set()
    assert me.audit()[-1].action in ("refused", "forget")


@pytest.mark.promise("FOR-3")
def test_a_forgotten_event_yields_nothing_any_more(me: ScopedMemory) -> None:
    me.propose("Likes tea.", kind="insight", source_id="c1", evidence=["evt_1"])
    assert me.forget_where(event_id="evt_1").records == 0
    with pytest.raises(TombstonedError):
        me.propose("Enjoys a brew.", kind="insight", source_id="c2", evidence=["evt_0", "evt_1"])
    me.propose("Enjoys figs.", kind="insight", source_id="c3", evidence=["evt_11"])
    assert readable(me) == {"Enjoys figs."}


@pytest.mark.promise("FOR-3")
def test_a_candidate_that_was_shown_before_cannot_be_approved_after(me: ScopedMemory) -> None:
    kept = said(me, "Likes tea.")
    shown = me.propose("Drinks.", kind="insight", source_id="c", evidence=[kept.memory_id])
    me.forget(kept.memory_id)
    with pytest.raises((NotFoundError, ConflictError, TombstonedError)):
        me.approve(shown.candidate_id, version=shown.version, content_hash=shown.content_hash)
    assert readable(me) == set()


@pytest.mark.promise("FOR-3")
def test_tombstones_survive_everything_that_maintenance_does(
    house: House, me: ScopedMemory, clock: FrozenClock
) -> None:
    me.forget(said(me, "Likes tea.", source_id="s1").memory_id, wait=True)
    clock.advance(seconds=4000 * DAY)
    second = house.open(embedder=FakeEmbedder(name="second"))
    second.embed()
    second.maintain()
    second.compact()
    again = same_scope(second, me)
    with pytest.raises(TombstonedError):
        said(again, "Likes tea.", source_id="s1")
    with pytest.raises(BatchError):
        again.import_many([Statement("preference", "likes TEA.", "late")])


def policy(text: str) -> str:
    """Return the built-in policy with a line changed."""
    import muniment.rules

    (folder,) = muniment.rules.__path__
    whole = (Path(folder) / "policy.toml").read_text(encoding="utf-8")
    return whole.replace('tombstone_days = "unlimited"', text)


@pytest.mark.promise("FOR-4")
def test_tombstones_go_when_the_policy_says_so_and_not_before(
    house: House, clock: FrozenClock
) -> None:
    memory = house.open(policy=policy("tombstone_days = 10"))
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    me.forget(said(me, "Likes tea.", source_id="s1").memory_id)
    pending = me.propose("Likes figs.", kind="insight", source_id="c", evidence=["e"])
    me.reject(pending.candidate_id, reason="untrue")
    clock.advance(seconds=10 * DAY)
    assert memory.maintain().retired == 0
    clock.advance(seconds=0.000001)
    assert memory.maintain().retired == 1
    assert me.audit()[-1].actor == "maintenance"
    me.import_many([Statement("preference", "Likes tea.", "s1")])
    assert texts(me.list()) == ["Likes tea."]
    with pytest.raises(BatchError):
        me.import_many([Statement("insight", "Likes figs.", "late")])


@pytest.mark.promise("CON-5")
def test_a_retracted_value_comes_back_only_with_a_stated_reason(me: ScopedMemory) -> None:
    kept = said(me, "Lives in Rome.", field="city", value="Rome")
    receipt = me.retract(kept.memory_id)
    assert receipt.memory_ids == (kept.memory_id,)
    again = partial(said, me, "Lives in Rome.", field="city", value="rome ")
    for attempt in (
        again,
        lambda: me.propose("Lives in Rome.", kind="preference", source_id="guess"),
        lambda: me.import_many([Statement("preference", "lives in ROME.", "i1")]),
    ):
        with pytest.raises((TombstonedError, BatchError)):
            attempt()
    again(override_tombstone="moved back")
    assert texts(me.list()) == ["Lives in Rome."]
