"""The tests of forgetting stand on the same store, clock and scopes as the behaviour tests."""

from __future__ import annotations

import pytest

from muniment.testing import FakeEmbedder
from tests.behaviour.conftest import clock, house, me, memory, other_tenant, other_user, place

__all__ = ["clock", "house", "me", "memory", "other_tenant", "other_user", "place"]


@pytest.fixture
def embedder() -> FakeEmbedder:
    return FakeEmbedder()
