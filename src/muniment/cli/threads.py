"""`thread`: the conversations and workflows of one scope, and their end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.groups import DefaultGroup
from muniment.cli.options import Run, command
from muniment.cli.output import DIM, pairs, visible
from muniment.cli.parameters import Wait, Yes
from muniment.cli.views import receipt_view, rehearsal_view, value_text
from muniment.clock import iso
from muniment.errors import InvalidInputError, NotFoundError
from muniment.records import plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from muniment.threads import Event, ThreadInfo

app = typer.Typer(cls=DefaultGroup)

ThreadId = Annotated[str, typer.Argument(metavar="ID", help="The thread.", show_default=False)]
Type = Annotated[str, typer.Option("--type", help="What sort of thread.")]
AnyType = Annotated[str | None, typer.Option("--type", help="Only threads of this sort.")]
Limit = Annotated[int, typer.Option(help="Most to show.")]
Cascade = Annotated[
    bool,
    typer.Option("--cascade", help="Forget the statements that were derived from it too."),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")]


@command(app, name="list", embedder=False)
def list_threads(run: Run, of_type: AnyType = None, limit: Limit = 100) -> None:
    """List the threads of the scope, those changed last first.

    Example: muniment thread list --type conversation
    """
    with run.scoped() as me:
        found = me.threads(type=of_type, limit=limit)
    nothing = Text("This scope has no threads.", DIM)
    run.out.emit({"threads": plain(found)}, _table(found) if found else nothing)


def _table(threads: Sequence[ThreadInfo]) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    for name in ("thread", "type", "events", "changed"):
        table.add_column(name, justify="right" if name == "events" else "left")
    for one in threads:
        count = str(one.last_number)
        table.add_row(visible(one.thread_id), visible(one.type), count, iso(one.changed_at))
    return table


@command(app, embedder=False)
def show(run: Run, thread_id: ThreadId, of_type: Type = "conversation", limit: Limit = 20) -> None:
    """Show a thread and its last events. They are what was said, not what is remembered.

    Example: muniment thread show thread-7 --limit 50
    """
    with run.scoped() as me:
        thread = me.thread(thread_id, type=of_type)
        info, events = thread.info(), thread.latest(limit)
    if info is None:
        raise NotFoundError("No thread with this thread_id in this scope.")
    facts = {
        "thread": visible(info.thread_id),
        "type": visible(info.type),
        "version": str(info.version),
        "expires": None if info.expires_at is None else iso(info.expires_at),
    }
    shown = {**info.to_dict(), "events": plain(events)}
    run.out.emit(shown, pairs(facts), *map(_event, events))


def _event(event: Event) -> RenderableType:
    head = Text(f"{event.number}  {iso(event.created_at)}  ", DIM)
    return head.append(visible(value_text(event.content)), "default")


@command(app, embedder=False)
def forget(
    run: Run,
    thread_id: ThreadId,
    of_type: Type = "conversation",
    cascade: Cascade = False,
    dry_run: DryRun = False,
    wait: Wait = False,
    yes: Yes = False,
) -> None:
    """Delete a thread with everything in it, and print the receipt.

    Without --cascade the receipt names the statements that were derived from it and stay.

    Example: muniment thread forget thread-7 --cascade --dry-run
    """
    if not (yes or dry_run):
        if run.out.as_json:
            raise InvalidInputError("With --json nobody can be asked; add --yes or --dry-run.")
        typer.confirm("Forget this thread for good?", abort=True)
    with run.scoped() as me:
        receipt = me.forget_thread(
            thread_id, type=of_type, cascade=cascade, dry_run=dry_run, wait=wait
        )
    run.out.emit(receipt.to_dict(), (rehearsal_view if dry_run else receipt_view)(receipt))
