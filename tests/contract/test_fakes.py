"""The stand-ins that tests lean on must themselves be beyond doubt."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from muniment.clock import to_instant
from muniment.errors import InvalidInputError, ProviderError
from muniment.testing import FakeEmbedder, FakeModel, FrozenClock


def test_a_frozen_clock_moves_only_when_told() -> None:
    clock = FrozenClock("2030-01-01T00:00:00Z")
    start = clock.now()
    assert clock.now() == start == to_instant("t", "2030-01-01T00:00:00Z")
    clock.advance(seconds=1.5)
    assert clock.now() == start + 1_500_000
    clock.advance(seconds=0.000001)
    assert clock.now() == start + 1_500_001
    clock.set("2031-06-01T12:00:00+02:00")
    assert clock.now() == to_instant("t", "2031-06-01T10:00:00Z")
    with pytest.raises(InvalidInputError):
        clock.set("2031-06-01T12:00:00")


def test_a_fake_embedding_is_a_unit_vector_of_its_words() -> None:
    embedder = FakeEmbedder()
    texts = ["Prefers the aisle.", "the AISLE, prefers", "Paid by card", "!", "صندلی راهرو"]
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (5, 64)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-6)
    close = vectors @ embedder.embed_query("prefers aisle")
    assert close[:2] == pytest.approx(1, abs=1e-6)
    assert max(close[2:]) < embedder.calibration.low
    assert embedder.embed_passages([]).shape == (0, 64)
    assert embedder.asked == [*texts, "prefers aisle"]


def test_two_fake_models_share_no_direction() -> None:
    embedders = [
        FakeEmbedder(),
        FakeEmbedder(version="2"),
        FakeEmbedder(name="other", dimensions=64),
    ]
    first, *others = (embedder.embed_query("aisle seat") for embedder in embedders)
    assert all(abs(float(first @ other)) < 0.5 for other in others)
    assert len({embedder.model for embedder in embedders}) == 3
    assert FakeEmbedder(dimensions=7).embed_query("aisle").shape == (7,)
    assert FakeEmbedder(dimensions=200).embed_query("aisle").shape == (200,)


def test_a_fake_embedder_fails_while_told_to_and_refuses_blanks() -> None:
    embedder = FakeEmbedder()
    embedder.fail = True
    with pytest.raises(ProviderError):
        embedder.embed_query("aisle")
    with pytest.raises(ProviderError):
        embedder.embed_passages(["aisle"])
    embedder.fail = False
    assert embedder.embed_query("aisle").any()
    with pytest.raises(InvalidInputError):
        embedder.embed_passages(["aisle", " "])


def test_a_fake_model_replies_as_scripted_and_remembers_what_it_was_asked() -> None:
    model = FakeModel("one", ProviderError("down"), "two", name="script")
    assert model.respond(instructions="be brief", prompt="first").text == "one"
    with pytest.raises(ProviderError, match="down"):
        model.respond(instructions="", prompt="second")
    assert model.respond(instructions="", prompt="third").model == "script"
    with pytest.raises(AssertionError, match="4 times"):
        model.respond(instructions="", prompt="fourth")
    assert model.asked[0] == ("be brief", "first")
    assert [asked.prompt for asked in model.asked] == ["first", "second", "third", "fourth"]


LIGHT = """
import sys
import muniment.testing as t
heavy = {"pytest", "hypothesis", "numpy", "apsw"} & set(sys.modules)
assert not heavy, heavy
print(t.FakeEmbedder().embed_query("aisle").tobytes().hex())
"""


def test_the_fakes_need_no_test_tools_and_agree_in_every_process() -> None:
    printed = subprocess.run(
        [sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True
    ).stdout
    assert printed.strip() == FakeEmbedder().embed_query("aisle").tobytes().hex()
