"""What `import --from` does: exports, and what other systems keep."""

from __future__ import annotations

import io
import json
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer
from rich.text import Text

from muniment.cli.options import Run
from muniment.cli.output import done, visible
from muniment.cli.views import plural
from muniment.errors import BatchError, InvalidInputError

if TYPE_CHECKING:
    from muniment.scoped import Progress
    from muniment.transfers import ImportReport, SkippedLine

EXPORT = "export"
LONGEST_HEAD = 1_000_000
"""Bytes of the first line that are looked at, to see what a file is."""

REASONS = {
    "known": "known (it is here already; nothing to do)",
    "duplicate": "duplicate (the file says it twice)",
    "inactive": "inactive (no longer in force where it comes from)",
}
"""What a reason for leaving out an item means, where the word alone does not say it."""

_WITH_FROM = "Only with --from: "
ByOperator = Annotated[
    bool,
    typer.Option(
        "--approved-by-operator",
        help=f"{_WITH_FROM}you approve what was only inferred, so that it needs no review.",
    ),
]
Rescope = Annotated[
    bool,
    typer.Option(
        "--rescope", help="Only with --from export: it is another scope's; take it in here."
    ),
]
DefaultKind = Annotated[
    str | None,
    typer.Option("--kind", help=f"{_WITH_FROM}the kind of items that name none."),
]
OldUser = Annotated[
    str | None,
    typer.Option(help=f"{_WITH_FROM}the user's id in the other system, when it differs."),
]
Namespace = Annotated[
    list[str] | None,
    typer.Option(
        "--namespace",
        help="Only with --from langgraph: where this scope's namespace begins, part by part.",
    ),
]
AssumeUTC = Annotated[
    bool, typer.Option("--assume-utc", help=f"{_WITH_FROM}times without an offset are UTC.")
]
AllUsers = Annotated[
    bool,
    typer.Option(
        "--all-users", help=f"{_WITH_FROM}of every user of the tenant; --user is not used."
    ),
]


@dataclass(frozen=True, slots=True)
class Wishes:
    """How an import is done.

    Attributes:
        origin: What the file is, or None for statements.
        skip_errors: Whether to leave out what cannot be taken in.
        approved_by_operator: Whether what was only inferred needs no review.
        rescope: Whether another scope's export may go to this one.
        kind: The kind of items that name none, or None.
        old_user: The user's id in the other system, or None.
        namespace: Where this scope's namespace begins.
        assume_utc: Whether times without an offset are UTC.
        all_agents: Whether an export of every agent of the user is taken in.
        all_users: Whether what belongs to every user of the tenant is taken in.
    """

    origin: str | None
    skip_errors: bool
    approved_by_operator: bool
    rescope: bool
    kind: str | None
    old_user: str | None
    namespace: tuple[str, ...]
    assume_utc: bool
    all_agents: bool
    all_users: bool

    @property
    def mode(self) -> str:
        """What happens with a line that cannot be taken in."""
        return "skip" if self.skip_errors else "all_or_nothing"

    @property
    def trust(self) -> str:
        """Who vouches for what an export says was only inferred."""
        return "operator" if self.approved_by_operator else "reviewed"

    def check(self) -> None:
        """Refuse an option that this import would not follow.

        Raises:
            InvalidInputError: One was given.
        """
        foreign = ("kind", "old_user", "namespace", "assume_utc", "all_users")
        if self.origin is None:
            unused = ("approved_by_operator", "rescope", "all_agents", *foreign)
        elif self.origin == EXPORT:
            unused = (*foreign, *(("rescope",) if self.all_agents else ()))
        else:
            one_scope = ("old_user", "namespace") if self.all_users else ()
            unused = ("rescope", "all_agents", *one_scope)
        for name in unused:
            if getattr(self, name):
                option = name.replace("_", "-")
                raise InvalidInputError(f"--{option} does not go with this import; leave it out.")


def is_export(file: str) -> bool:
    """Return whether a file begins as an export of muniment does."""
    from muniment.services.exchange.lines import FORMAT

    try:
        with Path(file).open("rb") as opened:
            head = json.loads(opened.readline(LONGEST_HEAD))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(head, dict) and head.get("format") == FORMAT


def migrate(run: Run, file: str, wishes: Wishes) -> None:
    """Take in a file and print the report.

    Raises:
        InvalidInputError: There is no such file.
    """
    with run.out.progress("Embedding") as progress:
        try:
            report = _taken(run, _source(file), wishes, progress)
        except BatchError as error:
            raise BatchError(
                f"{plural(len(error.items), 'item')} cannot be taken in, so nothing was imported; "
                "mend the file or pass --skip-errors.",
                error.items,
            ) from None
    if not run.out.as_json:
        run.out.note(
            *(f"line {one.line}: {one.reason.replace('_', ' ')}" for one in report.skipped)
        )
    counts = [f"{report.saved:,} saved"]
    counts += [f"{report.candidates:,} of them wait for review"] if report.candidates else []
    left_out = Counter(map(_reason, report.skipped))
    counts += [f"{count:,} left out: {reason}" for reason, count in left_out.items()]
    run.out.emit(
        report.to_dict(),
        done(f"Read {plural(report.read, 'item')}.", ", ".join(counts)),
        *(Text(visible(note), "yellow") for note in report.notes),
    )


def _reason(skipped: SkippedLine) -> str:
    return REASONS.get(skipped.reason, skipped.reason.replace("_", " "))


def _source(file: str) -> Path | TextIO:
    if file == "-":
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(encoding="utf-8")
        return sys.stdin
    if not Path(file).is_file():
        raise InvalidInputError(f"There is no file {file}.")
    return Path(file)


def _taken(run: Run, source: Path | TextIO, wishes: Wishes, progress: Progress) -> ImportReport:
    assert wishes.origin is not None
    if wishes.all_agents or wishes.all_users:
        return _taken_whole(run, source, wishes, progress)
    with run.scoped() as me:
        if wishes.origin == EXPORT:
            return me.import_export(
                source,
                mode=wishes.mode,
                trust=wishes.trust,
                rescope=wishes.rescope,
                progress=progress,
            )
        return me.import_from(
            wishes.origin,
            source,
            mode=wishes.mode,
            approved_by_operator=wishes.approved_by_operator,
            kind=wishes.kind,
            known_as=wishes.old_user,
            namespace=wishes.namespace,
            assume_utc=wishes.assume_utc,
            progress=progress,
        )


def _taken_whole(
    run: Run, source: Path | TextIO, wishes: Wishes, progress: Progress
) -> ImportReport:
    assert wishes.origin is not None
    if wishes.all_agents:
        tenant, user = run.given("tenant", "user")
        with run.memory() as memory:
            return memory.import_user(
                source,
                tenant_id=tenant,
                user_id=user,
                mode=wishes.mode,
                trust=wishes.trust,
                progress=progress,
            )
    (tenant,) = run.given("tenant")
    with run.memory() as memory:
        return memory.import_from(
            wishes.origin,
            source,
            tenant_id=tenant,
            agent_id=run.agent,
            mode=wishes.mode,
            approved_by_operator=wishes.approved_by_operator,
            kind=wishes.kind,
            assume_utc=wishes.assume_utc,
            progress=progress,
        )
