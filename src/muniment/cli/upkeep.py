"""`doctor` and `maintain`: whether all is well, and what keeps it so."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, TypeVar

import typer
from rich.console import Group
from rich.text import Text

from muniment.cli.groups import DefaultGroup
from muniment.cli.options import Run, command
from muniment.cli.output import DIM, done, pairs, visible
from muniment.cli.views import plural
from muniment.clock import iso
from muniment.errors import MunimentError
from muniment.records import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muniment.results import Health, Replica
    from muniment.upkeep import OpenDeletion

T = TypeVar("T")

app = typer.Typer()
maintain = typer.Typer(cls=DefaultGroup)


@command(app, scope=False)
def doctor(run: Run) -> None:
    """Check versions, file, embedder and open work.

    Exits with 1 when there is a problem.

    Example: muniment doctor --json
    """
    problems: list[str] = []
    engine = _tried(_engine, problems)
    embedder = _tried(lambda: _embedder(run.embedder), problems)
    health = _tried(lambda: _health(run, usable=embedder is not None), problems)
    problems += health.problems if health else ()
    versions = {
        "muniment": version("muniment"),
        "python": platform.python_version(),
        "sqlite": engine.removeprefix("SQLite ") if engine else None,
    }
    run.out.emit(
        {
            "versions": plain(versions),
            "sqlite_safe": engine is not None,
            "embedder": embedder,
            "store": health.store.to_dict() if health else None,
            "scopes": health.scopes if health else None,
            "counts": health.counts.to_dict() if health else None,
            "problems": plain(problems),
        },
        pairs(
            {
                "muniment": versions["muniment"],
                "python": f"{versions['python']} on {platform.system()} {platform.machine()}",
                "sqlite": f"{versions['sqlite']}, safe for many processes" if engine else "unsafe",
                "embedder": embedder or "does not work",
                **(_store_rows(health) if health else {"store": str(run.store)}),
            }
        ),
        _verdict(problems),
    )
    if problems:
        raise typer.Exit(1)


def _tried(work: Callable[[], T], problems: list[str]) -> T | None:
    """Return what a check gives, or None with its error among the problems."""
    try:
        return work()
    except MunimentError as error:
        problems.append(str(error))
        return None


def _engine() -> str:
    """Return the engine. A store cannot be opened on an unsafe one, not even in memory."""
    from muniment.storage import open_store

    store = open_store(":memory:")
    try:
        return store.info().engine
    finally:
        store.close()


def _embedder(name: str) -> str:
    """Return the embedder's name and size once it has embedded a word."""
    from muniment.providers.embedding import open_embedder

    embedder = open_embedder(name)
    if embedder is None:
        return "none; recall goes by words alone"
    embedder.embed_query("ready")
    return f"{embedder.model.name}, {embedder.model.dimensions} dimensions"


def _health(run: Run, *, usable: bool) -> Health:
    with replace(run, embedder=run.embedder if usable else "none").memory() as memory:
        return memory.health()


def _store_rows(health: Health) -> dict[str, RenderableType | None]:
    counts, store = health.counts, health.store
    return {
        "store": store.location,
        "schema": str(store.schema_version),
        "size": f"{store.bytes:,} bytes",
        "sealed": "yes" if store.sealed else "no",
        "integrity": store.integrity,
        **({"wall": store.wall} if store.wall else {}),
        **{f"replica {n}": _replica(one) for n, one in enumerate(store.replicas, start=1)},
        "scopes": f"{health.scopes:,}",
        "records": f"{counts.active:,} active, {counts.superseded:,} superseded, "
        f"{counts.expired:,} expired",
        "waiting": f"{counts.pending:,} for an embedding",
        "tombstones": f"{counts.tombstones:,}",
        "threads": f"{counts.threads:,} with entries: {counts.entries:,}",
    }


def _replica(replica: Replica) -> str:
    lag = "not used" if replica.lag is None else f"{replica.lag:,} bytes behind"
    return f"{replica.location}, {lag}"


def _verdict(problems: list[str]) -> RenderableType:
    if not problems:
        return Text.assemble("\n", ("✓", "green"), " Everything works.")
    lines = [Text.assemble(("✗ ", "red"), problem) for problem in problems]
    return Group(Text(), *lines)


_DONE = {
    "resumed": ("interrupted deletion", "carried on"),
    "deleted": ("expired record", "deleted"),
    "archived": ("expired record", "archived"),
    "ended": ("lifetime", "of threads and items ended"),
    "cleaned": ("unused record", "deleted"),
    "lapsed": ("candidate", "lapsed"),
    "retired": ("tombstone", "retired"),
    "packed": ("scope", "packed"),
    "finished": ("deletion", "finished and verified"),
}


@command(maintain, name="run", scope=False)
def keep_up(run: Run) -> None:
    """Do what is due: carry on deletions, end lifetimes, compact, verify.

    `muniment maintain` alone does it too. May be stopped and repeated at any time.

    Example: muniment maintain
    """
    with run.memory() as memory:
        did = memory.maintain()
    found = did.to_dict()
    lines = [
        f"{plural(count, noun)} {verb}"
        for name, (noun, verb) in _DONE.items()
        if (count := getattr(did, name))
    ]
    run.out.emit(
        found,
        done("Maintained.", ", ".join(lines) or "nothing was due"),
        *([Text(f"! {plural(did.waiting, 'deletion')} must wait.", "yellow")] * bool(did.waiting)),
    )


@command(maintain, scope=False, embedder=False)
def deletions(run: Run) -> None:
    """List the deletions that are not finished, oldest first, and what they wait for.

    Example: muniment maintain deletions
    """
    with run.memory() as memory:
        found = memory.deletions()
    rows = {one.receipt_id: _waiting(one) for one in found}
    nothing = Text("Every deletion is finished.", DIM)
    run.out.emit({"deletions": plain(found)}, pairs(rows) if found else nothing)


def _waiting(deletion: OpenDeletion) -> str:
    why = f"waits for {deletion.waiting}" if deletion.waiting else "was interrupted"
    what = f"{deletion.target} of {visible(deletion.tenant_id)}"
    since = f"{deletion.state} since {iso(deletion.since)[:19]}Z"
    return f"{what}, {plural(deletion.records, 'record')}, {since}, {why}"


@command(maintain, scope=False)
def embed(run: Run) -> None:
    """Embed every record that waits for it. May be stopped and repeated.

    Example: muniment maintain embed --embedder local
    """
    with run.memory() as memory, run.out.progress("Embedding") as progress:
        embedded, waiting = memory.embed(progress=progress)
    run.out.emit(
        {"embedded": embedded, "waiting": waiting},
        done(f"Embedded {plural(embedded, 'record')}."),
        *([Text(f"✗ {plural(waiting, 'record')} could not be embedded.", "red")] * bool(waiting)),
    )
    if waiting:
        raise typer.Exit(1)


@command(maintain, scope=False, embedder=False)
def compact(run: Run) -> None:
    """Rewrite the file so that no byte of what was forgotten is left in it.

    Example: muniment maintain compact
    """
    with run.memory() as memory:
        before = memory.health().store.bytes
        memory.compact()
        after = memory.health().store.bytes
    sizes = {"bytes_before": before, "bytes_after": after}
    run.out.emit({**sizes}, done("Compacted.", f"{before:,} bytes before, {after:,} after"))
