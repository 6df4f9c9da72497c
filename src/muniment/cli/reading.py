"""`recall`, `answer`, `list`, `show`, `history`: the commands that read."""

from __future__ import annotations

import sys
from typing import Annotated, cast

import typer
from rich.text import Text

from muniment.cli.options import Run, command, parse_filters
from muniment.cli.output import DIM, Words, visible
from muniment.cli.parameters import Cursor, Filters, Kinds, Limit, MemoryId, PageLimit
from muniment.cli.views import (
    explained_panel,
    packet_panel,
    plural,
    record_view,
    records_table,
    trace_panel,
)
from muniment.errors import InvalidInputError, NoModelError
from muniment.records import Packet, plain
from muniment.scoped import DEFAULT_BUDGET, DEFAULT_LIMIT, DEFAULT_MINIMUM_SCORE

app = typer.Typer()

Query = Annotated[str, typer.Argument(help="The question.", show_default=False)]
MinimumScore = Annotated[float, typer.Option(help="Least score, from 0 to 1; -1 admits all.")]
Budget = Annotated[int, typer.Option(help="Most tokens of the packet.")]
PacketOnly = Annotated[
    bool, typer.Option("--packet", help="Print only the packet, as a model would get it.")
]
Model = Annotated[
    str | None,
    typer.Option(envvar="MUNIMENT_MODEL", help="openai:MODEL, chat:MODEL or azure:DEPLOYMENT."),
]
Superseded = Annotated[bool, typer.Option("--superseded", help="List superseded records too.")]
AsOf = Annotated[
    str | None,
    typer.Option(
        help="A past instant: recall what was believed then. ISO-8601 with Z or an offset."
    ),
]

RerankerOption = Annotated[
    str | None,
    typer.Option(
        "--reranker",
        envvar="MUNIMENT_RERANKER",
        help="http:MODEL, tei or cross-encoder:MODEL orders the best anew.",
    ),
]

Explain = Annotated[
    bool, typer.Option("--explain", help="Also show the verdict on every record near the cut.")
]

Cite = Annotated[
    bool, typer.Option("--cite", help="Ask the model to name the records it rests on.")
]


@command(app, spaces=True)
def recall(
    run: Run,
    query: Query,
    limit: Limit = DEFAULT_LIMIT,
    minimum_score: MinimumScore = DEFAULT_MINIMUM_SCORE,
    kind: Kinds = None,
    filters: Filters = None,
    budget: Budget = DEFAULT_BUDGET,
    as_of: AsOf = None,
    explain: Explain = False,
    reranker: RerankerOption = None,
    packet: PacketOnly = False,
) -> None:
    """Show the records that bear on a question, and why.

    Example: muniment recall "Which seat?" --filter 'metadata.tag={"any": ["travel"]}'
    """
    if packet and run.out.as_json:
        raise InvalidInputError("Choose --packet or --json; the JSON holds the packet too.")
    with run.scoped(reranker=reranker) as me:
        found = me.recall(
            query,
            limit=limit,
            minimum_score=minimum_score,
            kinds=kind or None,
            filters=parse_filters(filters or []),
            budget=budget,
            as_of=as_of,
            explain=explain,
        )
    if packet:
        sys.stdout.write(f"{found.packet.text}\n")
        return
    explained = [explained_panel(found.trace)] if found.trace.explained else []
    run.out.emit(found.to_dict(), packet_panel(found.packet), trace_panel(found.trace), *explained)


@command(app, spaces=True)
def answer(
    run: Run,
    question: Query,
    limit: Limit = DEFAULT_LIMIT,
    minimum_score: MinimumScore = DEFAULT_MINIMUM_SCORE,
    kind: Kinds = None,
    filters: Filters = None,
    budget: Budget = DEFAULT_BUDGET,
    model: Model = None,
    reranker: RerankerOption = None,
    cite: Cite = False,
) -> None:
    """Let a language model answer from recalled records.

    The audit trail keeps the ids it was shown, and not the prompt.

    Example: muniment answer "Which seat should I book?" --model openai:gpt-5-mini
    """
    with run.scoped(model=model, reranker=reranker) as me:
        try:
            given = me.answer(
                question,
                limit=limit,
                minimum_score=minimum_score,
                kinds=kind or None,
                filters=parse_filters(filters or []),
                budget=budget,
                cite=cite,
            )
        except NoModelError as error:
            run.out.show(packet_panel(cast("Packet", error.packet)))
            raise NoModelError(
                "No language model is configured; pass --model openai:NAME or set "
                "MUNIMENT_MODEL. The packet is what it would have been shown.",
                error.packet,
            ) from None
    shown = f"{visible(given.model)}, shown {plural(len(given.memory_ids), 'record')}"
    ids = [
        Text(f"{memory_id}{', cited' if memory_id in given.cited else ''}", DIM)
        for memory_id in given.memory_ids
    ]
    run.out.emit(given.to_dict(), Words(given.text), Text(), Text(shown, DIM), *ids)


@command(app, name="list", embedder=False)
def list_records(
    run: Run,
    limit: PageLimit = 50,
    cursor: Cursor = None,
    kind: Kinds = None,
    filters: Filters = None,
    superseded: Superseded = False,
) -> None:
    """List records, newest first, a page at a time.

    Example: muniment list --kind preference --limit 20
    """
    with run.scoped() as me:
        page = me.list(
            limit=limit,
            cursor=cursor,
            kinds=kind or None,
            filters=parse_filters(filters or []),
            superseded=superseded,
        )
    run.out.emit(
        page.to_dict(),
        records_table(page.records) if len(page) else Text("No record here.", DIM),
        *([Text(f"\nMore: --cursor {page.cursor}", DIM)] if page.cursor else []),
    )


@command(app, embedder=False)
def show(run: Run, memory_id: MemoryId) -> None:
    """Show everything about one record.

    Example: muniment show mem_01…
    """
    with run.scoped() as me:
        record = me.get(memory_id)
    run.out.emit(record.to_dict(), record_view(record))


@command(app, embedder=False)
def history(run: Run, memory_id: MemoryId) -> None:
    """Show what a record replaced and what replaced it.

    Example: muniment history mem_01…
    """
    with run.scoped() as me:
        records = me.history(memory_id)
    run.out.emit({"records": plain(records)}, records_table(records))
