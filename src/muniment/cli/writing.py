"""`init`, `preview`, `remember`, `forget`: the commands that write, and the rehearsal of one."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli.options import Run, command, parse_pairs, parse_value
from muniment.cli.output import done
from muniment.cli.views import preview_view, receipt_view, record_view
from muniment.errors import InvalidInputError, NotApprovedError
from muniment.results import Outcome

app = typer.Typer()

Text = Annotated[str, typer.Argument(help="The statement.", show_default=False)]
Kind = Annotated[str, typer.Option(help="What sort of statement: preference, decision, context, …")]
SourceId = Annotated[
    str,
    typer.Option(
        help="Your own stable id of where it comes from. Repeating a call with it writes once."
    ),
]
Field = Annotated[str | None, typer.Option(help="Name of the structured part.")]
Value = Annotated[
    str | None, typer.Option(help="The structured part: JSON, or else the text as it stands.")
]
Time = "ISO-8601 with Z or an offset."
ExpiresAt = Annotated[str | None, typer.Option(help=f"When to stop keeping it. {Time}")]
ValidFrom = Annotated[str | None, typer.Option(help=f"From when it is true. {Time}")]
ValidUntil = Annotated[str | None, typer.Option(help=f"Until when it is true. {Time}")]
Metadata = Annotated[
    list[str] | None,
    typer.Option("--metadata", help="NAME=VALUE, a label of your own. May be repeated."),
]
Approved = Annotated[
    bool,
    typer.Option("--approved", "--yes", help="Say that the statement is approved. Required."),
]
Wait = Annotated[
    bool, typer.Option("--wait", help="Rewrite the file at once, so that no byte is left in it.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask first.")]
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The record.", show_default=False)]


@command(app, scope=False, embedder=False)
def init(run: Run) -> None:
    """Make a store.

    One that exists is left as it is; a file of something else is refused untouched.

    Example: muniment init --store agent-memory.db
    """
    folder = run.store.absolute().parent
    if not folder.is_dir():
        raise InvalidInputError(f"The folder {folder} does not exist; make it first.")
    existed = run.store.exists()
    with run.memory(create=True) as memory:
        store = memory.health().store
    run.out.emit(
        {"created": not existed, "store": store.to_dict()},
        done(
            f"{store.location} {'is a store already' if existed else 'is ready'}.",
            f"{store.engine}, schema {store.schema_version}",
        ),
    )


@command(app, embedder=False)
def preview(
    run: Run,
    text: Text,
    kind: Kind,
    source_id: SourceId,
    field: Field = None,
    value: Value = None,
    expires_at: ExpiresAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    metadata: Metadata = None,
) -> None:
    """Show what `remember` would do, without writing.

    Example: muniment preview "Prefers aisle seats." --kind preference --source-id form-7
    """
    with run.scoped() as me:
        seen = me.preview(
            text,
            kind=kind,
            source_id=source_id,
            field=field,
            value=None if value is None else parse_value(value),
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=parse_pairs("--metadata", metadata or []),
        )
    run.out.emit(seen.to_dict(), preview_view(seen))


@command(app)
def remember(
    run: Run,
    text: Text,
    kind: Kind,
    source_id: SourceId,
    field: Field = None,
    value: Value = None,
    expires_at: ExpiresAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    metadata: Metadata = None,
    approved: Approved = False,
) -> None:
    """Store one approved statement.

    A new value of a field supersedes the old one. Repeating a source_id writes once.

    Example: muniment remember "Prefers aisle seats." --kind preference --source-id form-7
    --field seat --value aisle --approved
    """
    if not approved:
        raise NotApprovedError(
            "remember stores only what is approved; add --approved if the person made or "
            "confirmed the statement. `muniment preview` shows what would be stored."
        )
    with run.scoped() as me:
        written = me.remember(
            text,
            kind=kind,
            source_id=source_id,
            approved=approved,
            field=field,
            value=None if value is None else parse_value(value),
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=parse_pairs("--metadata", metadata or []),
        )
    known = written.outcome is Outcome.REPEATED
    details = f"supersedes {written.superseded}" if written.superseded else ""
    run.out.emit(
        written.to_dict(),
        done(f"{'Already remembered' if known else 'Remembered'} as {written.memory_id}", details),
    )


@command(app, embedder=False)
def forget(run: Run, memory_id: MemoryId, wait: Wait = False, yes: Yes = False) -> None:
    """Delete a record and print the receipt.

    All that was derived from it goes too. A tombstone without content keeps late work from
    bringing it back.

    Example: muniment forget mem_01… --wait
    """
    with run.scoped() as me:
        if not yes:
            if run.out.as_json:
                raise InvalidInputError("With --json nobody can be asked; add --yes.")
            run.out.show(record_view(me.get(memory_id)))
            typer.confirm("Forget this record for good?", abort=True)
        receipt = me.forget(memory_id, wait=wait)
    run.out.emit(receipt.to_dict(), receipt_view(receipt))
