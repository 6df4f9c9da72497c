"""The built-in embedder: its file, tokenizer, graph, and what it promises about a vector."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from muniment.errors import InvalidInputError, ProviderError
from muniment.providers import local_embedding
from muniment.providers.e5_convert import convert
from muniment.providers.e5_tokenizer import UnigramTokenizer
from muniment.providers.e5_weights import E5Weights, Vocabulary
from muniment.providers.embedding import open_embedder
from muniment.providers.local_embedding import LocalEmbedder, find_weights, local_installed
from muniment.providers.per_process import PerProcess

Numbers: TypeAlias = NDArray[np.floating[Any]]

SAMPLES = [
    "The user prefers an aisle seat on long flights.",
    "کاربر در پروازهای طولانی صندلی کنار راهرو را ترجیح می‌دهد.",
    "قیمت نفت امروز در بازار جهانی بالا رفت.",
    "会议改到星期五下午三点。",
    "\ufdfa",
    "a\x00b \ud800 \u200b end",
    "  many   spaces\n\tand ▁ marks <s> </s> <mask> ",
    "word " * 700,
]


class TestLocal:
    pytestmark = pytest.mark.local

    def test_a_vector_does_not_depend_on_its_company(self, local_embedder: LocalEmbedder) -> None:
        together = local_embedder.embed_passages(SAMPLES)
        assert together.shape == (len(SAMPLES), 384)
        assert together.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, rtol=1e-5)
        for threads in (1, 3):
            other = LocalEmbedder(threads=threads)
            alone = np.concatenate([other.embed_passages([text]) for text in SAMPLES])
            assert together.tobytes() == alone.tobytes()
            assert together.tobytes() == other.embed_passages(SAMPLES).tobytes()

    def test_meaning_crosses_languages(self, local_embedder: LocalEmbedder) -> None:
        english = local_embedder.embed_query("Which seat does the user prefer on a flight?")
        own, persian, unrelated = local_embedder.embed_passages(SAMPLES[:3]) @ english
        assert own > unrelated + 0.05
        assert persian > unrelated + 0.05

    def test_questions_and_texts_have_their_own_prefix(self, local_embedder: LocalEmbedder) -> None:
        query = local_embedder.embed_query(SAMPLES[0])
        assert not np.array_equal(query, local_embedder.embed_passages(SAMPLES[:1])[0])

    def test_a_very_long_text_is_embedded_whole(self, local_embedder: LocalEmbedder) -> None:
        text = "lorem ipsum dolor sit amet " * 1000
        ending = "the invoice number is forty-two and the ship sails at dawn " * 5
        assert len(local_embedder._network.get().inputs("passage: ", text)) > 7
        plain, longer = local_embedder.embed_passages([text, text[: -len(ending)] + ending])
        assert np.isfinite(plain).all()
        assert not np.array_equal(plain, longer)

    def test_a_hundred_thousand_ligatures_are_tokenised(
        self, local_embedder: LocalEmbedder
    ) -> None:
        inputs = local_embedder._network.get().inputs("query: ", "\ufdfa" * 100_000)
        assert max(map(len, inputs)) <= 512
        assert sum(map(len, inputs)) > 100_000

    def test_blank_texts_are_refused(self, local_embedder: LocalEmbedder) -> None:
        with pytest.raises(InvalidInputError):
            local_embedder.embed_query(" ")
        with pytest.raises(InvalidInputError):
            local_embedder.embed_passages(["a", ""])
        assert local_embedder.embed_passages([]).shape == (0, 384)

    def test_its_model_is_known_without_loading(self, local_embedder: LocalEmbedder) -> None:
        embedder = open_embedder("auto")
        assert isinstance(embedder, LocalEmbedder)
        assert embedder.model == local_embedder.model
        assert embedder.model.name == "multilingual-e5-small"
        assert 0 < embedder.calibration.low < embedder.calibration.high < 1
        assert embedder._network._value is None

    def test_a_repeated_question_is_not_computed_again(
        self, local_embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        first = local_embedder.embed_query("asked twice")
        expected = first.copy()
        first[:] = 0
        monkeypatch.setattr(local_embedder, "_embedded", None)
        assert np.array_equal(local_embedder.embed_query("asked twice"), expected)

    def test_a_failure_of_the_runtime_does_not_quote_the_text(
        self, local_embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def broken(ids: object) -> object:
            raise RuntimeError("the vault opens at nine")

        monkeypatch.setattr(local_embedder._network.get(), "mean", broken)
        with pytest.raises(ProviderError, match="RuntimeError") as caught:
            local_embedder.embed_passages(["the vault opens at nine"])
        assert "vault" not in str(caught.value.to_dict())

    def test_threads_load_it_once(
        self, local_embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        loaded: list[Path] = []
        network = local_embedder._network.get()

        def load(path: Path) -> object:
            loaded.append(path)
            return network

        monkeypatch.setattr(local_embedding, "_Network", load)
        embedder = LocalEmbedder()
        with ThreadPoolExecutor(8) as pool:
            vectors = list(pool.map(embedder.embed_query, ["same question"] * 8))
        assert len(loaded) == 1
        assert len({vector.tobytes() for vector in vectors}) == 1

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform does not fork")
    def test_a_forked_child_computes_the_same(self) -> None:
        code = (
            "import os; from muniment.providers.local_embedding import LocalEmbedder\n"
            "embedder = LocalEmbedder(); expected = embedder.embed_query('seat').tobytes()\n"
            "child = os.fork()\n"
            "if not child:\n"
            "    assert embedder._network._value is None\n"
            "    os._exit(embedder.embed_query('seat').tobytes() != expected)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    def test_its_weights_may_lie_elsewhere(
        self, local_embedder: LocalEmbedder, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        installed = find_weights()
        assert installed is not None
        elsewhere = tmp_path / "weights.bin"
        elsewhere.symlink_to(installed)
        monkeypatch.setenv("MUNIMENT_E5_WEIGHTS", str(elsewhere))
        assert find_weights() == elsewhere
        assert local_installed()
        expected = local_embedder.embed_query(SAMPLES[0])
        assert np.array_equal(LocalEmbedder().embed_query(SAMPLES[0]), expected)

    def test_tampered_weights_are_refused(
        self, local_embedder: LocalEmbedder, tmp_path: Path
    ) -> None:
        installed = find_weights()
        assert installed is not None
        tampered = tmp_path / "weights.bin"
        shutil.copyfile(installed, tampered)
        with tampered.open("r+b") as file:
            file.seek(60_000_000)
            byte = file.read(1)
            file.seek(60_000_000)
            file.write(bytes([byte[0] ^ 1]))
        with pytest.raises(ProviderError, match="not the published file"):
            LocalEmbedder(weights=tampered).embed_query("a")

    def test_the_graph_is_close_to_the_network_in_full(self, local_embedder: LocalEmbedder) -> None:
        network = local_embedder._network.get()
        for text in SAMPLES[:4]:
            (ids,) = network.inputs("passage: ", text)
            small, full = network.mean(ids), _in_full(network._weights, ids)
            assert small @ full / np.linalg.norm(small) / np.linalg.norm(full) > 0.997

    def test_the_graph_is_valid(self, local_embedder: LocalEmbedder) -> None:
        onnx = pytest.importorskip("onnx")
        model = onnx.load_from_string(convert(local_embedder._network.get()._weights))
        onnx.checker.check_model(model, full_check=False)

    def test_pieces_are_those_of_the_reference(self, local_embedder: LocalEmbedder) -> None:
        tokenizers = pytest.importorskip("tokenizers")
        vocabulary = local_embedder._network.get()._weights.vocabulary()
        pieces = zip(vocabulary.pieces, vocabulary.scores.tolist(), strict=True)
        reference = tokenizers.Tokenizer(
            tokenizers.models.Unigram(list(pieces), unk_id=vocabulary.unknown)
        )
        reference.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        own = UnigramTokenizer(vocabulary)
        source = random.Random(7)
        letters = [chr(point) for point in range(1, 0x3100)]
        texts = ["".join(source.choices(letters, k=50)) for _ in range(300)] + SAMPLES[:4]
        for text in texts:
            normal = " ".join(text.translate(vocabulary.normal_forms).split(" ")).split()
            spaced = " ".join(word for word in normal if word)
            assert own.ids(spaced) == reference.encode(spaced).ids


def _in_full(weights: E5Weights, ids: NDArray[np.int64]) -> Numbers:
    """Return the mean vector by the textbook, in float32 without any quantisation of the flow."""
    sizes = weights.architecture
    count, width, heads = len(ids), sizes.width, sizes.heads

    def linear(flow: Numbers, name: str, inputs: int) -> Numbers:
        return flow @ weights.matrix(name + ".w", inputs).T + weights.floats(name + ".b")

    def normal(flow: Numbers, name: str) -> Numbers:
        centred = flow - flow.mean(1, keepdims=True)
        spread = np.sqrt((centred**2).mean(1, keepdims=True) + sizes.epsilon)
        scaled: Numbers = centred / spread * weights.floats(name + ".w")
        return scaled + weights.floats(name + ".b")

    def split(flow: Numbers) -> Numbers:
        return flow.reshape(count, heads, width // heads).transpose(1, 0, 2)

    positions = weights.floats("emb.pos").reshape(-1, width)[:count]
    flow: Numbers = weights.token_vectors(ids) + positions + weights.floats("emb.type")[:width]
    flow = normal(flow, "emb.ln")
    for layer in range(sizes.layers):
        name = f"l{layer}."
        query, key, value = (split(linear(flow, name + part, width)) for part in "qkv")
        weighted = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(width / heads))
        weighted /= weighted.sum(2, keepdims=True)
        attended = (weighted @ value).transpose(1, 0, 2).reshape(count, width)
        flow = normal(flow + linear(attended, name + "ao", width), name + "aln")
        inner = linear(flow, name + "fi", width)
        inner = inner * (1 + _error_function(inner / np.sqrt(2, dtype=np.float32))) / 2
        flow = normal(flow + linear(inner, name + "fo", sizes.feed_forward), name + "oln")
    mean: Numbers = flow.mean(0)
    return mean


def _error_function(numbers: Numbers) -> Numbers:
    """Abramowitz and Stegun 7.1.26; at most 1.5e-7 off."""
    at = 1 / (1 + 0.3275911 * np.abs(numbers))
    series = np.polyval([1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592], at)
    result: Numbers = np.sign(numbers) * (1 - series * at * np.exp(-(numbers**2)))
    return result


class TestTokenizer:
    def _tokenizer(self) -> UnigramTokenizer:
        pieces = ["<s>", "<unk>", "▁", "▁ab", "a", "b", "c", "▁abc"]
        scores = np.array([0, 0, -3, -2, -4, -4, -4, -9], np.float32)
        return UnigramTokenizer(Vocabulary(pieces, scores, {0x41: "a", 9: " "}, 0, 0, 0, 1))

    @pytest.mark.parametrize(
        ("text", "ids"),
        [
            ("ab", [3]),
            ("abc", [3, 6]),
            ("Ab\tb", [3, 2, 5]),
            ("  ab  ", [3]),
            ("a??b", [2, 4, 1, 5]),
            ("<s>", [2, 1]),
            ("a\x00b", [3]),
            ("\ud800", [2, 1]),
            ("", []),
        ],
    )
    def test_a_word_is_spelt_in_the_most_probable_way(self, text: str, ids: list[int]) -> None:
        assert self._tokenizer().ids(text) == ids


class TestWeights:
    @pytest.mark.parametrize("content", [None, b"", b"E5S1 but nothing else"])
    def test_another_file_is_refused(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "weights.bin"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(ProviderError, match="pip install"):
            E5Weights(path)


@pytest.mark.usefixtures("no_settings")
def test_a_wrong_path_to_the_weights_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxruntime")
    with pytest.raises(InvalidInputError, match="no weights file"):
        LocalEmbedder(weights="/nowhere/e5.bin")
    monkeypatch.setenv("MUNIMENT_E5_WEIGHTS", "/nowhere/e5.bin")
    with pytest.raises(InvalidInputError, match="MUNIMENT_E5_WEIGHTS"):
        open_embedder("auto")


class TestPerProcess:
    def test_a_failure_is_tried_again(self) -> None:
        numbers = iter([0, 4])
        value = PerProcess(lambda: 8 // next(numbers))
        with pytest.raises(ZeroDivisionError):
            value.get()
        assert value.get() == 2
        assert value.get() == 2

    def test_after_a_fork_it_is_made_anew_and_the_old_one_is_left_alone(self) -> None:
        value = PerProcess(object)
        first = value.get()
        value._lock.acquire()
        value.renew()
        assert value.get() is not first
        assert value._inherited == [first]
