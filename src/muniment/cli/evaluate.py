"""`eval`: measure quality offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.options import Run, command

if TYPE_CHECKING:
    from muniment.evals.retrieval import RetrievalReport

app = typer.Typer(no_args_is_help=True)

_COLUMNS = ("recall@5", "recall@10", "recall@20", "any@10", "all@10", "ndcg@10", "mrr")


@app.callback()
def group() -> None:
    """Measure quality offline, through the product itself."""


@command(app, scope=False, store=False)
def retrieval(
    run: Run,
    file: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines, plain or gzipped: haystacks of records and questions.",
            exists=True,
            dir_okay=False,
        ),
    ],
    types: Annotated[bool, typer.Option("--types", help="Also show each type.")] = False,
) -> None:
    """Measure how well recall finds what it should, on a file of questions with known answers.

    Example: muniment eval retrieval questions.jsonl.gz --embedder local
    """
    from muniment.evals.retrieval import evaluate

    with run.out.progress("Evaluating") as progress:
        report = evaluate(file, embedder=run.embedder, progress=progress)
    run.out.emit(report.to_dict(), _summary(report), _table(report, types=types))


def _summary(report: RetrievalReport) -> Text:
    return Text(
        f"{report.file}: {report.queries:,} questions over {report.records:,} records in "
        f"{report.haystacks:,} haystacks, {report.skipped:,} records left out; "
        f"embedder: {report.embedder or 'none, words alone'}"
    )


def _table(report: RetrievalReport, *, types: bool) -> Table:
    table = Table("type", *_COLUMNS)
    for column in table.columns[1:]:
        column.justify = "right"
    for kind, measures in report.measures.items():
        if kind == "all" or types:
            table.add_row(kind, *(f"{measures[name]:.4f}" for name in _COLUMNS))
    return table
