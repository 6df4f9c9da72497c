"""`export`: everything of a scope, or of a user, as a file."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from muniment.cli.options import Run, command
from muniment.cli.output import done
from muniment.cli.parameters import AllAgents
from muniment.cli.views import plural
from muniment.errors import InvalidInputError

if TYPE_CHECKING:
    from muniment.transfers import ExportReport

app = typer.Typer()

Target = Annotated[
    str,
    typer.Argument(metavar="FILE", help="Where to, or - for standard output.", show_default=False),
]
Layout = Annotated[
    str, typer.Option(help="jsonl: everything; pam: the records, as Portable AI Memory.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace a file that exists.")]


@command(app, embedder=False)
def export(
    run: Run,
    file: Target,
    layout: Layout = "jsonl",
    all_agents: AllAgents = False,
    replace: Replace = False,
) -> None:
    """Write everything of the scope to a file: records with their history, candidates, audit.

    With --all-agents it is everything of the user, whatever the agent. `muniment import FILE --from
    export` takes it back.

    Example: muniment export user_42.jsonl --all-agents
    """
    if all_agents and layout != "jsonl":
        raise InvalidInputError("--all-agents exports jsonl only.")
    report = _written(run, _target(run, file, replace=replace), layout, all_agents=all_agents)
    details = (
        f"{plural(report.records, 'record')}, {plural(report.candidates, 'candidate')}, "
        f"{plural(report.threads, 'thread')} with entries: {report.entries:,}, "
        f"{plural(report.tombstones, 'tombstone')}, audit entries: {report.audit:,}"
    )
    view = done(f"Exported {plural(report.lines, 'line')}.", details)
    if file == "-":
        run.out.note(view)
    else:
        run.out.emit(report.to_dict(), view)


def _target(run: Run, file: str, *, replace: bool) -> Path | TextIO:
    if file == "-":
        if run.out.as_json:
            raise InvalidInputError("With --json the export needs a file of its own.")
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8", newline="\n")
        return sys.stdout
    if Path(file).exists() and not replace:
        raise InvalidInputError(f"The file {file} exists; pass --replace to write over it.")
    return Path(file)


def _written(run: Run, target: Path | TextIO, layout: str, *, all_agents: bool) -> ExportReport:
    with run.out.progress("Exporting") as progress:
        if all_agents:
            tenant, user = run.given("tenant", "user")
            with run.memory() as memory:
                return memory.export_user(target, tenant_id=tenant, user_id=user, progress=progress)
        with run.scoped() as me:
            return me.export(target, layout=layout, progress=progress)
