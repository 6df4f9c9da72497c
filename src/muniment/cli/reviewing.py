"""`review`: a reviewer decides about the candidates of every scope and space of a tenant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from muniment.cli import deciding
from muniment.cli.forgetting import confirm_record
from muniment.cli.options import Run, command, parse_changes, parse_space
from muniment.cli.output import done
from muniment.cli.parameters import (
    CandidateId,
    CandidateIds,
    ContentHash,
    ExpiresAt,
    MemoryId,
    Metadata,
    NewText,
    OverrideTombstone,
    PageLimit,
    Reason,
    Status,
    ValidFrom,
    ValidUntil,
    Value,
    Version,
    Wait,
    Yes,
)
from muniment.cli.review_views import NO_CONFLICT, candidates_table, none_of, written_view
from muniment.cli.views import receipt_view
from muniment.errors import ScopeError
from muniment.records import plain
from muniment.scope import Scope

if TYPE_CHECKING:
    from muniment.cli.deciding import Shown
    from muniment.records import Record
    from muniment.results import Candidate, Written
    from muniment.scope import Owner
    from muniment.scoped import ReviewDesk

app = typer.Typer(no_args_is_help=True)

OfUser = Annotated[
    str | None, typer.Option("--user", help="Only one scope: its user. Needs --agent.")
]
OfAgent = Annotated[
    str | None, typer.Option("--agent", help="Only one scope: its agent. Needs --user.")
]
OfSpace = Annotated[
    str | None,
    typer.Option("--space", metavar="TYPE/ID", help="Only one space, such as project/apollo."),
]
RevisedText = Annotated[str, typer.Option("--text", help="The statement as it should be.")]


@dataclass(frozen=True, slots=True)
class _Desk:
    """A reviewer decides, and names a candidate by its id alone."""

    desk: ReviewDesk

    def candidate(self, candidate_id: str) -> Candidate:
        return self.desk.find(candidate_id)

    def replaced(self, candidate: Candidate) -> Record:
        return self.desk.record(candidate.scope, str(candidate.contested))

    def approve(self, shown: Shown, override_tombstone: str | None) -> Written:
        return self.desk.approve(
            self.desk.find(shown.candidate_id).scope,
            shown.candidate_id,
            version=shown.version,
            content_hash=shown.content_hash,
            override_tombstone=override_tombstone,
        )

    def reject(self, candidate_id: str, reason: str) -> Candidate:
        return self.desk.reject(self.desk.find(candidate_id).scope, candidate_id, reason=reason)


def _owner(run: Run, user: str | None, agent: str | None, space: str | None) -> Owner | None:
    """Return the one scope or space that was named, or None when none was.

    Raises:
        ScopeError: It is named by half, or twice.
    """
    (tenant,) = run.given("tenant")
    if space is not None and user is None and agent is None:
        return parse_space(tenant, space)
    if user is not None and agent is not None and space is None:
        return Scope(tenant, user, agent)
    if user is None and agent is None and space is None:
        return None
    raise ScopeError("Name one scope with --user and --agent, or one space with --space.")


@command(app, name="list", reviewer=True, embedder=False)
def list_candidates(
    run: Run,
    status: Status = "pending",
    limit: PageLimit = 50,
    user: OfUser = None,
    agent: OfAgent = None,
    space: OfSpace = None,
) -> None:
    """List the candidates of every scope and space of the tenant.

    Example: muniment review list --tenant acme --principal dana
    """
    with run.reviewing() as desk:
        owner = _owner(run, user, agent, space)
        found = desk.candidates(status=status, limit=limit, owner=owner)
    run.out.emit({"candidates": plain(found)}, candidates_table(found, none_of(status)))


@command(app, reviewer=True, embedder=False)
def conflicts(run: Run) -> None:
    """List the pending candidates that contradict an active record.

    Example: muniment review conflicts
    """
    with run.reviewing() as desk:
        found = desk.conflicts()
    run.out.emit({"candidates": plain(found)}, candidates_table(found, NO_CONFLICT))


@command(app, reviewer=True, embedder=False)
def show(run: Run, candidate_id: CandidateId) -> None:
    """Show a candidate, what speaks against it, and word by word what it would replace.

    Hidden characters are shown as escapes.

    Example: muniment review show cnd_01…
    """
    with run.reviewing() as desk:
        deciding.show(run, _Desk(desk), candidate_id)


@command(app, reviewer=True)
def approve(
    run: Run,
    candidate_ids: CandidateIds,
    version: Version = None,
    content_hash: ContentHash = None,
    override_tombstone: OverrideTombstone = None,
) -> None:
    """Approve candidates exactly as they were shown.

    Without --version and --content-hash each is shown, and you are asked. Where a candidate
    contradicts an active record, approving it replaces that one.

    Example: muniment review approve cnd_01… --version 1 --content-hash 5f…
    """
    with run.reviewing() as desk:
        deciding.approve_all(
            run, _Desk(desk), candidate_ids, version, content_hash, override_tombstone
        )


@command(app, reviewer=True, embedder=False)
def reject(run: Run, candidate_ids: CandidateIds, reason: Reason) -> None:
    """Reject candidates. Their values stay out from now on.

    Example: muniment review reject cnd_01… cnd_02… --reason "not what was said"
    """
    with run.reviewing() as desk:
        deciding.reject_all(run, _Desk(desk), candidate_ids, reason)


@command(app, reviewer=True)
def revise(run: Run, candidate_id: CandidateId, text: RevisedText) -> None:
    """Change the text of a pending candidate. What was shown before can not be approved now.

    Example: muniment review revise cnd_01… --text "Lives in Oslo since May."
    """
    with run.reviewing() as desk:
        revised = desk.revise(desk.find(candidate_id).scope, candidate_id, text=text)
    run.out.emit(
        revised.to_dict(),
        done(f"Revised {revised.candidate_id}.", f"it is version {revised.version} now"),
    )


@command(app, reviewer=True)
def correct(
    run: Run,
    memory_id: MemoryId,
    user: OfUser = None,
    agent: OfAgent = None,
    space: OfSpace = None,
    text: NewText = None,
    value: Value = None,
    expires_at: ExpiresAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    metadata: Metadata = None,
) -> None:
    """Replace a record of a scope or space by a corrected one.

    The old value stays out from now on. What you do not name stays as it is.

    Example: muniment review correct mem_01… --space project/apollo --text "Ship on Fridays."
    """
    owner = _owner(run, user, agent, space)
    if owner is None:
        raise ScopeError("Say whose record it is: --user and --agent, or --space.")
    changes = parse_changes(
        text=text,
        value=value,
        expires_at=expires_at,
        valid_from=valid_from,
        valid_until=valid_until,
        metadata=metadata,
    )
    with run.reviewing() as desk:
        written = desk.correct(owner, memory_id, **changes)
    run.out.emit(written.to_dict(), written_view(written, "Corrected"))


@command(app, reviewer=True, embedder=False)
def forget(
    run: Run,
    memory_id: MemoryId,
    user: OfUser = None,
    agent: OfAgent = None,
    space: OfSpace = None,
    wait: Wait = False,
    yes: Yes = False,
) -> None:
    """Delete a record of a scope or space and print the receipt.

    Example: muniment review forget mem_01… --space project/apollo
    """
    owner = _owner(run, user, agent, space)
    if owner is None:
        raise ScopeError("Say whose record it is: --user and --agent, or --space.")
    with run.reviewing() as desk:
        if not yes:
            confirm_record(run, desk.record(owner, memory_id))
        receipt = desk.forget(owner, memory_id, wait=wait)
    run.out.emit(receipt.to_dict(), receipt_view(receipt))
