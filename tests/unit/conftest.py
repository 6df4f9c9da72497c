"""Fixtures of the unit tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.scripted_endpoint import ScriptedEndpoint

if TYPE_CHECKING:
    from muniment.providers.local_embedding import LocalEmbedder

VARIABLES = (
    "AZURE_OPENAI_AD_TOKEN",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "MUNIMENT_E5_WEIGHTS",
    "MUNIMENT_EMBEDDING_API_KEY",
    "MUNIMENT_EMBEDDING_BASE_URL",
    "MUNIMENT_MODEL_API_KEY",
    "MUNIMENT_RERANKER_API_KEY",
    "MUNIMENT_RERANKER_BASE_URL",
    "MUNIMENT_MODEL_BASE_URL",
    "OPENAI_API_KEY",
    "OPENAI_API_VERSION",
    "OPENAI_BASE_URL",
)


@pytest.fixture
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take every provider setting out of the environment."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def endpoint(no_settings: None) -> Iterator[ScriptedEndpoint]:
    """An HTTP endpoint that answers from a script."""
    with ScriptedEndpoint() as opened:
        yield opened


@pytest.fixture(scope="session")
def local_embedder() -> LocalEmbedder:
    """The built-in embedder, loaded once; the test is skipped where the extra is missing."""
    from muniment.providers.local_embedding import LocalEmbedder, local_installed

    if not local_installed():
        pytest.skip("the extra `local` is not installed")
    return LocalEmbedder()
