"""No file of a sealed store holds a word of what it remembers."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from muniment import Memory, Statement
from muniment.rules.text import tokenise
from tests.sealing import scan
from tests.sealing.conftest import Open, remember, scope_of

COUNT = 10_000


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


def text(number: int) -> str:
    return f"{needle('text', number)} Word{number:07d}qz یادداشت{number:07d}"


def everything(number: int) -> Statement:
    return Statement(
        kind="verified_fact",
        text=text(number),
        source_id=needle("source", number),
        field=needle("field", number),
        value={"is": needle("value", number)},
        metadata={needle("label", number): needle("metadata", number)},
        reference=needle("reference", number),
    )


SORTS = ("source", "field", "value", "label", "metadata", "reference")


def fill(memory: Memory, count: int) -> None:
    me = memory.scoped(tenant_id="acme", user_id=needle("user", 0), agent_id=needle("agent", 0))
    me.remember_many([everything(number) for number in range(count)], approved=True)
    candidate = me.propose(
        needle("proposal", 0),
        kind="context",
        source_id=needle("source", COUNT),
        evidence=[needle("evidence", 0)],
        proposer=needle("proposer", 0),
    )
    me.reject(candidate.candidate_id, reason=needle("reason", 0))
    me.correct(me.list(limit=1).records[0].memory_id, text=needle("correction", 0), value=None)


def written(numbers: Iterable[int]) -> list[str]:
    """Return every word of the records with these numbers."""
    return [
        word
        for number in numbers
        for word in (*text(number).split(), *(needle(sort, number) for sort in SORTS))
    ]


WRITTEN = written(range(COUNT))
INDEXED = [word for number in range(COUNT) for word in tokenise(text(number))]
NEEDLES = WRITTEN + INDEXED
SINGLE = [
    needle(sort, 0)
    for sort in ("user", "agent", "proposal", "evidence", "proposer", "reason", "correction")
]


@pytest.mark.slow
@pytest.mark.promise("SEC-1")
def test_no_word_of_the_records_lies_in_any_file_of_a_sealed_store(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("sealed/memory.db", sealed=True)
    fill(memory, COUNT)
    assert found(tmp_path / "sealed", NEEDLES + SINGLE) == []
    memory.close()
    assert found(tmp_path / "sealed", NEEDLES + SINGLE) == []


def test_the_same_search_finds_everything_in_a_plain_store(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("plain/memory.db")
    fill(memory, 1000)
    memory.close()
    expected = {*SINGLE, *written(range(1000))}
    lines = found(tmp_path / "plain", [*expected])
    assert {line.partition(" ")[2] for line in lines} == expected


def spelt(word: str, encoding: str) -> bytes:
    return json.dumps(word)[1:-1].encode() if encoding == "json" else word.encode(encoding)


def test_the_same_search_finds_one_word_anywhere_in_a_sealed_file(
    tmp_path: Path, open_memory: Open
) -> None:
    memory = open_memory("sealed/memory.db", sealed=True)
    remember(scope_of(memory), "Prefers the aisle.")
    memory.close()
    held = (tmp_path / "sealed" / "memory.db").read_bytes()
    planted: set[str] = set()
    for encoding in ("utf-8", "utf-16-le", "utf-16-be", "json"):
        for word in (WRITTEN[17], INDEXED[-1], SINGLE[0], "aisle"):
            for start in (0, len(held) // 2 + len(planted), len(held)):
                name = f"{encoding}-{start}-{word}"
                edited = held[:start] + spelt(word, encoding) + held[start:]
                (tmp_path / "sealed" / name).write_bytes(edited)
                planted.add(f"{name} {word}")
    assert set(found(tmp_path / "sealed", [*NEEDLES, *SINGLE, "aisle"])) == planted


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
