"""After compaction the bytes are in no file, as another process sees them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from muniment import Memory, ScopedMemory, Statement
from muniment.ports import Block
from muniment.rules.text import tokenise
from muniment.services import packing
from muniment.services.words import WordKeys
from tests.behaviour.conftest import House, said
from tests.forgetting.looking import scan, spellings, surfaces

NEEDLES = ["unique-needle-7f3a", "سوزنِ یگانه", "針は一つ", 'needle "quoted" \\ and \n broken']


def found(house: House, needles: list[bytes]) -> set[int]:
    """Return which needles the files of the store hold."""
    counts = scan(Path(house.path), needles)
    return {place for row in counts.values() for place, count in enumerate(row) if count}


@pytest.mark.promise("FOR-4")
@pytest.mark.parametrize("text", NEEDLES)
def test_no_spelling_of_a_forgotten_text_is_left(
    house: House, memory: Memory, me: ScopedMemory, text: str
) -> None:
    said(me, "Likes rye.", source_id="rye")
    kept = said(
        me,
        f"Holds {text}.",
        source_id=f"src {text}",
        field=f"f {text}",
        value={"v": text},
        metadata={"k": [text]},
    )
    me.propose(f"holds {text}.", kind="insight", source_id=f"c {text}", evidence=[kept.memory_id])
    needles = spellings(text)
    assert found(house, needles)
    me.forget(kept.memory_id, wait=True)
    assert found(house, needles) == set()
    assert found(house, [b"Likes rye."]) == {0}


@pytest.mark.promise("FOR-4")
def test_no_word_list_and_no_vector_of_it_is_left(
    house: House, memory: Memory, me: ScopedMemory
) -> None:
    text = "Holds a peculiar needle."
    kept = said(me, text, source_id="1")
    hasher = WordKeys(memory._store.keys).of(me.scope)
    words = hasher.pack(tokenise(text), [text])
    assert house.embedder is not None
    vector = house.embedder.embed_passages([text])[0].astype("<f4").tobytes()
    assert found(house, [words, vector]) == {0, 1}
    me.forget(kept.memory_id, wait=True)
    assert found(house, [words, vector]) == set()


@pytest.mark.promise("FOR-4")
def test_thousands_of_forgotten_texts_leave_no_byte(
    house: House, memory: Memory, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    batch = [Statement("feedback", f"needle<{n}>{n * 7919}", f"src<{n}>") for n in range(2000)]
    me.remember_many(batch, approved=True)
    said(other_user, "needle<1>7919", source_id="src<1>")
    memory.forget_agent(tenant_id="t1", agent_id="a1", wait=True)
    every = [statement.text.encode() for statement in batch]
    every += [f"src<{n}>".encode() for n in range(2000)]
    assert found(house, every) == set()


@pytest.mark.promise("FOR-5")
def test_the_same_words_of_a_neighbour_stay_in_the_file(
    house: House, me: ScopedMemory, other_user: ScopedMemory
) -> None:
    said(other_user, "unique-needle-7f3a")
    kept = said(me, "unique-needle-7f3a")
    me.forget(kept.memory_id, wait=True)
    assert found(house, [b"unique-needle-7f3a"]) == {0}
    assert other_user.counts().active == 1


def test_the_scan_finds_what_is_there_and_refuses_what_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"xx needle needle")
    (tmp_path / "a.db-wal").write_bytes(b"needle")
    assert scan(tmp_path / "a.db", [b"needle", b"hay"]) == {"a.db": [2, 0], "a.db-wal": [1, 0]}
    command = [sys.executable, "-m", "muniment.storage.bytescan", str(tmp_path / "none.db")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.promise("FOR-4")
def test_no_block_that_held_it_is_left(
    house: House, memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packing, "LEAST_UPKEEP", 1)
    text = "Holds a peculiar needle."
    said(me, "Likes rye.", source_id="rye")
    kept = said(me, text, source_id="1")
    assert memory.maintain().packed == 1
    block = packed(memory, me)
    assert block is not None
    hasher = WordKeys(memory._store.keys).of(me.scope)
    hashed = hasher.hash("needl").to_bytes(4, "little")
    assert hashed in block.content
    assert house.embedder is not None
    rows = house.embedder.embed_passages([text, "Likes rye."]).astype("<f4")
    needles = [block.content, *(row.tobytes() for row in rows)]
    assert found(house, needles) == {0, 1, 2}
    receipt = me.forget(kept.memory_id, wait=True)
    assert surfaces(receipt)["blocks"] == (1, 1, 0)
    assert surfaces(receipt)["vectors"] == (1, 1, 0)
    assert found(house, needles) == {2}
    memory.maintain()
    again = packed(memory, me)
    assert again is not None
    assert hashed not in again.content
    assert [item.record.text for item in me.recall("rye needle").packet] == ["Likes rye."]


def packed(memory: Memory, me: ScopedMemory) -> Block | None:
    with memory._store.snapshot() as view:
        state = view.owner(me.scope)
        assert state is not None
        return next(iter(view.blocks(state, None)), None)
