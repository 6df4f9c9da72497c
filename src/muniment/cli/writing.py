"""`init`, `preview`, `remember`, `record-outcome`, `correct`: what writes, and its rehearsal."""

from __future__ import annotations

from typing import Annotated

import typer

from muniment.cli.options import Run, command, parse_changes, parse_pairs, parse_value
from muniment.cli.output import done
from muniment.cli.parameters import (
    ExpiresAt,
    Field,
    Kind,
    MemoryId,
    Metadata,
    NewText,
    OverrideTombstone,
    SourceId,
    Text,
    ValidFrom,
    ValidUntil,
    Value,
)
from muniment.cli.review_views import written_view
from muniment.cli.views import preview_view
from muniment.errors import InvalidInputError, NotApprovedError

app = typer.Typer()

Approved = Annotated[
    bool,
    typer.Option("--approved", "--yes", help="Say that the statement is approved. Required."),
]
Sealed = Annotated[
    bool, typer.Option("--sealed", help="Seal everything, with a key for each scope.")
]
Succeeded = Annotated[
    bool | None,
    typer.Option("--succeeded/--failed", help="Whether it worked. Required.", show_default=False),
]
Actions = Annotated[
    list[str] | None,
    typer.Option("--action", help="What was done. May be repeated, in order."),
]
Reference = Annotated[
    str | None, typer.Option(help="Where a system of record keeps the live value.")
]


@command(app, scope=False, embedder=False)
def init(run: Run, sealed: Sealed = False) -> None:
    """Make a store, with its key and its anchor in files beside it.

    One that exists is left as it is; a file of something else is refused untouched. Keep the key
    file where no backup of the store goes. In PostgreSQL this needs the role that owns the
    database, and brings an older store to the present schema.

    Example: muniment init --store agent-memory.db --sealed
    """
    if isinstance(run.store, str):
        _init_postgres(run, run.store, sealed=sealed)
        return
    folder = run.store.absolute().parent
    if not folder.is_dir():
        raise InvalidInputError(f"The folder {folder} does not exist; make it first.")
    existed = run.store.exists()
    with run.memory(create=True, sealed=sealed or None) as memory:
        store = memory.health().store
    run.out.emit(
        {"created": not existed, "store": store.to_dict()},
        done(
            f"{store.location} {'is a store already' if existed else 'is ready'}.",
            f"{store.engine}, schema {store.schema_version}{', sealed' if store.sealed else ''}",
        ),
    )


def _init_postgres(run: Run, url: str, *, sealed: bool) -> None:
    from muniment.providers.keys import open_key
    from muniment.storage import Postgres, prepare_postgres

    place = Postgres(url)
    schema = prepare_postgres(place, sealed=sealed or None, master=open_key(run.key))
    run.out.emit(
        {"store": {"location": place.name, "schema_version": schema}, "key": f"{place.base}.key"},
        done(f"{place.name} is ready.", f"schema {schema}; keys and anchor at {place.base}.*"),
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
    override_tombstone: OverrideTombstone = None,
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
            override_tombstone=override_tombstone,
        )
    run.out.emit(written.to_dict(), written_view(written))


@command(app, name="record-outcome")
def record_outcome(
    run: Run,
    text: Text,
    source_id: SourceId,
    succeeded: Succeeded = None,
    action: Actions = None,
    field: Field = None,
    value: Value = None,
    reference: Reference = None,
    metadata: Metadata = None,
) -> None:
    """Store what an application observed, word for word.

    A failed attempt is shown as failed, and never as a proven procedure.

    Example: muniment record-outcome "The backup ran." --source-id job-7 --succeeded
    --action pg_dump
    """
    if succeeded is None:
        raise InvalidInputError("Say whether it worked: --succeeded or --failed.")
    with run.scoped() as me:
        written = me.record_outcome(
            text,
            source_id=source_id,
            succeeded=succeeded,
            actions=action or [],
            field=field,
            value=None if value is None else parse_value(value),
            reference=reference,
            metadata=parse_pairs("--metadata", metadata or []),
        )
    run.out.emit(written.to_dict(), written_view(written, "Recorded"))


@command(app)
def correct(
    run: Run,
    memory_id: MemoryId,
    text: NewText = None,
    value: Value = None,
    expires_at: ExpiresAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    metadata: Metadata = None,
    override_tombstone: OverrideTombstone = None,
) -> None:
    """Replace a record by a corrected one. The old value stays out from now on.

    What you do not name stays as it is.

    Example: muniment correct mem_01… --text "Lives in Bergen." --value Bergen
    """
    changes = parse_changes(
        text=text,
        value=value,
        expires_at=expires_at,
        valid_from=valid_from,
        valid_until=valid_until,
        metadata=metadata,
    )
    with run.scoped() as me:
        written = me.correct(memory_id, override_tombstone=override_tombstone, **changes)
    run.out.emit(written.to_dict(), written_view(written, "Corrected"))
