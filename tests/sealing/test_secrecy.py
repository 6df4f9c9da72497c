"""No file of a sealed store holds a word of what it remembers."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from muniment import Memory, Statement
from tests.sealing import scan
from tests.sealing.conftest import Open, remember, scope_of

COUNT = 3000


def found(folder: Path, needles: Sequence[str]) -> list[str]:
    """Return where needles lie in plain sight in the files of a folder."""
    done = subprocess.run(
        [sys.executable, scan.__file__, str(folder)],
        input="\n".join(needles),
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )
    return done.stdout.splitlines()


def needle(sort: str, number: int) -> str:
    return f"{sort}نشان{number:05d}z"


def everything(number: int) -> Statement:
    return Statement(
        kind="verified_fact",
        text=f"{needle('text', number)} stands in the record.",
        source_id=needle("source", number),
        field=needle("field", number),
        value={"is": needle("value", number)},
        metadata={needle("label", number): needle("metadata", number)},
        reference=needle("reference", number),
    )


SORTS = ("text", "source", "field", "value", "label", "metadata", "reference")


def fill(memory: Memory) -> None:
    me = memory.scoped(tenant_id="acme", user_id=needle("user", 0), agent_id=needle("agent", 0))
    me.remember_many([everything(number) for number in range(COUNT)], approved=True)
    candidate = me.propose(
        needle("proposal", 0),
        kind="context",
        source_id=needle("source", COUNT),
        evidence=[needle("evidence", 0)],
        proposer=needle("proposer", 0),
    )
    me.reject(candidate.candidate_id, reason=needle("reason", 0))
    me.correct(me.list(limit=1).records[0].memory_id, text=needle("correction", 0), value=None)


NEEDLES = [needle(sort, number) for sort in SORTS for number in range(0, COUNT, 7)]
SINGLE = [
    needle(sort, 0)
    for sort in ("user", "agent", "proposal", "evidence", "proposer", "reason", "correction")
]


@pytest.mark.promise("SEC-1")
def test_no_word_of_the_records_lies_in_any_file_of_a_sealed_store(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("sealed/memory.db", sealed=True)
    fill(memory)
    assert found(tmp_path / "sealed", NEEDLES + SINGLE) == []
    memory.close()
    assert found(tmp_path / "sealed", NEEDLES + SINGLE) == []


def test_the_same_search_finds_everything_in_a_plain_store(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("plain/memory.db")
    fill(memory)
    memory.close()
    lines = found(tmp_path / "plain", NEEDLES[:50] + SINGLE)
    assert len({line.partition(" ")[2] for line in lines}) == 50 + len(SINGLE)


def test_a_copy_without_its_keys_tells_only_kinds_states_and_times(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("memory.db", sealed=True)
    remember(scope_of(memory), "Prefers the aisle.", field="seat", value="aisle")
    memory.close()
    (tmp_path / "copy").mkdir()
    shutil.copy(tmp_path / "memory.db", tmp_path / "copy" / "memory.db")
    assert found(tmp_path / "copy", ["aisle", "seat", "user_42", "helper", "source-1"]) == []
    assert found(tmp_path / "copy", ["acme", "verified_fact"]) != []
