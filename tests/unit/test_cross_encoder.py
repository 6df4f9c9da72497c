"""The cross-encoder through the real sentence-transformers, with a tiny model made here."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import muniment
from muniment.providers.reranking import open_reranker

pytest.importorskip("sentence_transformers")
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "seat", "aisle", "which"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the folder of an untrained model that reads nine words."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder: Path = tmp_path_factory.mktemp("model")
    (folder / "vocab.txt").write_text("\n".join(WORDS), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        num_labels=1,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    assert json.loads((folder / "config.json").read_text(encoding="utf-8"))["hidden_size"] == 8
    return str(folder)


def test_it_numbers_every_text_the_same_every_time(model: str) -> None:
    reranker = open_reranker(f"cross-encoder:{model}")
    assert reranker is not None
    scores = reranker.rerank("which seat", ["tea", "aisle seat", "tea"])
    assert len(scores) == 3
    assert scores[0] == pytest.approx(scores[2])
    assert scores == pytest.approx(reranker.rerank("which seat", ["tea", "aisle seat", "tea"]))


def test_a_recall_is_ordered_by_it(model: str) -> None:
    texts = ["tea", "aisle seat", "seat tea aisle"]
    with muniment.open(":memory:", embedder="none", reranker=f"cross-encoder:{model}") as memory:
        me = memory.scoped(tenant_id="t", user_id="u", agent_id="a")
        for text in texts:
            me.remember(text, kind="preference", source_id=text, approved=True)
        found = me.recall("which seat tea", minimum_score=-1)
    numbers = [hit.reranked for hit in found.trace.hits]
    assert numbers == sorted(numbers, key=lambda number: -(number or 0))
    assert found.trace.reranker == model
