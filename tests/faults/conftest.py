"""The fault tests stand on the same store, clock and scopes as the behaviour tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backends import BACKENDS, place_of
from tests.behaviour.conftest import (
    clock,
    embedder,
    house,
    me,
    memory,
    other_tenant,
    other_user,
)

__all__ = ["clock", "embedder", "house", "me", "memory", "other_tenant", "other_user", "place"]


@pytest.fixture(params=BACKENDS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Any]:
    yield from place_of(request, tmp_path)
