"""The governance tests stand on the same store, clock and scopes as the behaviour tests."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from muniment import BatchError, Memory, MunimentError, ScopedMemory
from muniment.results import Candidate, Written
from muniment.scope import Principal, Role, Space, SpaceType
from muniment.scoped import ReviewDesk
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

DANA = Principal("t1", "dana", frozenset({Role.REVIEWER}))
TEAM = Space("t1", SpaceType.PROJECT, "apollo")
_numbers = count()


@pytest.fixture
def desk(memory: Memory) -> ReviewDesk:
    """The desk of a reviewer who reaches everything of tenant t1."""
    return memory.reviewing(DANA)


def proposed(scoped: ScopedMemory, text: str, **parts: Any) -> Candidate:  # noqa: ANN401
    """Propose a preference under a source_id of its own, unless told otherwise."""
    whole: dict[str, Any] = {"kind": "preference", "source_id": f"heard-{next(_numbers)}"}
    return scoped.propose(text, **{**whole, **parts})


def approved(scoped: ScopedMemory, candidate: Candidate, **parts: Any) -> Written:  # noqa: ANN401
    """Approve a candidate in the name of the person concerned, as it is now."""
    return scoped.approve(
        candidate.candidate_id,
        version=candidate.version,
        content_hash=candidate.content_hash,
        **parts,
    )


def decided(desk: ReviewDesk, candidate: Candidate, **parts: Any) -> Written:  # noqa: ANN401
    """Approve a candidate as a reviewer, as it was shown."""
    return desk.approve(
        candidate.scope,
        candidate.candidate_id,
        version=candidate.version,
        content_hash=candidate.content_hash,
        **parts,
    )


def published(desk: ReviewDesk, me: ScopedMemory, text: str, **parts: Any) -> Written:  # noqa: ANN401
    """Put a record into the team's space: proposed by an agent, approved by a reviewer."""
    whole: dict[str, Any] = {"kind": "procedure", "space": TEAM, **parts}
    return decided(desk, proposed(me.with_spaces(TEAM), text, **whole))


def code_of(call: Callable[[], object]) -> str:
    """Return the code of the error that a call raises; of a batch, its first item's; else none."""
    try:
        call()
    except BatchError as error:
        return error.items[0].error.code
    except MunimentError as error:
        return error.code
    return ""
