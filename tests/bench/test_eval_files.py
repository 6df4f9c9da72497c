"""`eval retrieval` says what is wrong with a file of questions, and where."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from muniment.evals.metrics import measure
from muniment.evals.retrieval import evaluate
from muniment.testing import FakeEmbedder
from tests.command_line import Command, command_line

SECRET = "the vault opens at nine"
RECORD = {"id": "a", "text": SECRET}
QUERY = {"query": SECRET, "gold": ["a"]}
GOOD: dict[str, list[dict[str, Any]]] = {"records": [RECORD], "queries": [QUERY]}


def changed(part: str, **fields: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON value
    """Return a haystack whose second record or query has other fields; None leaves one out."""
    first = GOOD[part][0]
    other = {key: value for key, value in {**first, **fields}.items() if value is not None}
    return {**GOOD, part: [first, other]}


@pytest.fixture
def cli(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Command:
    return command_line(monkeypatch, capsys, tmp_path)


@pytest.mark.promise("EVA-2", "OPE-1")
@pytest.mark.parametrize(
    ("haystack", "wrong"),
    [
        (5, "no records"),
        (["records", "queries"], "no records"),
        ({"records": {}, "queries": []}, "no records"),
        ({"records": []}, "no queries"),
        ({"records": [], "queries": 7}, "no queries"),
        ({"records": [SECRET], "queries": []}, "record 1 needs id"),
        (changed("records", id=None), "record 2 needs id"),
        (changed("records", id=["a"]), "record 2 needs id"),
        (changed("records", text=None), "record 2 needs text"),
        (changed("records", text=5), "record 2 needs text"),
        (changed("records", time=[1]), "record 2 needs time"),
        (changed("queries", query=None), "query 2 needs query"),
        (changed("queries", query=7), "query 2 needs query"),
        (changed("queries", gold=None), "query 2 needs gold"),
        (changed("queries", gold=[]), "query 2 needs gold"),
        (changed("queries", gold="a"), "query 2 needs gold"),
        (changed("queries", gold=[["a"]]), "query 2 needs gold"),
        (changed("queries", before="2030"), "query 2 needs before"),
        (changed("queries", type=5), "query 2 needs type"),
        (changed("queries", type="all"), "query 2 needs type"),
    ],
)
def test_a_wrong_line_is_named_with_what_it_lacks(
    cli: Command, tmp_path: Path, haystack: object, wrong: str
) -> None:
    file = tmp_path / "q.jsonl"
    file.write_text(f"{json.dumps(GOOD)}\n{json.dumps(haystack)}\n", encoding="utf-8")
    result = cli("eval", "retrieval", str(file), "--json")
    assert result.code == 2
    error = json.loads(result.out)["error"]
    assert error["code"] == "invalid_input"
    assert error["message"].startswith(f"q.jsonl, line 2: {wrong}")
    assert SECRET not in result.out + result.err


@pytest.mark.promise("EVA-2", "OPE-1")
@pytest.mark.parametrize(
    ("name", "content", "wrong"),
    [
        ("q.jsonl", b"", "holds no question"),
        ("q.jsonl", b"{", "line 1: not JSON"),
        ("q.jsonl", json.dumps(GOOD).encode() + b"\n\n", "line 2: not JSON"),
        ("q.jsonl", b"[" * 100_000, "line 1: not JSON"),
        ("q.jsonl", json.dumps(GOOD).encode("utf-16"), "is not UTF-8 somewhere after line 0"),
        ("q.jsonl.gz", json.dumps(GOOD).encode(), "is not a whole gzip file"),
        ("q.jsonl.gz", gzip.compress(json.dumps(GOOD).encode())[:-9], "is not a whole gzip file"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    cli: Command, tmp_path: Path, name: str, content: bytes, wrong: str
) -> None:
    file = tmp_path / name
    file.write_bytes(content)
    result = cli("eval", "retrieval", str(file))
    assert result.code == 2
    assert wrong in result.err
    assert SECRET not in result.out + result.err


@pytest.mark.promise("EVA-2")
def test_a_record_that_is_found_twice_counts_once() -> None:
    measures = measure(["a", "a", "b"], ["a", "b"])
    assert 0.9 < measures["ndcg@10"] < 1
    assert max(measures.values()) == 1


def test_an_empty_haystack_and_times_in_words_harm_no_peer(tmp_path: Path) -> None:
    file = tmp_path / "q.jsonl"
    records = [{**RECORD, "time": "in May"}, {"id": "b", "text": "Tea.", "time": 1}]
    late = {"query": "Tea?", "gold": ["b"], "before": 5}
    haystacks = [{"records": [], "queries": [QUERY]}, {"records": records, "queries": [late]}]
    file.write_text("\n".join(map(json.dumps, haystacks)), encoding="utf-8")
    report = evaluate(file, embedder=FakeEmbedder(), peers=["cosine"])
    assert report.measures["all"] == report.peers["cosine"]["all"]
    assert report.measures["all"]["recall@1"] == 0.5
