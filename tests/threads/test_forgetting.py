"""The end of a thread: everything in it goes, and what was derived from it goes or is named."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from muniment import Memory, Receipt, ScopedMemory
from muniment.errors import NotFoundError, TombstonedError
from tests.threads.conftest import surfaces

NEEDLE = "a peculiar needle"
SCAN = """
import pathlib, sys
files = pathlib.Path(sys.argv[1]).iterdir()
print(sum(sys.argv[2].encode() in file.read_bytes() for file in files))
"""


@pytest.fixture
def told(me: ScopedMemory) -> ScopedMemory:
    """Return a scope in which statements were derived from a thread, and others were not."""
    thread = me.thread("t7")
    thread.append(f"I hold {NEEDLE}.", event_id="evt-1")
    thread.append("Say no more.", event_id="evt-2")
    said = me.remember(f"Holds {NEEDLE}.", kind="insight", source_id="t7:1", approved=True)
    me.propose(f"Loves {NEEDLE}.", kind="insight", source_id="x", evidence=["evt-2"])
    me.propose("Trusts us.", kind="insight", source_id="y", evidence=[said.memory_id])
    me.remember("Likes rye.", kind="insight", source_id="t70", approved=True)
    me.thread("t70").append("Rye, please.", event_id="evt-70")
    return me


def texts(me: ScopedMemory) -> set[str]:
    waiting = {one.statement.text for one in me.candidates()}
    return waiting | {record.text for record in me.list().records}


@pytest.mark.promise("THR-2", "FOR-1", "FOR-2", "FOR-5")
def test_with_cascade_nothing_of_it_is_left(
    memory: Memory, told: ScopedMemory, tmp_path: Path
) -> None:
    rehearsed = told.forget_thread("t7", cascade=True, dry_run=True)
    receipt = told.forget_thread("t7", cascade=True, wait=True)
    assert {name: found for name, (found, _, _) in surfaces(rehearsed).items()} == {
        name: found for name, (found, _, _) in surfaces(receipt).items()
    }
    assert surfaces(receipt) == {
        "records": (1, 1, 0),
        "words": (1, 1, 0),
        "candidates": (2, 2, 0),
        "threads": (1, 1, 0),
        "events": (2, 2, 0),
    }
    assert texts(told) == {"Likes rye."}
    assert told.thread("t7").info() is None
    assert [event.content for event in told.thread("t70").latest()] == ["Rye, please."]
    assert not any("derived" in sentence for sentence in receipt.remains)
    assert told.verify_receipt(receipt)
    assert memory.verify().is_intact
    assert "t7" not in repr(receipt)
    found = subprocess.run(
        [sys.executable, "-c", SCAN, str(tmp_path), NEEDLE], check=True, capture_output=True
    )
    assert found.stdout.strip() == b"0"


@pytest.mark.promise("THR-2", "FOR-1")
def test_without_cascade_the_answer_names_what_stays(told: ScopedMemory) -> None:
    before = texts(told)
    ids = {one.candidate_id for one in told.candidates()}
    ids |= {one.memory_id for one in told.list().records if one.text != "Likes rye."}
    for receipt in (told.forget_thread("t7", dry_run=True), told.forget_thread("t7")):
        (named,) = (sentence for sentence in receipt.remains if "derived" in sentence)
        assert named.startswith("3 statements")
        assert all(one in named for one in ids)
    assert texts(told) == before
    assert told.thread("t7").info() is None


@pytest.mark.promise("THR-2", "FOR-3")
def test_nothing_late_brings_it_back(told: ScopedMemory) -> None:
    thread = told.thread("t7")
    thread.forget(cascade=True)
    with pytest.raises(TombstonedError):
        thread.append("late", event_id="evt-3")
    with pytest.raises(TombstonedError):
        thread.create()
    with pytest.raises(TombstonedError):
        told.propose("Late.", kind="insight", source_id="late", evidence=["evt-1"])
    with pytest.raises(NotFoundError):
        thread.forget()
    thread.create(anew=True)
    with pytest.raises(TombstonedError):
        thread.append("I am back.", event_id="evt-1")
    assert thread.append("Something else.", event_id="evt-4").number == 1


@pytest.mark.promise("FOR-1")
def test_a_cleared_thread_may_go_on(told: ScopedMemory) -> None:
    thread = told.thread("t70")
    receipt = thread.clear(wait=True)
    assert surfaces(receipt) == {"events": (1, 1, 0)}
    assert thread.append("Anew.").number == 2
    assert thread.clear().receipt_id
    assert thread.clear().receipt_id == ""
    assert told.thread("never").clear().receipt_id == ""


@pytest.mark.promise("FOR-1", "FOR-3")
@pytest.mark.parametrize("whole", ["all", "user", "agent", "tenant"])
def test_whoever_goes_takes_the_threads_along(
    memory: Memory, told: ScopedMemory, whole: str
) -> None:
    only_threads = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
    ways: dict[str, Callable[[bool], Receipt]] = {
        "all": lambda dry: only_threads.forget_all(dry_run=dry, wait=True),
        "user": lambda dry: memory.forget_user(
            tenant_id="acme", user_id="user_42", dry_run=dry, wait=True
        ),
        "agent": lambda dry: memory.forget_agent(
            tenant_id="acme", agent_id="helper", dry_run=dry, wait=True
        ),
        "tenant": lambda dry: memory.forget_tenant(tenant_id="acme", dry_run=dry, wait=True),
    }
    forget = ways[whole]
    assert surfaces(forget(True))["threads"][0] == 2
    receipt = forget(False)
    assert surfaces(receipt)["threads"] == (2, 2, 0)
    assert surfaces(receipt)["events"] == (3, 3, 0)
    assert told.threads() == ()
    assert (told.counts().threads, told.counts().entries) == (0, 0)
    with pytest.raises(TombstonedError):
        told.thread("t7").append("late")
    with pytest.raises(TombstonedError):
        told.propose("Late.", kind="insight", source_id="late", evidence=["evt-2"])


@pytest.mark.promise("FOR-1")
def test_a_scope_with_nothing_but_a_thread_can_be_forgotten(me: ScopedMemory) -> None:
    me.thread("t").append("alone")
    assert surfaces(me.forget_all()) == {"threads": (1, 1, 0), "events": (1, 1, 0)}


@pytest.mark.promise("SEC-1")
@pytest.mark.parametrize("location", ["sealed"], indirect=True)
def test_a_sealed_store_shows_no_name_and_no_word(
    memory: Memory, told: ScopedMemory, tmp_path: Path
) -> None:
    told.thread("t7").set_state({"secret state": 1})
    memory.close()
    with sqlite3.connect(tmp_path / "memory.db") as raw:
        rows = [*raw.execute("SELECT * FROM threads"), *raw.execute("SELECT * FROM entries")]
    assert len(rows) == 5
    shown = repr(rows)
    assert not [word for word in ("t7", "evt-", "needle", "secret", "Rye") if word in shown]
