"""Failures of embedding: models mixed, vectors lost, a provider that fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from muniment import InvalidInputError, ProviderError, ScopedMemory
from muniment.records import EmbeddingState
from muniment.testing import FakeEmbedder
from muniment.trace import Degraded
from tests.behaviour.conftest import HYBRID, House, ids, said, same_scope

pytestmark = HYBRID


class TestAFailingProvider:
    @pytest.mark.promise("REC-8", "OPE-6")
    def test_a_record_is_kept_and_found_by_its_words_until_it_is_embedded(
        self, house: House, me: ScopedMemory, embedder: FakeEmbedder
    ) -> None:
        """mcp-memory#551"""
        before = said(me, "Likes green tea.")
        embedder.fail = True
        during = said(me, "Likes black coffee.")
        assert during.embedding is EmbeddingState.PENDING
        found = me.recall("coffee")
        assert ids(found) == [during.memory_id]
        assert found.trace.degraded == (Degraded.EMBEDDER_FAILED,)
        assert found.trace.embedder is None
        embedder.fail = False
        found = me.recall("coffee")
        assert ids(found) == [during.memory_id]
        assert found.trace.degraded == (Degraded.EMBEDDING_PENDING,)
        health = house.opened[0].health()
        assert (health.counts.pending, len(health.problems)) == (1, 1)
        assert house.opened[0].embed() == (1, 0)
        health = house.opened[0].health()
        assert (health.counts.pending, health.problems, health.embedder) == (0, (), "fake")
        found = me.recall("coffee", minimum_score=-1)
        assert found.trace.degraded == ()
        assert {hit.memory_id for hit in found.trace.hits if hit.semantic is not None} == {
            before.memory_id,
            during.memory_id,
        }
        assert me.get(during.memory_id).embedding is EmbeddingState.READY

    @pytest.mark.promise("REC-8")
    def test_embedding_can_fail_stop_and_be_repeated(
        self, house: House, me: ScopedMemory, embedder: FakeEmbedder
    ) -> None:
        embedder.fail = True
        for number in range(70):
            said(me, f"Statement {number}.")
        memory = house.opened[0]
        assert memory.embed() == (0, 70)
        embedder.fail = False
        seen: list[tuple[int, int]] = []

        def stop(done: int, total: int) -> None:
            seen.append((done, total))
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            memory.embed(progress=stop)
        assert seen == [(64, 70)]
        assert memory.health().counts.pending == 6
        assert memory.embed() == (6, 0)
        assert memory.embed() == (0, 0)

    @pytest.mark.promise("REC-8")
    def test_nothing_forgotten_or_replaced_is_embedded(
        self, house: House, me: ScopedMemory, embedder: FakeEmbedder
    ) -> None:
        embedder.fail = True
        gone = said(me, "Forgotten words.")
        said(me, "Replaced words.", field="f", value=1)
        said(me, "Present words.", field="f", value=2)
        me.forget(gone.memory_id)
        embedder.fail = False
        embedder.asked.clear()
        assert house.opened[0].embed() == (1, 0)
        assert embedder.asked == ["Present words."]

    def test_a_retry_while_the_provider_is_down_changes_nothing(
        self, me: ScopedMemory, embedder: FakeEmbedder
    ) -> None:
        first = said(me, "Likes tea.", source_id="s1")
        embedder.fail = True
        again = said(me, "Likes tea.", source_id="s1")
        assert (again.memory_id, again.embedding) == (first.memory_id, EmbeddingState.READY)


class TestAChangedModel:
    @pytest.mark.promise("REC-8")
    @pytest.mark.parametrize(
        "changed",
        [
            FakeEmbedder(name="model-b"),
            FakeEmbedder(version="2"),
            FakeEmbedder(dimensions=96),
            FakeEmbedder(dimensions=32),
        ],
        ids=["name", "version", "longer", "shorter"],
    )
    def test_two_models_never_meet_in_one_comparison(
        self, house: House, me: ScopedMemory, changed: FakeEmbedder
    ) -> None:
        """statewave#421"""
        alpha = said(me, "alpha region")
        house.opened[0].close()
        memory = house.open(embedder=changed)
        mine = same_scope(memory, me)
        found = mine.recall("alpha", minimum_score=-1)
        assert ids(found) == [alpha.memory_id]
        assert [hit.semantic for hit in found.trace.hits] == [None]
        assert found.trace.degraded == (Degraded.EMBEDDING_PENDING,)
        beta = said(mine, "beta region")
        found = mine.recall("region", minimum_score=-1)
        semantic = {hit.memory_id: hit.semantic for hit in found.trace.hits}
        assert semantic[alpha.memory_id] is None
        assert semantic[beta.memory_id] is not None
        assert memory.embed() == (1, 0)
        found = mine.recall("alpha", minimum_score=-1)
        assert found.trace.degraded == ()
        assert ids(found)[0] == alpha.memory_id
        query = changed.embed_query("alpha")
        (passage,) = changed.embed_passages(["alpha region"])
        assert found.trace.hits[0].semantic == pytest.approx(float(query @ passage), abs=1e-5)

    def test_health_counts_what_waits_for_the_new_model(
        self, house: House, me: ScopedMemory
    ) -> None:
        said(me, "Likes tea.")
        memory = house.open(embedder=FakeEmbedder(name="model-b"))
        health = memory.health()
        assert (health.counts.pending, len(health.problems)) == (1, 1)
        memory.embed()
        assert memory.health().problems == ()

    def test_without_an_embedder_the_vectors_stay(self, house: House, me: ScopedMemory) -> None:
        kept = said(me, "Likes tea.")
        bare = house.open(embedder="none")
        found = same_scope(bare, me).recall("tea")
        assert ids(found) == [kept.memory_id]
        assert found.trace.degraded == (Degraded.NO_EMBEDDER,)
        with pytest.raises(InvalidInputError, match="No embedder"):
            bare.embed()
        again = same_scope(house.open(), me).recall("tea")
        assert again.trace.hits[0].semantic is not None

    def test_an_embedder_that_comes_later_finds_everything_to_do(
        self, house: House, me: ScopedMemory
    ) -> None:
        bare = same_scope(house.open(embedder="none"), me)
        kept = said(bare, "Likes tea.")
        assert kept.embedding is EmbeddingState.NONE
        assert house.opened[0].embed() == (1, 0)
        assert me.get(kept.memory_id).embedding is EmbeddingState.READY
        assert me.recall("tea").trace.hits[0].semantic is not None


def zeros(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.zeros((len(texts), 8), np.float32)


def nans(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.full((len(texts), 8), np.nan, np.float32)


def too_few(texts: Sequence[str]) -> NDArray[np.float32]:
    return np.ones((len(texts) - 1, 8), np.float32)


def ragged(texts: Sequence[str]) -> list[list[float]]:
    return [[1.0] * (number + 1) for number in range(len(texts) + 1)]


def words(texts: Sequence[str]) -> list[str]:
    return ["one"] * len(texts)


def crash(texts: Sequence[str]) -> None:
    raise RuntimeError("out of memory")


@pytest.mark.promise("REC-8")
@pytest.mark.parametrize("function", [zeros, nans, too_few, ragged, words, crash])
def test_unusable_vectors_are_a_failure_and_never_stored(house: House, function: object) -> None:
    memory = house.open(embedder=function)
    me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
    kept = said(me, "Likes tea.")
    assert kept.embedding is EmbeddingState.PENDING
    assert ids(me.recall("tea")) == [kept.memory_id]
    with pytest.raises(ProviderError):
        me.recall("tea", strict=True)
    assert me.forget(kept.memory_id).surfaces[-1].found == 0
