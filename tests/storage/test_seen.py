"""What was read of an owner is not taken for what is there now."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import muniment
from muniment import Memory, ScopedMemory
from muniment.errors import TamperedError

HERE = {"tenant_id": "t1", "user_id": "u1", "agent_id": "a1"}


def _told(me: ScopedMemory) -> None:
    me.remember(
        "An aisle seat.",
        kind="preference",
        field="seat",
        value="aisle",
        source_id="s1",
        approved=True,
    )


def _opened(path: Path) -> tuple[Memory, ScopedMemory]:
    memory = muniment.open(path, embedder="none")
    return memory, memory.scoped(**HERE)


def _contested(me: ScopedMemory) -> list[bool]:
    return [item.contested for item in me.recall("seat aisle")]


@pytest.mark.promise("CON-3")
@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_contradiction_is_shown_from_the_next_recall_and_until_it_is_decided(
    tmp_path: Path, *, elsewhere: bool
) -> None:
    memory, me = _opened(tmp_path / "memory.db")
    other, them = _opened(tmp_path / "memory.db") if elsewhere else (memory, me)
    _told(me)
    assert [_contested(me) for _ in range(3)] == [[False]] * 3
    told = them.propose(
        "A window seat.", kind="preference", field="seat", value="window", source_id="s2"
    )
    assert [_contested(me) for _ in range(3)] == [[True]] * 3
    them.reject(told.candidate_id, reason="untrue")
    assert [_contested(me) for _ in range(3)] == [[False]] * 3
    other.close()
    memory.close()


@pytest.mark.promise("AUD-1")
def test_an_owner_that_was_changed_after_it_was_seen_is_refused(tmp_path: Path) -> None:
    memory, me = _opened(tmp_path / "memory.db")
    _told(me)
    assert len(me.recall("seat aisle")) == 1
    behind = apsw.Connection(str(tmp_path / "memory.db"))
    behind.execute("UPDATE owners SET version = version + 1")
    behind.close()
    with pytest.raises(TamperedError):
        me.recall("seat aisle")
    with pytest.raises(TamperedError):
        me.remember("A window seat.", kind="preference", source_id="s2", approved=True)
    memory.close()
