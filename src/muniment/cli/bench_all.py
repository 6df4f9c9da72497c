"""`bench all`: every bench with the sizes that the documentation shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from muniment.cli import bench_runs as shown
from muniment.scoped import Progress

Measure: TypeAlias = Callable[[Progress], shown.Found]


def benches(
    peers: Sequence[str], keep: Path | None, *, quick: bool
) -> Iterator[tuple[str, Measure]]:
    """Yield every bench under its heading, to be run in turn.

    Args:
        peers: Names of peers to run.
        keep: Folder to keep the large stores in, or None.
        quick: Whether sizes are small and calls few.
    """
    from muniment.bench import footprint, isolation, load, postgres, recall, sealed, write

    calls = 20 if quick else 200
    others = 2_000 if quick else 1_000_000
    yield (
        "Recall",
        lambda progress: shown.recall(
            recall.run(
                scopes=(100, 1_000) if quick else (100, 1_000, 10_000, 100_000),
                others=min(others, 100_000),
                calls=calls,
                peers=peers,
                peer_records=((300 if quick else 1_000),) if peers else (),
                peer_others=(300,) if quick else (9_000, 99_000),
                progress=progress,
            )
        ),
    )
    yield (
        "Writing",
        lambda _: shown.write(write.run(calls=calls, batch=500 if quick else 10_000, peers=peers)),
    )
    yield (
        "What other people's records cost",
        lambda progress: shown.isolation(
            isolation.run(
                scope_records=100 if quick else 1_000,
                other_records=others,
                calls=calls,
                keep=keep and keep / "crowd",
                progress=progress,
            )
        ),
    )
    yield (
        "What sealing costs",
        lambda progress: shown.sealed(
            sealed.run(sizes=(100,) if quick else (1_000, 10_000), calls=calls, progress=progress)
        ),
    )
    yield (
        "What it costs to have",
        lambda progress: shown.footprint(
            footprint.run(
                others=others - (0 if quick else footprint.HOT),
                peers=peers,
                peer_records=400 if quick else 2_000,
                keep=keep and keep / "house",
                progress=progress,
            )
        ),
    )
    yield (
        "On PostgreSQL",
        lambda _: shown.postgres(postgres.run(records=100 if quick else 1_000, calls=calls)),
    )
    yield (
        "Under load",
        lambda _: shown.load(
            load.run(
                store=load.POSTGRES,
                clients=3 if quick else 4,
                threads=3 if quick else 4,
                calls=60 if quick else 300,
                scopes=40,
                server_kills=2,
            )
        ),
    )
