"""Published failures of deletion: residue, resurrection, and too much of it."""

from __future__ import annotations

import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest

from muniment import (
    BatchError,
    Memory,
    NotFoundError,
    ScopedMemory,
    Statement,
    TombstonedError,
)
from muniment.testing import FakeEmbedder
from muniment.threads import NewSummary
from tests.behaviour.conftest import HYBRID, LEXICAL, House, ids, said, same_scope, texts


def files_hold(house: House, needle: str) -> bool:
    """Whether another process finds a text in any file of the store."""
    found = subprocess.run(
        [sys.executable, "-m", "muniment.storage.bytescan", str(house.path)],
        input=needle.encode().hex(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode in (0, 1), found.stderr
    return found.returncode == 1


def returned(me: ScopedMemory, query: str) -> list[str]:
    """Return what recall, a listing recall and list give."""
    recalled = me.recall(query, minimum_score=-1, limit=1000, budget=None)
    about = me.recall("What do you know about me?", minimum_score=-1, limit=1000, budget=None)
    return texts([*recalled, *about]) + texts(me.list(limit=1000, superseded=True))


@LEXICAL
@pytest.mark.promise("FOR-1")
def test_session_copy_stays(me: ScopedMemory) -> None:
    """adk#7109"""
    thread = me.thread("th")
    thread.append({"role": "user", "content": "remember: locker 42"})
    copied = said(me, "locker 42", source_id="th:0")
    said(me, "locker 43", source_id="other:0")
    told = me.forget_thread("th").remains
    assert any(copied.memory_id in sentence for sentence in told)
    assert (thread.info(), thread.events()) == (None, ())
    assert set(returned(me, "locker")) == {"locker 42", "locker 43"}
    rehearsed = me.forget_where(source_prefix="th:", dry_run=True)
    assert rehearsed.records == 1
    me.forget_where(source_prefix="th:")
    assert set(returned(me, "locker")) == {"locker 43"}


@pytest.mark.promise("FOR-2")
def test_index_residue(house: House, me: ScopedMemory) -> None:
    """mem0#3695"""
    kept = said(me, "allergic to peanuts", source_id="s1")
    elsewhere = same_scope(house.open(), me)
    assert returned(elsewhere, "peanuts")
    receipt = me.forget_all(wait=True)
    for one in (me, elsewhere):
        exported = StringIO()
        one.export(exported)
        assert returned(one, "peanuts") == []
        assert "peanuts" not in exported.getvalue()
        with pytest.raises(NotFoundError):
            one.get(kept.memory_id)
    assert all(surface.left == 0 for surface in receipt.surfaces)
    assert receipt.memory_ids == (kept.memory_id,)


@pytest.mark.promise("FOR-3")
def test_resurrection(house: House, memory: Memory, me: ScopedMemory) -> None:
    """cognee#3526"""
    kept = said(me, "my name is Zed", source_id="s1")
    me.forget(kept.memory_id)
    second = house.open(embedder=FakeEmbedder(name="second"))
    second.embed()
    memory.maintain()
    with pytest.raises(TombstonedError):
        said(me, "my name is Zed", source_id="s1")
    with pytest.raises(BatchError):
        me.import_many([Statement("preference", "my name is Zed", "index m1")])
    assert returned(me, "Zed") == []


@LEXICAL
@pytest.mark.promise("FOR-4")
def test_plaintext_left_on_disk(house: House, me: ScopedMemory) -> None:
    """chroma#3793"""
    needle = "unique-needle-7f3a"
    kept = said(me, needle, source_id="s1")
    assert files_hold(house, needle)
    me.forget(kept.memory_id, wait=True)
    assert not files_hold(house, needle)
    house.opened[0].close()
    assert not files_hold(house, needle)
    for file in Path(house.path).parent.iterdir():
        assert needle.encode() not in file.read_bytes()


@LEXICAL
@pytest.mark.promise("FOR-5")
def test_over_delete_config(house: House, memory: Memory, me: ScopedMemory) -> None:
    """hindsight#889"""
    said(me, "x", source_id="s1")
    before = memory.policy
    me.forget_all()
    assert memory.policy == before
    said(me, "y", source_id="s2")
    assert texts(me.list()) == ["y"]
    assert [entry.action for entry in me.audit()] == ["remember", "forget", "remember"]


@HYBRID
@pytest.mark.promise("FOR-5")
def test_wrong_top_k_after_delete(me: ScopedMemory) -> None:
    """chroma#4275"""
    batch = [Statement("feedback", f"fact number {n} about topic {n}", f"s{n}") for n in range(400)]
    me.remember_many(batch, approved=True)
    first = {"source_id": {"in": [f"s{n}" for n in range(200)]}}
    assert me.forget_where(filters=first).records == 200
    for n in range(200, 400):
        query = f"fact number {n} about topic {n}"
        (best,) = me.recall(query, limit=1)
        assert best.record.text == query
    query = "fact number 300 about topic 300"
    one, three = me.recall(query, limit=1), me.recall(query, limit=3)
    assert ids(three)[:1] == ids(one)


@LEXICAL
@pytest.mark.promise("FOR-3", "ANS-7")
def test_race_with_consolidation(me: ScopedMemory) -> None:
    """hindsight#3294"""
    kept = said(me, "secret X", source_id="s1")
    (read,) = me.list()
    me.forget(kept.memory_id)
    for text in (read.text, "a paraphrase of it"):
        with pytest.raises(TombstonedError):
            me.propose(text, kind="insight", source_id="job", evidence=[read.memory_id])
    assert returned(me, "secret X") == []
    assert me.candidates() == ()
    assert me.audit()[-1].action == "refused"


@LEXICAL
@pytest.mark.promise("FOR-2")
def test_derived_residue(house: House, memory: Memory, me: ScopedMemory) -> None:
    """mnemosyne#904"""
    kept = said(me, "Bob's PIN hint is tulip", source_id="s1")
    me.propose("The hint is a flower.", kind="insight", source_id="g", evidence=[kept.memory_id])
    by_filter = said(me, "Ann's hint is rose", source_id="s2", metadata={"tag": "x"})
    me.propose("Roses, then.", kind="insight", source_id="h", evidence=[by_filter.memory_id])
    brief = said(me, "The hint is oak for a day.", expires_at="2030-01-02T00:00:00Z")
    threads = [me.thread(name) for name in ("single", "filtered", "lapsed")]
    for thread, source in zip(threads, (kept, by_filter, brief), strict=True):
        thread.append("What is the hint?")
        references = (source.memory_id,)
        thread.save_summary(NewSummary("The hint.", last=1, references=references, summariser="m"))
    me.forget(kept.memory_id)
    me.forget_where(filters={"metadata.tag": "x"})
    house.clock.set("2030-01-03T00:00:00Z")
    memory.maintain()
    assert (me.candidates(), returned(me, "hint")) == ((), [])
    assert [[told.text for told in thread.summaries()] for thread in threads] == [[""]] * 3


@HYBRID
@pytest.mark.promise("FOR-2", "FOR-4")
def test_vector_orphan(house: House, me: ScopedMemory) -> None:
    """PACT#1278"""
    kept = said(me, "zebra stripes", source_id="s1")
    receipt = me.forget(kept.memory_id, wait=True)
    left = {surface.name: surface.left for surface in receipt.surfaces}
    assert (left["vectors"], left["words"], left["records"]) == (0, 0, 0)
    assert not files_hold(house, "zebra stripes")


@pytest.mark.promise("FOR-5")
def test_over_delete_shared(memory: Memory, me: ScopedMemory, other_user: ScopedMemory) -> None:
    """cognee#2732"""
    other_agent = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a2")
    for one in (me, other_user, other_agent):
        said(one, "shared text", source_id="s1")
    me.forget_where(source_id="s1")
    me.forget_all()
    for one in (other_user, other_agent):
        assert texts(one.recall("shared text")) == ["shared text"]


@LEXICAL
@pytest.mark.promise("FOR-1", "FOR-5")
def test_destructive_delete(me: ScopedMemory, other_user: ScopedMemory) -> None:
    """mem0#3928"""
    said(me, "likes tea", source_id="s1")
    said(other_user, "likes coffee", source_id="s1")
    me.forget_all(wait=True)
    assert len(me.list()) == 0
    assert texts(other_user.recall("coffee")) == ["likes coffee"]
