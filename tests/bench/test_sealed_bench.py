"""The bench of sealing asks the same of both stores, and says when they answer otherwise."""

from __future__ import annotations

import json

import pytest

from muniment.bench import sealed
from muniment.cli.bench_views import sealed_table
from muniment.storage.sealed_view import SealedSnapshot


def test_every_way_of_recalling_is_measured_and_gives_the_same() -> None:
    report = sealed.run(sizes=(20,), calls=20)
    assert [one.name for one in report.cases] == [
        sealed.WARM,
        sealed.COLD,
        sealed.FILTERED,
        sealed.CHANGED,
        sealed.FIRST,
    ]
    for one in report.cases:
        assert one.same
        assert one.records == 20
        assert one.ratio.low <= one.ratio.middle <= one.ratio.high
    assert json.loads(json.dumps(report.to_dict()))["cases"][0]["same"] is True
    assert sealed_table(report).row_count == 5


def test_other_answers_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SealedSnapshot, "facts", lambda *_: [])
    report = sealed.run(sizes=(20,), calls=20)
    assert {one.name for one in report.cases if not one.same} == {
        sealed.FILTERED,
        sealed.CHANGED,
        sealed.FIRST,
    }
