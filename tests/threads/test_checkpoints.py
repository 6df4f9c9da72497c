"""Checkpoints of a framework: opaque, exact, by thread and graph, gone when deleted."""

from __future__ import annotations

import pytest

from muniment import Memory, ScopedMemory
from muniment.errors import InvalidInputError, TombstonedError
from muniment.scoped import Checkpoints
from muniment.threads import NewWrite
from tests.threads.conftest import surfaces


@pytest.fixture
def saved(me: ScopedMemory) -> Checkpoints:
    """Return the checkpoints of two threads, made by two runs."""
    kept = me.checkpoints()
    for number in (1, 2, 3):
        kept.put(
            "t",
            f"0{number}",
            bytes([number]),
            type="json",
            metadata={"step": number, "even": number == 2},
            parent_id=f"0{number - 1}" if number > 1 else None,
            run_id="run-b" if number == 3 else "run-a",
        )
        kept.put_writes("t", f"0{number}", [NewWrite("task", 0, "c", "json", b"w")])
    kept.put("t", "09", b"sub", namespace="child")
    kept.put("u", "05", b"u", metadata={"run_id": "run-a"})
    return kept


def ids(kept: Checkpoints, thread_id: str | None = "t", **more: object) -> list[str]:
    return [one.checkpoint_id for one in kept.list(thread_id, **more)]  # type: ignore[arg-type]


@pytest.mark.promise("THR-3")
def test_a_checkpoint_comes_back_exactly(saved: Checkpoints) -> None:
    latest = saved.get("t")
    assert latest is not None
    assert (latest.checkpoint_id, latest.value, latest.type) == ("03", b"\x03", "json")
    assert (latest.parent_id, latest.run_id) == ("02", "run-b")
    assert latest.metadata == {"step": 3, "even": False}
    assert latest.writes == (NewWrite("task", 0, "c", "json", b"w"),)
    older = saved.get("t", checkpoint_id="01")
    assert older is not None
    assert older.value == b"\x01"
    assert saved.get("t", checkpoint_id="07") is saved.get("none") is None
    assert saved.get("t", namespace="missing") is None


@pytest.mark.promise("THR-3", "SCO-1")
def test_nobody_else_resumes_from_it(saved: Checkpoints, other: ScopedMemory) -> None:
    theirs = other.checkpoints()
    assert theirs.get("t") is None
    assert theirs.list() == ()
    assert theirs.delete_runs(["run-a"]) == theirs.prune(["t"], keep="none") == 0
    assert theirs.copy_thread("t", "mine") == 0
    assert len(ids(saved)) == 4


def test_lists_are_narrowed(saved: Checkpoints) -> None:
    assert ids(saved) == ["09", "03", "02", "01"]
    assert ids(saved, namespace="") == ["03", "02", "01"]
    assert ids(saved, namespace="", before="03", limit=1) == ["02"]
    assert ids(saved, metadata={"even": True}) == ["02"]
    assert ids(saved, checkpoint_id="01") == ["01"]
    assert ids(saved, None) == ["09", "05", "03", "02", "01"]
    assert ids(saved, limit=0) == []


def test_writes_are_kept_once_and_in_order(saved: Checkpoints) -> None:
    first = [NewWrite("b", 1, "c", "t", b"1", "p"), NewWrite("a", 0, "c", "t", b"2", "q")]
    saved.put_writes("u", "05", [*first, NewWrite("b", 0, "c", "t", b"3", "p")])
    saved.put_writes("u", "05", [NewWrite("b", 1, "c", "t", b"late", "p")])
    found = saved.get("u")
    assert found is not None
    assert [one.value for one in found.writes] == [b"3", b"1", b"2"]
    saved.put_writes("u", "05", [NewWrite("b", 1, "c", "t", b"other", "p")], replace=True)
    again = saved.get("u")
    assert again is not None
    assert [one.value for one in again.writes] == [b"3", b"other", b"2"]


def test_the_latest_is_the_greatest_whatever_the_order_and_after_deletion(
    me: ScopedMemory,
) -> None:
    kept = me.checkpoints()
    for name in ("5", "9", "7"):
        kept.put("t", name, b"", run_id=name)
    assert ids(kept) == ["9", "7", "5"]
    assert kept.delete_runs(["9"]) == 1
    latest = kept.get("t")
    assert latest is not None
    assert latest.checkpoint_id == "7"


@pytest.mark.promise("THR-3", "FOR-1", "FOR-2")
def test_what_runs_made_goes_with_its_writes(
    memory: Memory, me: ScopedMemory, saved: Checkpoints
) -> None:
    assert saved.delete_runs(["run-a"]) == 3
    assert ids(saved, None) == ["09", "03"]
    receipt = me.receipts()[0]
    assert surfaces(receipt) == {"checkpoints": (5, 5, 0)}
    assert memory.verify().is_intact
    assert saved.delete_runs(["run-a"]) == 0


def test_pruning_keeps_the_latest_of_each_graph(saved: Checkpoints) -> None:
    assert saved.prune(["t", "t", "missing"]) == 2
    assert ids(saved, None) == ["09", "05", "03"]
    assert saved.prune(["t"], keep="none") == 2
    assert ids(saved, None) == ["05"]
    with pytest.raises(InvalidInputError):
        saved.prune(["u"], keep="some")


def test_a_copy_stands_alone(saved: Checkpoints) -> None:
    assert saved.copy_thread("t", "copy") == 4
    saved.delete_thread("t")
    assert (ids(saved), ids(saved, "copy")) == ([], ["09", "03", "02", "01"])
    latest = saved.get("copy")
    assert latest is not None
    assert (latest.thread_id, len(latest.writes)) == ("copy", 1)


@pytest.mark.promise("FOR-1")
def test_a_deleted_thread_may_be_used_again_and_a_forgotten_one_may_not(
    me: ScopedMemory, saved: Checkpoints
) -> None:
    receipt = saved.delete_thread("t")
    assert surfaces(receipt) == {"threads": (1, 1, 0), "checkpoints": (7, 7, 0)}
    saved.put("t", "01", b"anew")
    assert ids(saved) == ["01"]
    me.forget_thread("t", type="graph")
    with pytest.raises(TombstonedError):
        saved.put("t", "02", b"late")


def test_a_value_is_bytes(saved: Checkpoints) -> None:
    with pytest.raises(InvalidInputError):
        saved.put("t", "1", "text")  # type: ignore[arg-type]
