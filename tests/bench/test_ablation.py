"""`eval retrieval` takes one idea of the ranking away at a time, and keeps what it embedded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muniment.errors import InvalidInputError
from muniment.evals.ablation import IDEAS, Bench, Without
from muniment.evals.metrics import paired
from muniment.evals.retrieval import evaluate
from muniment.evals.vectors import KeptVectors
from muniment.testing import FakeEmbedder
from tests.command_line import command_line

WORDS = [
    "region",
    "seat",
    "report",
    "invoice",
    "review",
    "train",
    "coffee",
    "garden",
    "winter",
    "meeting",
]
RECORDS = [
    {
        "id": f"r{n}",
        "text": f"{WORDS[n % 10]} {WORDS[n * 3 % 7]} of the week 2026-0{1 + n % 9}-1{n % 10}"
        + " alpha and beta" * (150 if n in (2, 6, 20) else n * 7 % 5),
        "time": n,
    }
    for n in range(40)
]
QUERIES = [
    {"query": "Which region was in March?", "gold": ["r2", "r20"]},
    {"query": "the coffee in the garden", "gold": ["r6", "r17"]},
    {"query": "tea reports and invoices", "gold": ["r8", "r23"], "before": 30},
    {"query": "What do you know?", "gold": ["r39"]},
    {"query": "review review", "gold": ["r4", "r34"]},
    {"query": "the report on the seat", "gold": ["r2"]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"records": RECORDS, "queries": QUERIES}), encoding="utf-8")
    return path


@pytest.mark.promise("EVA-2")
@pytest.mark.parametrize("embedder", [None, FakeEmbedder()])
def test_with_every_idea_on_it_finds_what_recall_finds(
    file: Path, embedder: FakeEmbedder | None
) -> None:
    rows = Bench({"records": RECORDS, "queries": QUERIES}, embedder).ask(Without())
    report = evaluate(file, embedder=embedder or "none")
    for name, value in report.measures["all"].items():
        assert sum(row[name] for row in rows) / len(rows) == pytest.approx(value, abs=1e-4), name


def test_each_idea_that_is_taken_away_changes_an_order() -> None:
    bench = Bench({"records": RECORDS, "queries": QUERIES}, FakeEmbedder())
    whole = bench.ask(Without())
    unchanged = [name for name, idea in IDEAS.items() if bench.ask(idea) == whole]
    assert unchanged == []


def test_a_report_says_what_each_idea_is_worth(file: Path) -> None:
    report = evaluate(file, embedder=FakeEmbedder(), ablate=True)
    assert [one.idea for one in report.ablation] == list(IDEAS)
    whole = report.measures["all"]["recall@10"]
    for one in report.ablation:
        assert one.recall - whole == pytest.approx(one.change, abs=2e-4)
        assert one.low <= one.change <= one.high


def test_without_an_embedder_only_the_ideas_about_words_are_taken_away(file: Path) -> None:
    report = evaluate(file, embedder="none", ablate=True)
    assert [one.idea for one in report.ablation] == list(IDEAS)[1:6]


class TestPairedDifference:
    def test_equal_measures_differ_by_nothing(self) -> None:
        assert paired([0.5, 1.0, 0.0], [0.5, 1.0, 0.0]) == (0.0, 0.0, 0.0)

    def test_the_interval_holds_the_mean_and_is_the_same_every_time(self) -> None:
        first, second = [1.0, 0.0, 1.0, 1.0] * 25, [0.0, 0.0, 1.0, 0.0] * 25
        mean, low, high = paired(first, second)
        assert mean == 0.5
        assert 0.35 < low < 0.5 < high < 0.65
        assert paired(first, second) == (mean, low, high)


class TestKeptVectors:
    def test_a_second_run_embeds_nothing(self, file: Path, tmp_path: Path) -> None:
        kept = tmp_path / "kept.vectors"
        first, second = FakeEmbedder(), FakeEmbedder()
        reports = [
            evaluate(file, embedder=one, vectors=kept, ablate=True) for one in (first, second)
        ]
        assert first.asked
        assert second.asked == []
        assert reports[0] == reports[1] == evaluate(file, embedder=FakeEmbedder(), ablate=True)

    def test_a_file_that_was_cut_off_is_carried_on(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.vectors"
        with KeptVectors(FakeEmbedder(), path) as kept:
            kept.embed_passages(["one", "two"])
        path.write_bytes(path.read_bytes()[:-7])
        asked = FakeEmbedder()
        with KeptVectors(asked, path) as kept:
            again = kept.embed_passages(["one", "two", "two"])
        assert asked.asked == ["two"]
        assert again.tolist() == FakeEmbedder().embed_passages(["one", "two", "two"]).tolist()
        with KeptVectors(asked, path) as kept:
            kept.embed_passages(["two", "one"])
        assert asked.asked == ["two"]

    def test_a_question_and_a_text_of_the_same_words_are_apart(self, tmp_path: Path) -> None:
        asked = FakeEmbedder()
        with KeptVectors(asked, tmp_path / "kept.vectors") as kept:
            kept.embed_passages(["one"])
            kept.embed_query("one")
            kept.embed_query("one")
        assert asked.asked == ["one", "one"]

    def test_vectors_of_another_model_are_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "kept.vectors"
        KeptVectors(FakeEmbedder(), path).close()
        with pytest.raises(InvalidInputError, match="another file"):
            KeptVectors(FakeEmbedder(version="2"), path)


def test_the_command_shows_the_table(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    file: Path,
) -> None:
    cli = command_line(monkeypatch, capsys, tmp_path)
    result = cli("eval", "retrieval", str(file), "--embedder", "none", "--ablate")
    assert (result.code, result.err) == (0, "")
    assert "stop words left out" in result.out
