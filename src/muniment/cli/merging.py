"""Less of the same and of the unused: `maintain deduplicate`, `maintain clean-up`, `unmerge`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.text import Text

from muniment.cli.forgetting import RecordId
from muniment.cli.options import Run, command
from muniment.cli.output import DIM, done, visible
from muniment.cli.upkeep import maintain
from muniment.cli.views import plural, record_view

if TYPE_CHECKING:
    from rich.console import RenderableType

    from muniment.upkeep import Deduplication

app = typer.Typer()

Supersede = Annotated[
    bool, typer.Option("--supersede", help="Merge at once instead of asking the reviewer.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only report; change nothing.")]


@command(maintain, scope=False)
def deduplicate(run: Run, supersede: Supersede = False, dry_run: DryRun = False) -> None:
    """Find records that only repeat another one of their scope.

    Each is proposed to the reviewer, or with --supersede put behind the one that was shown more
    often, in its history. Nothing is deleted, and `unmerge` undoes it.

    Example: muniment maintain deduplicate --dry-run
    """
    with run.memory() as memory:
        found = memory.deduplicate(supersede=supersede, dry_run=dry_run)
    counts = [
        f"{plural(len(found.duplicates), 'duplicate')} of {plural(found.groups, 'record')}",
        f"{found.proposed:,} proposed",
        f"{found.merged:,} merged",
        f"{found.left:,} left",
    ]
    title = "Looked." if dry_run else "Deduplicated."
    run.out.emit(found.to_dict(), done(title, ", ".join(counts)), _pairs(found))


def _pairs(found: Deduplication) -> RenderableType:
    lines = [
        Text(f"{pair.dropped} repeats {pair.kept} of {visible(_name(pair.owner.to_dict()))}", DIM)
        for pair in found.duplicates
    ]
    return Group(*lines)


def _name(parts: dict[str, str]) -> str:
    return " / ".join(parts.values())


@command(maintain, name="clean-up", scope=False, embedder=False)
def clean_up(run: Run, dry_run: DryRun = False) -> None:
    """Delete old, unused records of kinds whose policy has a clean_up.

    `muniment maintain` does it too. --dry-run says which.

    Example: muniment maintain clean-up --dry-run
    """
    with run.memory() as memory:
        found = memory.clean_up(dry_run=dry_run)
    what = f"{found.examined:,} examined, {len(found.unused):,} unused, {found.deleted:,} deleted"
    names = Group(*(Text(memory_id, DIM) for memory_id in found.unused))
    run.out.emit(found.to_dict(), done("Looked." if dry_run else "Cleaned up.", what), names)


@command(app, embedder=False)
def unmerge(run: Run, memory_id: RecordId) -> None:
    """Make a record active again that deduplication put behind another one.

    Example: muniment unmerge mem_01…
    """
    with run.scoped() as me:
        record = me.unmerge(memory_id)
    run.out.emit(record.to_dict(), done("Unmerged."), record_view(record))
