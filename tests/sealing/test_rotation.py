"""Other keys for a sealed store, the master key and the scopes' data keys; nothing is lost."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment import Memory
from muniment.errors import InvalidInputError, StoreError, WrongKeyError
from muniment.keyfile import KeyFile
from muniment.ports import SealedRow, Transaction
from muniment.storage.sealed_pieces import sealed_again as original
from muniment.storage.sealing import Sealer
from muniment.storage.vault import Place
from tests.sealing.conftest import Open, remember, scope_of, sealed_store, texts
from tests.sealing.test_shredding import state

COUNT = 6


def fill(memory: Memory) -> None:
    for user in ("user_1", "user_2"):
        me = scope_of(memory, user)
        for number in range(COUNT):
            remember(me, f"Statement {number} of {user}.", number)
        candidate = me.propose("Perhaps.", kind="context", source_id="perhaps")
        me.reject(candidate.candidate_id, reason="No.")
        me.propose("Maybe.", kind="context", source_id="maybe")


def told(memory: Memory) -> list[object]:
    return [
        (
            texts(me),
            [record.memory_id for record in me.list(limit=100)],
            [(c.statement, c.evidence, c.content_hash) for c in me.candidates()],
            [(c.reason, c.decided_by) for c in me.candidates(status="rejected")],
            [item.record.text for item in me.recall("Statement", minimum_score=-1).packet],
        )
        for me in (scope_of(memory, user) for user in ("user_1", "user_2"))
    ]


@pytest.mark.promise("SEC-1")
def test_another_master_key_opens_the_store_and_the_old_one_no_more(open_memory: Open) -> None:
    old, new = os.urandom(32), os.urandom(32)
    with open_memory(sealed=True, key=old) as memory:
        fill(memory)
        before = told(memory)
        assert memory.rotate_keys(new) == 2
        assert told(memory) == before
        remember(scope_of(memory, "user_3"), "Later.")
    with pytest.raises(WrongKeyError):
        open_memory(key=old)
    with open_memory(key=new) as memory:
        assert told(memory) == before
        assert texts(scope_of(memory, "user_3")) == ["Later."]
        assert memory.verify().is_intact


def test_the_default_key_file_gets_a_new_key(tmp_path: Path, open_memory: Open) -> None:
    path = tmp_path / "memory.db.key"
    with open_memory(sealed=True) as memory:
        fill(memory)
        before, old = told(memory), KeyFile(path).load()
        memory.rotate_keys()
        assert KeyFile(path).load() != old
        assert path.stat().st_mode & 0o777 == 0o600
    assert told(open_memory()) == before


def test_a_rotation_that_was_killed_before_the_key_file_moved_is_finished(
    tmp_path: Path, open_memory: Open
) -> None:
    path = tmp_path / "memory.db.key"
    with open_memory(sealed=True) as memory:
        fill(memory)
        before = told(memory)
        shutil.copy(path, tmp_path / "old")
        memory.rotate_keys()
    path.rename(tmp_path / "memory.db.key.next")
    (tmp_path / "old").rename(path)
    assert told(open_memory()) == before
    assert not (tmp_path / "memory.db.key.next").exists()


def test_a_rotation_that_was_killed_before_the_keys_moved_changed_nothing(
    tmp_path: Path, open_memory: Open
) -> None:
    with open_memory(sealed=True) as memory:
        fill(memory)
        before = told(memory)
    KeyFile(tmp_path / "memory.db.key.next").create()
    with open_memory() as memory:
        assert told(memory) == before
        memory.rotate_keys()
    assert told(open_memory()) == before


def test_another_process_that_holds_the_old_master_key_is_told(open_memory: Open) -> None:
    key = os.urandom(32)
    with open_memory(sealed=True, key=key) as memory:
        fill(memory)
    other = open_memory(key=key)
    before = told(other)
    with open_memory(key=key) as memory:
        memory.rotate_keys(os.urandom(32))
        assert told(memory) == before
    with pytest.raises(WrongKeyError):
        told(other)


def test_a_plain_store_has_no_master_key_to_replace(open_memory: Open) -> None:
    with pytest.raises(InvalidInputError, match="sealed"):
        open_memory().rotate_keys(os.urandom(32))


def test_a_key_that_is_elsewhere_is_replaced_only_by_a_named_one(open_memory: Open) -> None:
    with pytest.raises(InvalidInputError, match="name the new one"):
        open_memory(sealed=True, key=os.urandom(32)).rotate_keys()


@pytest.mark.promise("SEC-1")
def test_new_data_keys_change_every_ciphertext_and_no_answer(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    before, held = told(memory), ciphertexts(memory)
    memory.rotate_keys(reseal=True)
    assert told(memory) == before
    assert not held & ciphertexts(memory)
    assert memory.verify().is_intact
    assert told(open_memory()) == before


def ciphertexts(memory: Memory) -> set[object]:
    """Return every sealed column as the database holds it, and the owners' labels."""
    found: set[object] = set()
    with sealed_store(memory)._inner.snapshot() as view:
        for owner in view.owners():
            found.add(owner.label)
            for table in ("records", "words", "vectors", "candidates"):
                place = (owner.owner.tenant_id, owner.owner_no)
                for row in view.sealed_rows(*place, table, 1, 1000):
                    found |= {part for part in row.parts if part is not None}
    return found


class StopError(Exception):
    """The process would have been killed here."""


def failing_after(rows: int) -> Callable[[SealedRow, Sealer], SealedRow | None]:
    left = [rows]

    def sealed_again(row: SealedRow, sealer: Sealer) -> SealedRow | None:
        left[0] -= 1
        if left[0] < 0:
            raise StopError
        return original(row, sealer)

    return sealed_again


@pytest.mark.parametrize("rows", [0, 1, 5, 9, 14])
def test_an_interrupted_resealing_is_read_as_before_and_goes_on(
    monkeypatch: pytest.MonkeyPatch, open_memory: Open, rows: int
) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    before, held = told(memory), ciphertexts(memory)
    owners = [state(memory, user) for user in ("user_1", "user_2")]
    with monkeypatch.context() as patched:
        patched.setattr("muniment.storage.sealed.RANGE", 3)
        patched.setattr("muniment.storage.sealed.sealed_again", failing_after(rows))
        with pytest.raises(StopError):
            memory._store.reseal(owners[0])
    assert told(memory) == before
    remember(scope_of(memory, "user_1"), "Written meanwhile.", 99)
    for owner in owners:
        memory._store.reseal(owner)
    assert not held & ciphertexts(memory)
    assert "Written meanwhile." in texts(scope_of(memory, "user_1"))
    assert memory.verify().is_intact
    keys = sealed_store(memory)._vault.data_keys(Place("acme", owners[0].owner_no))
    assert [key.cipher is not None for key in keys.values()] == [False, True]


def test_a_writer_of_another_process_uses_the_new_data_key(open_memory: Open) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    other = open_memory()
    remember(scope_of(other, "user_1"), "Before.", 50)
    memory._store.reseal(state(memory, "user_1"))
    remember(scope_of(other, "user_1"), "After.", 51)
    for opened in (memory, other, open_memory()):
        assert {"Before.", "After."} <= set(texts(scope_of(opened, "user_1")))
        assert opened.verify().is_intact


def test_a_row_that_was_altered_stops_a_resealing_before_a_key_is_destroyed(
    open_memory: Open,
) -> None:
    memory = open_memory(sealed=True)
    fill(memory)
    owner = state(memory, "user_1")

    def swap(tx: Transaction) -> None:
        place = (owner.owner.tenant_id, owner.owner_no)
        first, second = tx.sealed_rows(*place, "words", 1, 2)
        tx.put_sealed(*place, first._replace(parts=second.parts))

    sealed_store(memory)._inner.write(swap)
    with pytest.raises(StoreError, match="altered"):
        memory._store.reseal(owner)
    assert len(texts(scope_of(memory, "user_1"))) == COUNT
