"""Shredding: without its data key exactly one scope is unreadable, in older copies too."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from muniment import Memory
from muniment.errors import NotFoundError, StoreError
from muniment.ports import OwnerState
from muniment.scope import Scope
from tests.sealing.conftest import Open, remember, scope_of, sealed_store, texts

USERS = ("user_1", "user_2", "user_3")


def state(memory: Memory, user_id: str) -> OwnerState:
    with memory._store.snapshot() as view:
        found = view.owner(Scope("acme", user_id, "helper"))
    assert found is not None
    return found


def fill(memory: Memory) -> dict[str, str]:
    return {
        user: remember(scope_of(memory, user), f"Known of {user}.", field="name", value=user)
        for user in USERS
    }


@pytest.mark.promise("SEC-1", "FOR-4")
def test_shredding_makes_exactly_one_scope_unreadable_in_an_older_copy_too(
    tmp_path: Path, open_memory: Open
) -> None:
    with open_memory(sealed=True) as memory:
        ids = fill(memory)
    older = tmp_path / "older.db"
    shutil.copy(tmp_path / "memory.db", older)
    with open_memory() as memory:
        assert memory._store.shred(state(memory, "user_2"))
        left = {user: texts(scope_of(memory, user)) for user in USERS}
        assert left == {
            "user_1": ["Known of user_1."],
            "user_2": [],
            "user_3": ["Known of user_3."],
        }
        me = scope_of(memory, "user_2")
        assert len(me.recall("Known", minimum_score=-1).packet) == 0
        assert len(me.recall("x", minimum_score=-1, filters={"field": "name"}).packet) == 0
        assert me.counts().active == 0
        assert me.candidates() == ()
        with pytest.raises(NotFoundError):
            me.get(ids["user_2"])
        assert [entry.action for entry in me.audit()] == ["remember"]
        assert memory.health().scopes == 2
    for suffix in (".key", ".keys", ".anchor"):
        shutil.copy(tmp_path / f"memory.db{suffix}", tmp_path / f"older.db{suffix}")
    with open_memory("older.db") as copy:
        assert {user: texts(scope_of(copy, user)) for user in USERS} == left


@pytest.mark.promise("SEC-1", "FOR-4")
def test_forgetting_one_record_shreds_it_in_an_older_copy_once_compacted(
    tmp_path: Path, open_memory: Open
) -> None:
    with open_memory(sealed=True) as memory:
        ids = fill(memory)
        remember(scope_of(memory, "user_2"), "Survives.", source_id="second")
    older = tmp_path / "older.db"
    shutil.copy(tmp_path / "memory.db", older)
    with open_memory() as memory:
        scope_of(memory, "user_2").forget(ids["user_2"], wait=True)
        assert texts(scope_of(memory, "user_2")) == ["Survives."]
        assert texts(scope_of(memory, "user_1")) == ["Known of user_1."]
    for suffix in (".key", ".keys", ".anchor"):
        shutil.copy(tmp_path / f"memory.db{suffix}", tmp_path / f"older.db{suffix}")
    with open_memory("older.db") as copy:
        with pytest.raises(StoreError, match="sealed again"):
            texts(scope_of(copy, "user_2"))
        assert texts(scope_of(copy, "user_1")) == ["Known of user_1."]


def test_a_plain_store_cannot_shred_and_says_so(open_memory: Open) -> None:
    memory = open_memory()
    fill(memory)
    assert not memory._store.shred(state(memory, "user_2"))
    assert texts(scope_of(memory, "user_2")) == ["Known of user_2."]


def test_another_process_stops_reading_a_shredded_scope(open_memory: Open) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    other = open_memory()
    assert texts(scope_of(other, "user_2")) == ["Known of user_2."]
    memory._store.shred(state(memory, "user_2"))
    assert texts(scope_of(other, "user_2")) == []


def test_a_scope_that_was_forgotten_and_shredded_may_start_anew(open_memory: Open) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    me = scope_of(memory, "user_2")
    me.forget_all()
    memory._store.shred(state(memory, "user_2"))
    remember(me, "Known again.", 2)
    assert texts(me) == ["Known again."]
    assert [item.record.text for item in me.recall("Known", minimum_score=-1).packet] == [
        "Known again."
    ]
    assert memory.verify().is_intact


def test_a_wrapped_key_that_was_destroyed_is_not_in_the_key_store(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    place = ("acme", state(memory, "user_2").owner_no)
    vault = sealed_store(memory)._vault
    rows = vault._file.run("every_data_key")
    (wrapped,) = [row[-1] for row in rows if tuple(row[:2]) == place]
    assert wrapped in (tmp_path / "memory.db.keys").read_bytes()
    memory._store.shred(state(memory, "user_2"))
    memory.close()
    for path in tmp_path.iterdir():
        assert wrapped not in path.read_bytes()


@pytest.mark.promise("FOR-4")
def test_resealing_makes_a_forgotten_record_unreadable_in_an_older_copy(
    tmp_path: Path, open_memory: Open
) -> None:
    with open_memory(sealed=True) as memory:
        me = scope_of(memory)
        gone = remember(me, "To be forgotten.", 1)
        remember(me, "To be kept.", 2)
    shutil.copy(tmp_path / "memory.db", tmp_path / "older.db")
    with open_memory() as memory:
        me = scope_of(memory)
        me.forget(gone)
        assert memory._store.reseal(state(memory, "user_42"))
        assert texts(me) == ["To be kept."]
        assert memory.verify().is_intact
    for suffix in (".key", ".keys", ".anchor"):
        shutil.copy(tmp_path / f"memory.db{suffix}", tmp_path / f"older.db{suffix}")
    with open_memory("older.db") as copy, pytest.raises(Exception, match="again"):
        texts(scope_of(copy))
