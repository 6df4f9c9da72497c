"""`eval`: measure quality offline."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from muniment.cli.options import Run, command
from muniment.cli.output import DIM
from muniment.errors import InvalidInputError

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
    peer: Annotated[
        list[str] | None,
        typer.Option("--peer", help="bm25, cosine, langgraph or mem0 beside it. May be repeated."),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Ask again with each idea of the ranking off.")
    ] = False,
    vectors: Annotated[
        Path | None,
        typer.Option(help="File that keeps what was embedded, for the next run.", dir_okay=False),
    ] = None,
    types: Annotated[bool, typer.Option("--types", help="Also show each type.")] = False,
) -> None:
    """Measure how well recall finds what it should, on a file of questions with known answers.

    Example: muniment eval retrieval questions.jsonl.gz --embedder local
    """
    from muniment.evals.baselines import BASELINES
    from muniment.evals.retrieval import evaluate

    peers = list(dict.fromkeys(peer or []))
    if set(peers) - set(BASELINES):
        raise InvalidInputError(f"--peer must be one of: {', '.join(BASELINES)}.")
    with run.out.progress("Evaluating") as progress:
        report = evaluate(
            file,
            embedder=run.embedder,
            peers=peers,
            ablate=ablate,
            vectors=vectors,
            progress=progress,
        )
    shown: list[RenderableType] = [_summary(report), _table(report, types=types)]
    shown += [
        Text(f"{peer}: not installed (pip install {package}).", DIM)
        for peer, package in report.absent.items()
    ]
    if report.ablation:
        shown.append(_ablation(report))
    run.out.emit(report.to_dict(), *shown)


def _summary(report: RetrievalReport) -> Text:
    return Text(
        f"{report.file}: {report.queries:,} questions over {report.records:,} records in "
        f"{report.haystacks:,} haystacks, {report.skipped:,} records left out; "
        f"embedder: {report.embedder or 'none, words alone'}"
    )


def _table(report: RetrievalReport, *, types: bool) -> Table:
    table = Table("way", "type", *_COLUMNS)
    for column in table.columns[2:]:
        column.justify = "right"
    for way, found in {"recall": report.measures, **report.peers}.items():
        for kind, measures in found.items():
            if kind == "all" or types:
                table.add_row(way, kind, *(f"{measures[name]:.4f}" for name in _COLUMNS))
    return table


def _ablation(report: RetrievalReport) -> Table:
    table = Table("without", "recall@10", "change", "95 % interval")
    for column in table.columns[1:]:
        column.justify = "right"
    for one in report.ablation:
        interval = f"{one.low:+.4f} to {one.high:+.4f}"
        table.add_row(one.idea, f"{one.recall:.4f}", f"{one.change:+.4f}", interval)
    return table
