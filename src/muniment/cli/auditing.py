"""`audit`: the trail of one scope."""

from __future__ import annotations

import typer
from rich.text import Text

from muniment.cli.options import DefaultGroup, Run, command
from muniment.cli.output import DIM
from muniment.cli.views import audit_table
from muniment.records import plain

app = typer.Typer(cls=DefaultGroup)


@command(app, embedder=False)
def show(run: Run) -> None:
    """Show who did what to which record, oldest first. `muniment audit` alone does it too.

    Example: muniment audit --json
    """
    with run.scoped() as me:
        entries = me.audit()
    nothing = Text("Nothing has happened in this scope.", DIM)
    run.out.emit({"entries": plain(entries)}, audit_table(entries) if entries else nothing)
