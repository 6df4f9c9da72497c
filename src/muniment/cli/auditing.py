"""`audit` and `keys`: the trail of one scope, and what guards the whole store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from muniment.cli.groups import DefaultGroup
from muniment.cli.options import Run, command
from muniment.cli.output import DIM, done, pairs
from muniment.cli.parameters import Yes
from muniment.cli.views import audit_table, plural
from muniment.errors import InvalidInputError
from muniment.records import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muniment.results import Verification

app = typer.Typer(cls=DefaultGroup)
keys = typer.Typer(cls=DefaultGroup)

AnchorCopy = Annotated[
    Path | None,
    typer.Option("--anchor", help="A copy of the anchor that was kept elsewhere."),
]
NewKey = Annotated[
    str | None,
    typer.Option(help="As --key. Without it a new key in the key file beside the store."),
]
Reseal = Annotated[
    bool, typer.Option("--reseal", help="Give every scope a new data key too, and seal all again.")
]


@command(app, embedder=False)
def show(run: Run) -> None:
    """Show who did what to which record, oldest first. `muniment audit` alone does it too.

    Example: muniment audit --json
    """
    with run.scoped() as me:
        entries = me.audit()
    nothing = Text("Nothing has happened in this scope.", DIM)
    run.out.emit({"entries": plain(entries)}, audit_table(entries) if entries else nothing)


@command(app, scope=False, embedder=False)
def verify(run: Run, anchor: AnchorCopy = None) -> None:
    """Check every row and audit entry of the store against its key, and all against the anchor.

    Sees what was edited, added, dropped, moved or rolled back behind muniment's back. Exits with 1
    when there is a flaw.

    Example: muniment audit verify --anchor /safe/agent-memory.db.anchor
    """
    with run.memory() as memory:
        found = memory.verify(anchor=anchor)
    run.out.emit({**found.to_dict(), "intact": found.is_intact}, *_verification(found))
    if not found.is_intact:
        raise typer.Exit(1)


def _verification(found: Verification) -> list[RenderableType]:
    looked = (
        f"{found.rows:,} rows and {found.entries:,} audit entries of "
        f"{plural(found.owners, 'scope')}, {found.anchored:,} of them anchored"
    )
    off = Text("! Integrity is off: there is no anchor to compare with.", "yellow")
    views: list[RenderableType] = [off] if found.integrity == "off" else []
    if found.is_intact:
        return [done("Nothing was changed behind muniment's back.", looked), *views]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="red", no_wrap=True)
    table.add_column(ratio=1)
    for flaw in found.flaws:
        place = [flaw.table, flaw.item, flaw.tenant_id]
        number = [] if flaw.owner_no is None else [f"owner {flaw.owner_no}"]
        table.add_row(flaw.name.replace("_", " "), " · ".join([*filter(None, place), *number]))
    return [table, Text(f"✗ {plural(len(found.flaws), 'flaw')} in {looked}.", "red"), *views]


@command(app, scope=False, embedder=False)
def anchor(run: Run, yes: Yes = False) -> None:
    """Believe the present state of the store from now on: write a new anchor.

    For a store that was restored from a backup on purpose, or whose anchor was lost.

    Example: muniment audit anchor
    """
    if not yes:
        if run.out.as_json:
            raise InvalidInputError("With --json nobody can be asked; add --yes.")
        typer.confirm("Believe everything that is in the store now?", abort=True)
    with run.memory() as memory:
        memory.anchor()
        integrity = memory.health().store.integrity
    run.out.emit({"integrity": integrity}, done("Anchored.", f"integrity {integrity}"))


@command(keys, name="show", scope=False, embedder=False)
def show_keys(run: Run) -> None:
    """Show what guards the store. Never shows a key.

    Example: muniment keys show
    """
    with run.memory() as memory:
        store = memory.health().store
    place = run.key or f"file:{run.store}.key"
    run.out.emit(
        {"key": place, "sealed": store.sealed, "integrity": store.integrity},
        pairs(
            {
                "key": place,
                "sealed": "yes, with a key for each scope" if store.sealed else "no",
                "integrity": store.integrity,
            }
        ),
    )


@command(keys, scope=False, embedder=False)
def rotate(run: Run, new_key: NewKey = None, reseal: Reseal = False) -> None:
    """Guard a sealed store by another master key. The old one opens it no more.

    May be repeated when it was interrupted.

    Example: muniment keys rotate --new-key env:NEW_KEY --reseal
    """
    with run.memory() as memory:
        count = memory.rotate_keys(new_key, reseal=reseal)
    run.out.emit({"wrapped": count}, done("Rotated.", f"{plural(count, 'data key')} wrapped again"))
