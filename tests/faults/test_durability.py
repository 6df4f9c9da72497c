"""Published failures of durability: half a write, half an import, a file silently made anew."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

import pytest

import muniment
from muniment import Memory, ScopedMemory, Statement
from muniment.errors import BatchError, InvalidInputError, StoreError
from muniment.storage.views import RowTransaction
from muniment.threads import NewEvent
from tests.behaviour.conftest import HYBRID, LEXICAL, House, said, same_scope, texts
from tests.governance.conftest import approved, code_of, proposed

VERBS = ["remember", "import", "propose", "approve", "reject", "correct", "forget", "maintain"]


def everything(me: ScopedMemory) -> list[str]:
    """Return every line of an export but the header, which names the time."""
    target = StringIO()
    me.export(target)
    return target.getvalue().splitlines()[1:]


def fail_after(statements: int) -> Callable[..., Any]:
    """Return what runs a number of statements and then fails, as on a full disk."""
    run, left = RowTransaction._all, statements

    def limited(self: RowTransaction, name: str, values: Mapping[str, Any]) -> Any:  # noqa: ANN401
        nonlocal left
        left -= 1
        if left < 0:
            raise StoreError("The disk is full.")
        return run(self, name, values)

    return limited


@HYBRID
@pytest.mark.promise("OPE-3")
@pytest.mark.parametrize("verb", VERBS)
def test_crash_mid_write(
    house: House, memory: Memory, me: ScopedMemory, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """mcp-servers#4049: whichever statement fails, the write is whole or absent."""
    kept = said(me, "keep me", field="f", value=1).memory_id
    said(me, "for a day", expires_at="2030-01-02T00:00:00Z")
    waiting = proposed(me, "keep me too", field="f", value=2)
    if verb == "maintain":
        house.clock.set("2030-01-03T00:00:00Z")
    calls: dict[str, Callable[[], object]] = {
        "remember": lambda: said(me, "new", field="f", value=3),
        "import": lambda: me.import_many([Statement("insight", f"new {n}", f"{n}") for n in "ab"]),
        "propose": lambda: proposed(me, "new", field="f", value=3),
        "approve": lambda: approved(me, waiting),
        "reject": lambda: me.reject(waiting.candidate_id, reason="no"),
        "correct": lambda: me.correct(kept, text="new"),
        "forget": lambda: me.forget(kept),
        "maintain": memory.maintain,
    }
    before, in_steps = everything(me), verb in ("forget", "maintain")
    for failing in count():
        with monkeypatch.context() as patch:
            patch.setattr(RowTransaction, "_all", fail_after(failing))
            done = code_of(calls[verb]) != "store_failed"
        assert memory.verify().is_intact
        if done or (in_steps and everything(me) != before):
            break
        assert everything(me) == before
    assert failing > 3
    memory.maintain()
    assert everything(me) != before
    assert memory.verify().is_intact
    assert everything(same_scope(house.open(), me)) == everything(me)


@LEXICAL
@pytest.mark.promise("EXP-1", "WRI-10")
def test_non_atomic_replace(me: ScopedMemory, tmp_path: Path) -> None:
    """llama_index#23183"""
    said(me, "keep")
    thread = me.thread("th")
    thread.append_many([NewEvent("a"), NewEvent("b")])
    with pytest.raises(InvalidInputError):
        thread.append_many([NewEvent("c"), NewEvent(object())])  # type: ignore[arg-type]
    assert [event.content for event in thread.events()] == ["a", "b"]
    before = everything(me)
    with pytest.raises(BatchError):
        me.import_many([Statement("preference", "new", "n1"), Statement("preference", "", "n2")])
    target = tmp_path / "out.jsonl"
    me.export(target)
    good = target.read_text(encoding="utf-8")

    class Full:
        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    with pytest.raises((OSError, muniment.MunimentError)):
        me.export(Full())  # type: ignore[arg-type]
    (tmp_path / "bad.jsonl").write_text(good[: len(good) // 2], encoding="utf-8")
    with pytest.raises(muniment.MunimentError):
        me.import_export(tmp_path / "bad.jsonl")
    assert everything(me) == before
    assert target.read_text(encoding="utf-8") == good


@LEXICAL
@pytest.mark.promise("EXP-1", "WRI-10")
def test_import_cap(house: House, me: ScopedMemory, tmp_path: Path) -> None:
    """agentmemory#203"""
    batch = [Statement("preference", f"fact {n}", f"s{n}") for n in range(1000)]
    assert len(me.import_many(batch)) == me.counts().active == 1000
    assert me.export(tmp_path / "all.jsonl").records == 1000
    with muniment.open(tmp_path / "other.db", embedder="none", clock=house.clock) as other:
        again = same_scope(other, me)
        report = again.import_export(tmp_path / "all.jsonl")
        assert again.counts().active == 1000
        assert report.saved + len(report.skipped) == report.read
        second = again.import_export(tmp_path / "all.jsonl")
        assert {line.reason for line in second.skipped} == {"known"}
        assert len(second.skipped) == second.read


@LEXICAL
@pytest.mark.promise("OPE-3")
def test_a_missing_file_is_an_error_and_not_an_empty_store(house: House, me: ScopedMemory) -> None:
    said(me, "keep me")
    house.opened[0].close()
    path = Path(house.path)
    path.rename(path.with_suffix(".moved"))
    with pytest.raises(StoreError):
        house.open(create=False)
    assert not path.exists()
    path.with_suffix(".moved").rename(path)
    assert texts(same_scope(house.open(), me).list()) == ["keep me"]


@LEXICAL
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts files by /proc")
def test_fd_leak(house: House, me: ScopedMemory) -> None:
    """mnemosyne-dashboard#18"""
    said(me, "keep me")
    house.opened.pop().close()
    counts = []
    for number in range(30):
        with house.open() as memory:
            again = same_scope(memory, me)
            assert len(again.recall("keep")) == 1
            again.export(StringIO())
        house.opened.clear()
        if number >= 10:
            counts.append(len(list(Path("/proc/self/fd").iterdir())))
    assert max(counts) == min(counts)


@LEXICAL
@pytest.mark.promise("EXP-1")
def test_what_is_exported_is_json_line_by_line(me: ScopedMemory) -> None:
    said(me, "a\u2028b\nc", metadata={"k": "\u0085"})
    assert all(isinstance(json.loads(line), dict) for line in everything(me))
