"""`eval retrieval` runs peers on the same file with the same embedder."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from muniment.errors import InvalidInputError, MissingExtraError
from muniment.evals.baselines import BASELINES
from muniment.evals.retrieval import evaluate
from muniment.testing import FakeEmbedder

RECORDS = [
    {"id": "a", "text": "Prefers the eu-west region.", "time": 1},
    {"id": "b", "text": "Prefers an aisle seat.", "time": 2},
    {"id": "c", "text": "Reports go out on Mondays.", "time": 3},
    {"id": "d", "text": "Prefers the us-east region.", "time": 4},
]
QUERIES = [
    {"query": "aisle seat", "gold": ["b"], "type": "easy"},
    {"query": "Which region is preferred?", "gold": ["a"], "before": 3, "type": "past"},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(json.dumps({"records": RECORDS, "queries": QUERIES}), encoding="utf-8")
    return path


@pytest.mark.promise("EVA-2")
@pytest.mark.parametrize("peer", ["bm25", "cosine", "langgraph", "mem0"])
def test_a_peer_is_measured_on_the_same_questions(file: Path, peer: str) -> None:
    pytest.importorskip(
        {"bm25": "bm25s", "langgraph": "langgraph", "mem0": "mem0"}.get(peer, "numpy")
    )
    report = evaluate(file, embedder=FakeEmbedder(), peers=[peer])
    assert report.peers.keys() == {peer}
    assert report.peers[peer].keys() == report.measures.keys() == {"all", "easy", "past"}
    assert report.peers[peer]["easy"]["recall@1"] == 1.0
    assert report.peers[peer]["past"]["recall@5"] == 1.0


def test_a_peer_sees_nothing_from_after_the_question() -> None:
    texts = [str(record["text"]) for record in RECORDS]
    ranked = BASELINES["cosine"](texts, [1, 2, 3, 4], FakeEmbedder()).rank("region", 3, 10)
    assert sorted(ranked) == [0, 1]


def test_a_peer_that_ranks_by_meaning_needs_an_embedder(file: Path) -> None:
    with pytest.raises(InvalidInputError, match="embedder"):
        evaluate(file, embedder="none", peers=["cosine"])


@pytest.mark.promise("EVA-2")
@pytest.mark.parametrize(
    ("peer", "module", "package"),
    [
        ("bm25", "bm25s", "bm25s"),
        ("langgraph", "langgraph.store.memory", "langgraph"),
        ("mem0", "mem0", "mem0ai"),
    ],
)
def test_a_peer_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, peer: str, module: str, package: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=f"pip install {package}"):
        BASELINES[peer](["text"], [None], FakeEmbedder())


@pytest.mark.promise("EVA-2")
def test_the_report_names_the_peers_that_are_not_installed(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    report = evaluate(file, embedder=FakeEmbedder(), peers=["cosine", "mem0"])
    assert report.peers.keys() == {"cosine"}
    assert report.absent == {"mem0": "mem0ai"}
