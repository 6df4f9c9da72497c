"""`tenants`: a store on several PostgreSQL servers, and which of them each tenant lives on."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from muniment.cli.options import Run, command
from muniment.cli.output import done, visible
from muniment.cli.views import plural
from muniment.cli.writing import Sealed

app = typer.Typer(no_args_is_help=True)

Tenant = Annotated[str, typer.Argument(help="The tenant.")]
Target = Annotated[
    str, typer.Option("--to", help="Name of the server; its present one undoes an unfinished move.")
]


@app.callback()
def group() -> None:
    """Which server each tenant lives on. --store names a TOML file of several servers."""


@command(app, scope=False, embedder=False)
def prepare(run: Run, sealed: Sealed = False) -> None:
    """Make a store on several servers, or bring servers up to date and onto the map.

    The TOML file must name the role that owns each database. What a server holds stays there.

    Example: muniment tenants prepare --store shards-owner.toml
    """
    from muniment.providers.keys import open_key
    from muniment.storage import prepare_shards, read_shards

    shards = read_shards(Path(run.store))
    schema = prepare_shards(shards, sealed=sealed or None, master=open_key(run.key))
    run.out.emit(
        {"servers": [*sorted(shards.servers)], "map": shards.map, "schema_version": schema},
        done(f"{plural(len(shards.servers), 'server')} ready.", f"map on {shards.map}"),
    )


@command(app, name="list", scope=False, embedder=False)
def listing(run: Run) -> None:
    """List every tenant with its server.

    Example: muniment tenants list --store shards.toml
    """
    from muniment.storage import placements, read_shards

    found = placements(read_shards(Path(run.store)))
    table = Table("tenant", "server", "moving to")
    for tenant_id, server, target in found:
        table.add_row(visible(tenant_id), server, target or "")
    names = ("tenant_id", "server", "target")
    run.out.emit({"tenants": [dict(zip(names, row, strict=True)) for row in found]}, table)


@command(app, scope=False, embedder=False)
def move(run: Run, tenant: Tenant, to: Target) -> None:
    """Move a tenant to another server while it is used, or carry on a move that was interrupted.

    Reading goes on all the time; writes wait while the last differences are copied and compared.

    Example: muniment tenants move acme --to south --store shards.toml
    """
    from muniment.storage import move_tenant, read_shards

    report = move_tenant(read_shards(Path(run.store)), tenant, to)
    what = (
        f"{plural(report.rows, 'row')} of {plural(report.owners, 'owner')}, {report.copied_again} "
        f"copied again, writers waited {report.paused:.1f} s"
    )
    run.out.emit(report.to_dict(), done(f"{visible(tenant)} is on {report.target}.", what))
