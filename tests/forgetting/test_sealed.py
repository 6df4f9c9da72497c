"""Forgetting in a sealed store: the same, and the keys of an erased owner are gone."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from muniment import Memory, ScopedMemory
from muniment.services.forgetting import fanout
from tests.behaviour.conftest import House, said, same_scope, texts
from tests.forgetting.breaking import Killed
from tests.forgetting.looking import readable, scan, spellings, steps

SHREDDED = ["requested", "hidden", "derived", "shredded", "compacted", "verified"]


pytestmark = pytest.mark.parametrize("place", ["sealed", "sealed-postgres"], indirect=True)


@pytest.mark.promise("FOR-2", "FOR-5")
def test_one_record_goes_and_its_neighbours_stay_readable(
    memory: Memory, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    kept = said(me, "Likes tea.", source_id="s1")
    said(me, "Likes rye.")
    said(other_user, "Likes tea.", source_id="s1")
    receipt = me.forget(kept.memory_id, wait=True)
    assert (receipt.is_finished, "shredded" in steps(receipt)) == (True, False)
    assert (readable(me), readable(other_user)) == ({"Likes rye."}, {"Likes tea."})


@pytest.mark.promise("FOR-1")
def test_selections_look_at_what_is_sealed(memory: Memory, me: ScopedMemory) -> None:
    said(me, "Likes tea.", source_id="th:1", metadata={"tag": "x"})
    said(me, "Likes rye.", source_id="th:2")
    me.propose("Likes figs.", kind="insight", source_id="c", evidence=["evt_1"])
    assert me.forget_where(filters={"metadata.tag": "x"}).records == 1
    assert me.forget_where(source_prefix="th:").records == 1
    me.forget_where(event_id="evt_1")
    assert readable(me) == set()


@pytest.mark.promise("FOR-2", "FOR-4", "SEC-1")
def test_an_erased_user_is_unreadable_in_an_older_copy_of_the_file_too(
    house: House, memory: Memory, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    for one in (me, other_user):
        said(one, "Likes tea.")
    memory.compact()
    path = Path(house.path)
    copy = path.with_name("copy")
    shutil.copyfile(path, copy)
    receipt = memory.forget_user(tenant_id="t1", user_id="u1", wait=True)
    assert steps(receipt) == SHREDDED
    said(me, "Likes rye.")
    assert (readable(me), readable(other_user)) == ({"Likes rye."}, {"Likes tea."})
    for opened in house.opened:
        opened.close()
    shutil.copyfile(copy, path)
    for log in path.parent.glob(path.name + "-*"):
        log.unlink()
    for anchor in path.parent.glob(path.name + ".anchor*"):
        anchor.unlink()
    old = house.open()
    assert "Likes tea." not in readable(same_scope(old, me))
    assert readable(same_scope(old, other_user)) == {"Likes tea."}


@pytest.mark.promise("FOR-2")
@pytest.mark.parametrize("whole", [False, True])
def test_an_interrupted_deletion_is_carried_on(
    house: House,
    memory: Memory,
    me: ScopedMemory,
    monkeypatch: pytest.MonkeyPatch,
    *,
    whole: bool,
) -> None:
    for number in range(5):
        said(me, f"Bulk {number}.", kind="feedback", source_id=f"s{number}")
    monkeypatch.setattr(fanout, "CHUNK", 2)

    def stop(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(fanout.Fanout, "erase", stop)
        with pytest.raises(Killed):
            me.forget_all() if whole else me.forget_where(kinds=["feedback"])
    assert readable(me) == set()
    said(me, "Likes rye.", source_id="fresh")
    again = house.open()
    assert again.maintain().finished == 1
    (receipt,) = me.receipts()
    assert (receipt.is_finished, "shredded" in steps(receipt)) == (True, whole)
    assert me.counts().tombstones == 5
    assert texts(same_scope(again, me).list()) == ["Likes rye."]


@pytest.mark.promise("FOR-4")
def test_no_byte_of_it_was_ever_there(house: House, memory: Memory, me: ScopedMemory) -> None:
    text = "unique-needle-7f3a"
    kept = said(me, text, source_id=text)
    me.forget(kept.memory_id, wait=True)
    counts = scan(Path(house.path), spellings(text))
    assert not any(any(row) for row in counts.values())
