"""More records than one transaction erases."""

from __future__ import annotations

import pytest

from muniment import ScopedMemory, Statement
from tests.behaviour.conftest import said, texts
from tests.forgetting.looking import surfaces


class TestLargeTargets:
    """More records than one transaction erases."""

    @pytest.fixture
    def many(self, me: ScopedMemory) -> ScopedMemory:
        batch = [Statement("feedback", f"Bulk {n}.", f"b:{n}") for n in range(1203)]
        me.remember_many(batch, approved=True)
        said(me, "Likes tea.", source_id="s1")
        return me

    def test_all_of_it_goes(self, many: ScopedMemory) -> None:
        receipt = many.forget_where(kinds=["feedback"], wait=True)
        assert surfaces(receipt)["records"] == (1203, 1203, 0)
        assert (receipt.memory_ids, receipt.is_finished) == ((), True)
        assert many.counts().tombstones == 1203
        assert texts(many.list(superseded=True)) == ["Likes tea."]

    def test_the_audit_names_each_record(self, many: ScopedMemory) -> None:
        many.forget_all()
        named = [
            memory_id
            for entry in many.audit()
            if entry.action == "forget"
            for memory_id in entry.memory_ids
        ]
        assert (len(named), len(set(named))) == (1204, 1204)
