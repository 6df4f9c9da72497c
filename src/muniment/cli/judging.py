"""`usefulness`, `cite`, `rate`: how records were used, and what is said of them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.options import Run, command, parse_filters
from muniment.cli.output import DIM, done
from muniment.cli.parameters import Cursor, Filters, Kinds, MemoryId, PageLimit
from muniment.cli.views import plural
from muniment.records import plain
from muniment.usefulness import UsefulnessPage

app = typer.Typer()

MemoryIds = Annotated[
    list[str], typer.Argument(metavar="ID…", help="The records.", show_default=False)
]
Helpful = Annotated[
    bool, typer.Option("--helpful/--unhelpful", help="Whether it was.", show_default=False)
]
ActiveOnly = Annotated[bool, typer.Option("--active", help="Leave out what was superseded.")]


@command(app, embedder=False)
def usefulness(
    run: Run,
    limit: PageLimit = 50,
    cursor: Cursor = None,
    kind: Kinds = None,
    filters: Filters = None,
    active: ActiveOnly = False,
) -> None:
    """Show how records were used, newest first: ids and numbers, no text.

    Example: muniment usefulness --kind preference
    """
    with run.scoped() as me:
        page = me.usefulness(
            limit=limit,
            cursor=cursor,
            kinds=kind or None,
            filters=parse_filters(filters or []),
            superseded=not active,
        )
    run.out.emit(
        page.to_dict(),
        _table(page) if len(page) else Text("No record here.", DIM),
        *([Text(f"\nMore: --cursor {page.cursor}", DIM)] if page.cursor else []),
    )


def _table(page: UsefulnessPage) -> Table:
    counts = ("considered", "shown", "cited", "corrected")
    table = Table("record", "kind", *counts, "rated", "last shown")
    table.columns[0].no_wrap = True
    for column in table.columns[2:6]:
        column.justify = "right"
    for one in page:
        numbers = [f"{getattr(one, name):,}" for name in counts]
        rated = f"+{one.helpful:,} −{one.unhelpful:,}" if one.helpful or one.unhelpful else ""
        last = "" if one.shown_at is None else one.shown_at.date().isoformat()
        table.add_row(one.memory_id, one.kind, *numbers, rated, last)
    return table


@command(app, spaces=True, embedder=False)
def cite(run: Run, memory_ids: MemoryIds) -> None:
    """Say that one answer rested on records.

    Example: muniment cite mem_01… mem_02…
    """
    with run.scoped() as me:
        me.cite(*memory_ids)
    count = plural(len(dict.fromkeys(memory_ids)), "record")
    run.out.emit({"cited": plain(tuple(dict.fromkeys(memory_ids)))}, done(f"Cited {count}."))


@command(app, spaces=True, embedder=False)
def rate(run: Run, memory_id: MemoryId, helpful: Helpful) -> None:
    """Say that a record was helpful or not. It changes neither the record nor its rank.

    Example: muniment rate mem_01… --helpful
    """
    with run.scoped() as me:
        me.rate(memory_id, helpful=helpful)
    said = "helpful" if helpful else "unhelpful"
    run.out.emit({"memory_id": memory_id, "helpful": helpful}, done(f"Rated {said}."))
