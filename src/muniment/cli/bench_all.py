"""`bench all`: every bench with the sizes that the documentation shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from muniment.cli import bench_runs as shown
from muniment.cli.bench_runs import Found
from muniment.scoped import Progress

Measure: TypeAlias = Callable[[Progress], Found]


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run, and how large.

    Attributes:
        peers: Names of peers to run.
        keep: Folder to keep the large stores in, or None.
        quick: Whether sizes are small and calls few.
    """

    peers: Sequence[str]
    keep: Path | None
    quick: bool

    def benches(self) -> dict[str, Measure]:
        """Return every bench by its heading, in the order to run them."""
        return {
            "Recall": self._recall,
            "Recall beside others": self._beside,
            "Writing": self._write,
            "What other people's records cost": self._isolation,
            "What sealing costs": self._sealed,
            "What it costs to have": self._footprint,
            "On PostgreSQL": self._postgres,
            "Under load": self._load,
        }

    @property
    def _calls(self) -> int:
        return 20 if self.quick else 200

    def _recall(self, progress: Progress) -> Found:
        from muniment.bench.recall import run

        report = run(
            scopes=(100, 1_000) if self.quick else (100, 1_000, 10_000, 100_000),
            others=2_000 if self.quick else 100_000,
            calls=self._calls,
            progress=progress,
        )
        return shown.recall(report)

    def _beside(self, _: Progress) -> Found:
        from muniment.bench.recall import run

        report = run(
            scopes=(),
            others=0,
            calls=self._calls,
            peers=self.peers,
            peer_records=(300 if self.quick else 1_000,),
            peer_others=(300,) if self.quick else (9_000, 99_000),
        )
        return shown.recall(report)

    def _write(self, _: Progress) -> Found:
        from muniment.bench.write import run

        batch = 500 if self.quick else 10_000
        return shown.write(run(calls=self._calls, batch=batch, peers=self.peers))

    def _isolation(self, progress: Progress) -> Found:
        from muniment.bench.isolation import run

        report = run(
            scope_records=100 if self.quick else 1_000,
            other_records=2_000 if self.quick else 1_000_000,
            calls=self._calls,
            keep=self.keep and self.keep / "crowd",
            progress=progress,
        )
        return shown.isolation(report)

    def _sealed(self, progress: Progress) -> Found:
        from muniment.bench.sealed import run

        sizes = (100,) if self.quick else (1_000, 10_000)
        return shown.sealed(run(sizes=sizes, calls=self._calls, progress=progress))

    def _footprint(self, progress: Progress) -> Found:
        from muniment.bench.footprint import run

        report = run(
            others=2_000 if self.quick else 990_000,
            peers=self.peers,
            peer_records=400 if self.quick else 2_000,
            keep=self.keep and self.keep / "house",
            progress=progress,
        )
        return shown.footprint(report)

    def _postgres(self, _: Progress) -> Found:
        from muniment.bench.postgres import run

        return shown.postgres(run(records=100 if self.quick else 1_000, calls=self._calls))

    def _load(self, _: Progress) -> Found:
        from muniment.bench.load import POSTGRES, run

        report = run(
            store=POSTGRES,
            clients=3 if self.quick else 4,
            threads=3 if self.quick else 4,
            calls=60 if self.quick else 300,
            scopes=40,
            server_kills=2,
        )
        return shown.load(report)
