"""The bench measures what it says: the same answers as brute force, and nobody else's records."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

from muniment.bench import comparison, footprint, recall, write
from muniment.bench.exact import BruteForce, overlap
from muniment.bench.peers import KINDS, Kind
from muniment.bench.plots import bars
from muniment.bench.sample import PreparedEmbedder, sentences

PLAIN = "json and python"


def test_recall_is_measured_beside_its_limit_and_agrees_with_brute_force() -> None:
    report = recall.run(scopes=(10, 80), others=50, calls=20)
    assert report.store_records == 140
    for found in report.scopes:
        assert found.overlap == 1.0
        assert found.warm.cpu >= found.one_pass.cpu > 0
        assert found.warm_ratio.low <= found.warm_ratio.middle <= found.warm_ratio.high


def test_a_peer_is_checked_for_exactness_and_for_records_of_others(tmp_path: Path) -> None:
    found = comparison.compare(tmp_path / "peers", 60, 30, 20, [PLAIN])
    by_name = {one.name: one for one in found}
    assert list(by_name) == [comparison.NUMPY, comparison.OURS, PLAIN]
    assert (by_name[PLAIN].overlap, by_name[PLAIN].foreign) == (1.0, 0)
    assert by_name[comparison.OURS].overlap == 1.0


def test_a_peer_that_is_not_installed_is_said_to_be_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(KINDS, "ghost", Kind("no-such-package", "no.module", "opener", 9999))
    *_, ghost = comparison.compare(tmp_path / "peers", 20, 0, 20, ["ghost"])
    assert (ghost.name, ghost.version, ghost.recall, ghost.overlap) == ("ghost", None, None, None)


@pytest.mark.parametrize("name", sorted(KINDS))
def test_a_peer_keeps_owners_apart(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    if kind.installed is None:
        pytest.skip(f"{kind.package} is not installed or cannot run here")
    peer = kind.open(tmp_path / "peer", PreparedEmbedder())
    texts = list(sentences(1, 6))
    peer.add(("tenant", "1", "bench"), ["1-0", "1-1", "1-2"], texts[:3])
    peer.add(("tenant", "2", "bench"), ["2-0", "2-1", "2-2"], texts[3:])
    assert peer.recall(("tenant", "1", "bench"), texts[1], 1) == ["1-1"]
    assert len(peer.recall(("tenant", "1", "bench"), texts[4], 10)) == 3
    peer.close()


def test_ties_count_for_each_other_in_the_overlap() -> None:
    matrix = np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)
    rule = BruteForce(["a", "b", "c"], matrix)
    best = rule.nearest(matrix[0], 1)
    assert [overlap([place], best) for place in (0, 1, 2)] == [1.0, 1.0, 0.0]


def test_writing_loses_nothing_with_threads_and_processes() -> None:
    report = write.run(calls=16, batch=100, peers=[PLAIN])
    assert [one.lost for one in report.bulks] == [0] * 5
    assert [one.name for one in report.singles] == [write.FLUSH, write.LEDGER, write.OURS, PLAIN]


def test_the_footprint_is_measured_in_processes_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(footprint, "HOT", 50)
    bare, ours, *embedding = footprint.run(others=20).costs
    assert ours.records == 70
    assert ours.resident is not None
    assert bare.resident is not None
    assert ours.bytes_each is not None
    assert ours.resident > bare.resident
    assert ours.bytes_each > 4 * 384
    assert all(one.resident is not None and one.resident > ours.resident for one in embedding)


def test_a_report_is_plain_json() -> None:
    report = recall.run(scopes=(10,), others=0, calls=20)
    assert json.loads(json.dumps(report.to_dict()))["scopes"][0]["records"] == 10


def test_a_plot_is_a_picture_with_every_name(tmp_path: Path) -> None:
    bars(tmp_path / "plots" / "one.svg", "Title", "ms", {"muniment": 1.0, "one pass": 0.1})
    drawn = ET.parse(tmp_path / "plots" / "one.svg")
    text = " ".join(filter(None, drawn.getroot().itertext()))
    assert "muniment" in text
    assert "one pass" in text
