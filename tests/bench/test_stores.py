"""Filled stores: records of others are whole records, and a kept store grows in several runs."""

from __future__ import annotations

from pathlib import Path

from muniment import memory as facade
from muniment.bench.crowd import BATCH, FIRST_OTHER
from muniment.bench.sample import RandomEmbedder
from muniment.bench.stores import fill, folder_at, scope_of


def _counts(path: Path, *numbers: int) -> list[int]:
    with facade.open(path, embedder=RandomEmbedder()) as memory:
        return [scope_of(memory, number).counts().active for number in numbers]


def test_a_kept_store_grows(tmp_path: Path) -> None:
    with folder_at(tmp_path / "kept") as folder:
        path = folder / "store.db"
    seen: list[tuple[int, int]] = []
    fill(path, {1: 30}, BATCH)
    fill(path, {1: 30, 2: 20}, 2 * BATCH, lambda done, total: seen.append((done, total)))
    assert _counts(path, 1, 2, FIRST_OTHER, FIRST_OTHER + 1) == [30, 20, BATCH, BATCH]
    assert seen == [(2 * BATCH + 50, 2 * BATCH + 50)]
    with facade.open(path, embedder=RandomEmbedder()) as memory:
        other = scope_of(memory, FIRST_OTHER)
        record = other.list(limit=1).records[0]
        found = other.recall(record.text, limit=1)
        assert [item.record.memory_id for item in found] == [record.memory_id]
        assert memory.verify().is_intact


def test_a_folder_that_nobody_keeps_is_removed() -> None:
    with folder_at(None) as folder:
        (folder / "something").write_text("x")
    assert not folder.exists()
