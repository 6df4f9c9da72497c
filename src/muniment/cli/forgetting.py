"""`forget` and `receipt`: deletion, what it would take, and its evidence."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.text import Text

from muniment.cli.groups import DefaultGroup
from muniment.cli.options import Run, command, parse_filters, parse_space
from muniment.cli.output import DIM, done
from muniment.cli.parameters import Filters, Kinds, PageLimit, Wait, Yes
from muniment.cli.views import receipt_view, receipts_table, record_view, rehearsal_view
from muniment.errors import InvalidInputError, NotFoundError
from muniment.records import plain

if TYPE_CHECKING:
    from muniment.memory import Memory
    from muniment.records import Record
    from muniment.results import Receipt
    from muniment.scoped import ScopedMemory

app = typer.Typer()
receipts = typer.Typer(cls=DefaultGroup)

MemoryId = Annotated[
    str | None, typer.Argument(metavar="ID", help="The record.", show_default=False)
]
RecordId = Annotated[str, typer.Argument(metavar="ID", help="The record.", show_default=False)]
SourceId = Annotated[str | None, typer.Option(help="All that came from exactly this source.")]
SourcePrefix = Annotated[
    str | None, typer.Option(help="All whose source_id begins so, such as with a thread's id.")
]
EventId = Annotated[str | None, typer.Option(help="All that rests on this event or record.")]
Everything = Annotated[bool, typer.Option("--all", help="Everything of the scope.")]
Whole = Annotated[
    str | None,
    typer.Option(
        metavar="WHAT",
        help="Beyond the scope: user (with every agent), agent (of every user), tenant, or a space "
        "written TYPE/ID.",
    ),
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only count what would be deleted.")]
ReceiptId = Annotated[str, typer.Argument(metavar="ID", help="The receipt.", show_default=False)]
OfTenant = Annotated[
    bool, typer.Option("--all", help="Every receipt of the tenant, whatever the scope.")
]
ReceiptFile = Annotated[
    Path, typer.Argument(help="A receipt as --json printed it.", show_default=False)
]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is to be forgotten, and how.

    Attributes:
        what: What it is, in a question.
        name: What must be typed to confirm it, or None when yes is enough.
        forget: Forgets it, or with True only counts.
    """

    what: str
    name: str | None
    forget: Callable[[bool], Receipt]


@command(app, embedder=False)
def forget(
    run: Run,
    memory_id: MemoryId = None,
    kind: Kinds = None,
    filters: Filters = None,
    source_id: SourceId = None,
    source_prefix: SourcePrefix = None,
    event_id: EventId = None,
    everything: Everything = False,
    whole: Whole = None,
    dry_run: DryRun = False,
    wait: Wait = False,
    yes: Yes = False,
) -> None:
    """Delete a record, what meets all conditions, or everything, and print the receipt.

    All that was derived from it goes too. A tombstone without content keeps late work from
    bringing it back. Nothing given never means everything.

    Example: muniment forget mem_01… --wait

    Example: muniment forget --source-prefix thread-7/ --dry-run

    Example: muniment forget --whole user --user user_42
    """
    conditions: dict[str, Any] = {
        "kinds": kind or None,
        "filters": parse_filters(filters or []),
        "source_id": source_id,
        "source_prefix": source_prefix,
        "event_id": event_id,
    }
    conditional = any(value is not None for value in conditions.values())
    if sum((memory_id is not None, conditional, everything, whole is not None)) != 1:
        raise InvalidInputError(
            "Say what to forget: an ID, or conditions such as --source-id, or --all, or --whole."
        )
    if not (yes or dry_run) and run.out.as_json:
        raise InvalidInputError("With --json nobody can be asked; add --yes or --dry-run.")
    if memory_id is not None:
        _forget_one(run, memory_id, dry_run=dry_run, wait=wait, yes=yes)
    elif whole is not None:
        with run.memory() as memory:
            _carry_out(run, _whole(run, memory, whole, wait=wait), dry_run=dry_run, yes=yes)
    else:
        with run.scoped() as me:
            plan = _within(me, conditions if conditional else None, wait=wait)
            _carry_out(run, plan, dry_run=dry_run, yes=yes)


@command(app, embedder=False)
def retract(run: Run, memory_id: RecordId, wait: Wait = False, yes: Yes = False) -> None:
    """Delete a record that was never true; its value stays out from now on.

    Example: muniment retract mem_01… --wait
    """
    with run.scoped() as me:
        if not yes:
            confirm_record(run, me.get(memory_id))
        receipt = me.retract(memory_id, wait=wait)
    run.out.emit(receipt.to_dict(), receipt_view(receipt))


def _within(me: ScopedMemory, conditions: Mapping[str, Any] | None, *, wait: bool) -> _Plan:
    """Return the plan for what meets the conditions, or for everything of a scope."""
    if conditions is None:
        return _Plan(
            "everything of this scope",
            None,
            lambda rehearse: me.forget_all(dry_run=rehearse, wait=wait),
        )
    return _Plan(
        "all of this",
        None,
        lambda rehearse: me.forget_where(**conditions, dry_run=rehearse, wait=wait),
    )


def _forget_one(run: Run, memory_id: str, *, dry_run: bool, wait: bool, yes: bool) -> None:
    with run.scoped() as me:
        if dry_run:
            record = me.get(memory_id)
            run.out.emit({"would_forget": record.to_dict()}, record_view(record))
            return
        if not yes:
            confirm_record(run, me.get(memory_id))
        receipt = me.forget(memory_id, wait=wait)
    run.out.emit(receipt.to_dict(), receipt_view(receipt))


def confirm_record(run: Run, record: Record) -> None:
    """Show a record and ask whether to forget it.

    Raises:
        InvalidInputError: Nobody can be asked.
        Abort: The answer was no.
    """
    if run.out.as_json:
        raise InvalidInputError("With --json nobody can be asked; add --yes.")
    run.out.show(record_view(record))
    typer.confirm("Forget this record for good?", abort=True)


def _whole(run: Run, memory: Memory, what: str, *, wait: bool) -> _Plan:
    """Return the plan for everything of a user, an agent, a tenant or a space.

    Raises:
        InvalidInputError: It is none of these.
        ScopeError: A part of the scope that it needs was not given.
    """
    (tenant,) = run.given("tenant")
    if what == "tenant":
        return _Plan(
            "everything of this tenant",
            tenant,
            lambda rehearse: memory.forget_tenant(tenant_id=tenant, dry_run=rehearse, wait=wait),
        )
    if what == "user":
        (user,) = run.given("user")
        return _Plan(
            "everything of this user",
            user,
            lambda rehearse: memory.forget_user(
                tenant_id=tenant, user_id=user, dry_run=rehearse, wait=wait
            ),
        )
    if what == "agent":
        (agent,) = run.given("agent")
        return _Plan(
            "everything that this agent remembers, of every user",
            agent,
            lambda rehearse: memory.forget_agent(
                tenant_id=tenant, agent_id=agent, dry_run=rehearse, wait=wait
            ),
        )
    if "/" not in what:
        raise InvalidInputError("--whole must be user, agent, tenant, or a space as TYPE/ID.")
    space = parse_space(tenant, what)
    return _Plan(
        "everything of this space",
        what,
        lambda rehearse: memory.forget_space(space, dry_run=rehearse, wait=wait),
    )


def _carry_out(run: Run, plan: _Plan, *, dry_run: bool, yes: bool) -> None:
    if dry_run or not yes:
        rehearsed = plan.forget(True)
        run.out.show(rehearsal_view(rehearsed))
        if dry_run:
            run.out.emit(rehearsed.to_dict())
            return
        _confirm(plan)
    receipt = plan.forget(False)
    nothing = Text("Nothing was there to forget.", DIM)
    run.out.emit(receipt.to_dict(), receipt_view(receipt) if receipt.receipt_id else nothing)


def _confirm(plan: _Plan) -> None:
    if plan.name is None:
        typer.confirm(f"Forget {plan.what} for good?", abort=True)
    elif typer.prompt(f"Forget {plan.what} for good? Type its id") != plan.name:
        raise typer.Abort


@command(receipts, embedder=False)
def show(run: Run, receipt_id: ReceiptId) -> None:
    """Show a receipt as it stands now. A deletion goes on after `forget` returned.

    Needs the scope that it is about, or the tenant alone when it is about more than one scope.

    Example: muniment receipt show rcp_01…
    """
    receipt = _find(run, receipt_id)
    run.out.emit(receipt.to_dict(), receipt_view(receipt))


def _find(run: Run, receipt_id: str) -> Receipt:
    if run.user is not None and run.agent is not None:
        with run.scoped() as me:
            return me.receipt(receipt_id)
    (tenant,) = run.given("tenant")
    with run.memory() as memory:
        for receipt in memory.receipts(tenant_id=tenant, limit=1000):
            if receipt.receipt_id == receipt_id:
                return receipt
    raise NotFoundError("No receipt with this id among the newest 1,000 of the tenant.")


@command(receipts, name="list", embedder=False)
def list_receipts(run: Run, limit: PageLimit = 100, everything: OfTenant = False) -> None:
    """List the receipts of this scope, newest first.

    Example: muniment receipt list --all
    """
    if everything:
        (tenant,) = run.given("tenant")
        with run.memory() as memory:
            found = memory.receipts(tenant_id=tenant, limit=limit)
    else:
        with run.scoped() as me:
            found = me.receipts(limit=limit)
    nothing = Text("No receipt here.", DIM)
    run.out.emit({"receipts": plain(found)}, receipts_table(found) if found else nothing)


@command(receipts, embedder=False)
def verify(run: Run, file: ReceiptFile) -> None:
    """Check that a receipt says exactly what this store issued. Exits with 1 if it does not.

    Example: muniment receipt verify receipt.json
    """
    (tenant,) = run.given("tenant")
    receipt = _read(file)
    with run.memory() as memory:
        genuine = memory.verify_receipt(receipt, tenant_id=tenant)
    wrong = Text("✗ This store issued no such receipt to this tenant.", "red")
    run.out.emit(
        {"receipt_id": receipt.receipt_id, "genuine": genuine},
        done(f"{receipt.receipt_id} is what this store issued.") if genuine else wrong,
    )
    if not genuine:
        raise typer.Exit(1)


def _read(file: Path) -> Receipt:
    from muniment.services.forgetting.receipts import read

    try:
        return read(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise InvalidInputError(f"{file} is not a receipt as --json printed it.") from None
