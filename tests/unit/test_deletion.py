"""Which candidates go with a forgotten record."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from muniment.clock import from_instant
from muniment.records import Authority, Statement, WritePath
from muniment.results import Candidate, CandidateStatus
from muniment.rules.deletion import Gone, goes_with
from muniment.scope import Scope

GONE = Gone(frozenset({"mem_1"}), frozenset({"s1"}), frozenset({b"value"}))
STRANGER = Candidate(
    candidate_id="cnd_1",
    seq=1,
    scope=Scope("t", "u", "a"),
    statement=Statement("insight", "Says something else.", "other"),
    status=CandidateStatus.PENDING,
    version=1,
    content_hash="",
    path=WritePath.PROPOSE,
    authority=Authority.INFERRED,
    actor="agent",
    evidence=("mem_2", "evt_1"),
    findings=(),
    contested="mem_1",
    created_at=from_instant(0),
    decided_at=None,
    decided_by=None,
    reason=None,
    memory_id="mem_3",
)


@pytest.mark.promise("FOR-5")
def test_one_that_only_contradicts_it_stays() -> None:
    assert not goes_with(STRANGER, (b"other",), GONE)


@pytest.mark.promise("FOR-2")
@pytest.mark.parametrize(
    ("change", "values"),
    [
        ({"memory_id": "mem_1"}, ()),
        ({"statement": Statement("insight", "Says something else.", "s1")}, ()),
        ({"evidence": ("evt_1", "mem_1")}, ()),
        ({}, (b"other", b"value")),
    ],
)
def test_one_that_became_it_shares_its_source_rests_on_it_or_says_the_same_goes(
    change: dict[str, Any], values: tuple[bytes, ...]
) -> None:
    assert goes_with(replace(STRANGER, **change), values, GONE)
