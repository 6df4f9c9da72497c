"""The fault tests stand on the same store, clock and scopes as the behaviour tests."""

from __future__ import annotations

from tests.behaviour.conftest import (
    clock,
    embedder,
    house,
    me,
    memory,
    other_tenant,
    other_user,
    place,
)

__all__ = ["clock", "embedder", "house", "me", "memory", "other_tenant", "other_user", "place"]
