"""`bench`: measure speed against a floor of the same run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.options import Run, command

if TYPE_CHECKING:
    from muniment.bench.isolation import IsolationReport

app = typer.Typer(no_args_is_help=True)


@app.callback()
def group() -> None:
    """Measure speed. Every number stands beside a floor of the same run."""


@command(app, scope=False, store=False, embedder=False)
def isolation(
    run: Run,
    records: Annotated[int, typer.Option(min=1, help="Records in the scope.")] = 1_000,
    others: Annotated[int, typer.Option(min=0, help="Records of others.")] = 300_000,
    calls: Annotated[int, typer.Option(min=20, help="Recalls to time of each sort.")] = 200,
) -> None:
    """Measure what other people's records cost a scope: recall among them over recall alone.

    Example: muniment bench isolation --others 300000
    """
    from muniment.bench.isolation import run as measure

    with run.out.progress("Writing records") as progress:
        report = measure(
            scope_records=records, other_records=others, calls=calls, progress=progress
        )
    run.out.emit(report.to_dict(), _table(report), _verdict(report))


def _table(report: IsolationReport) -> Table:
    table = Table("recall", "calls", "alone, CPU ms", "among others, CPU ms", "ratio", "95 %")
    for column in table.columns[1:]:
        column.justify = "right"
    for name, found in (("warm", report.warm), ("cold", report.cold)):
        table.add_row(
            name,
            str(found.alone.calls),
            f"{found.alone.cpu:.3f}",
            f"{found.among.cpu:.3f}",
            f"{found.ratio:.3f}",
            f"{found.low:.3f} to {found.high:.3f}",
        )
    return table


def _verdict(report: IsolationReport) -> Text:
    same = "the same" if report.same else "DIFFERENT"
    return Text(
        f"{report.scope_records:,} records in the scope, {report.other_records:,} of "
        f"{report.other_scopes:,} others; {same} records in both stores, "
        f"{report.foreign} of anybody else."
    )
