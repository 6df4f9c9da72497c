"""A process that is killed between the key store and the database loses nothing acknowledged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.sealing.conftest import Open, remember, scope_of, texts

KILLED = """
import os, sys
import muniment
from muniment.storage import sealed_writer, vault

point, path = sys.argv[1:]
memory = muniment.open(path, embedder="none")
kept = memory.scoped(tenant_id="acme", user_id="user_1", agent_id="helper")
kept.remember("Acknowledged.", kind="verified_fact", source_id="one", approved=True)
if point == "before the key":
    vault.Vault.add = lambda *given: os._exit(9)
elif point == "after the key":
    add = vault.Vault.add
    def killed(*given):
        add(*given)
        os._exit(9)
    vault.Vault.add = killed
elif point == "before the row":
    sealed_writer.SealedTransaction.insert = lambda *given: os._exit(9)
elif point == "before the commit":
    insert = sealed_writer.SealedTransaction.insert
    def killed(*given):
        insert(*given)
        os._exit(9)
    sealed_writer.SealedTransaction.insert = killed
new = memory.scoped(tenant_id="acme", user_id="user_2", agent_id="helper")
new.remember("Lost.", kind="verified_fact", source_id="two", approved=True)
"""


@pytest.mark.parametrize(
    "point", ["before the key", "after the key", "before the row", "before the commit"]
)
def test_a_kill_between_the_key_and_the_row_loses_nothing_acknowledged(
    tmp_path: Path, open_memory: Open, point: str
) -> None:
    path = tmp_path / "memory.db"
    open_memory(sealed=True).close()
    done = subprocess.run(
        [sys.executable, "-c", KILLED, point, str(path)], capture_output=True, check=False
    )
    assert done.returncode == 9, done.stderr
    memory = open_memory()
    assert texts(scope_of(memory, "user_1")) == ["Acknowledged."]
    assert texts(scope_of(memory, "user_2")) == []
    remember(scope_of(memory, "user_2"), "Written after all.", 2)
    assert texts(scope_of(memory, "user_2")) == ["Written after all."]
    assert memory.verify().is_intact


MAKING = """
import os, sys
import muniment
from muniment.storage import sqlite_schema
from muniment.storage.unlock import Unlocker

make = Unlocker.make
def killed(self):
    make(self)
    os._exit(9)
Unlocker.make = killed
muniment.open(sys.argv[1], sealed=sys.argv[2] == "True", embedder="none")
"""


@pytest.mark.parametrize("sealed", [False, True])
def test_a_kill_while_a_store_is_made_leaves_one_that_can_be_made(
    tmp_path: Path, open_memory: Open, sealed: bool
) -> None:
    path = tmp_path / "memory.db"
    done = subprocess.run(
        [sys.executable, "-c", MAKING, str(path), str(sealed)], capture_output=True, check=False
    )
    assert done.returncode == 9, done.stderr
    memory = open_memory(sealed=sealed)
    remember(scope_of(memory), "Kept.")
    memory.close()
    assert texts(scope_of(open_memory())) == ["Kept."]
