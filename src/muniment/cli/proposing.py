"""`propose`, `candidates`, `candidate`, `conflicts`, `approve`, `reject`: within one scope."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text as TextLine

from muniment.cli import deciding
from muniment.cli.options import Run, command, parse_pairs, parse_value
from muniment.cli.output import DIM, done
from muniment.cli.parameters import (
    CandidateId,
    CandidateIds,
    ContentHash,
    ExpiresAt,
    Field,
    Kind,
    Metadata,
    OverrideTombstone,
    PageLimit,
    Reason,
    SourceId,
    Status,
    Text,
    ValidFrom,
    ValidUntil,
    Value,
    Version,
)
from muniment.cli.review_views import NO_CONFLICT, candidates_table, none_of
from muniment.cli.views import findings_text
from muniment.errors import InvalidInputError
from muniment.records import plain
from muniment.results import CandidateStatus

if TYPE_CHECKING:
    from muniment.cli.deciding import Shown
    from muniment.records import Record
    from muniment.results import Candidate, Written
    from muniment.scoped import ScopedMemory

app = typer.Typer()

Evidence = Annotated[
    list[str] | None,
    typer.Option("--evidence", help="Id of an event that it rests on. May be repeated."),
]
Proposer = Annotated[str, typer.Option(help="Who proposes: an agent or a job of yours.")]
Before = Annotated[int | None, typer.Option(help="The `seq` of the last one of the page before.")]


@dataclass(frozen=True, slots=True)
class _Own:
    """The person concerned decides about the candidates of one scope."""

    me: ScopedMemory

    def candidate(self, candidate_id: str) -> Candidate:
        return self.me.candidate(candidate_id)

    def replaced(self, candidate: Candidate) -> Record:
        return self.me.get(str(candidate.contested))

    def approve(self, shown: Shown, override_tombstone: str | None) -> Written:
        return self.me.approve(
            shown.candidate_id,
            version=shown.version,
            content_hash=shown.content_hash,
            override_tombstone=override_tombstone,
        )

    def reject(self, candidate_id: str, reason: str) -> Candidate:
        return self.me.reject(candidate_id, reason=reason)


@command(app, spaces=True)
def propose(
    run: Run,
    text: Text,
    kind: Kind,
    source_id: SourceId,
    evidence: Evidence = None,
    proposer: Proposer = "agent",
    field: Field = None,
    value: Value = None,
    expires_at: ExpiresAt = None,
    valid_from: ValidFrom = None,
    valid_until: ValidUntil = None,
    metadata: Metadata = None,
) -> None:
    """Propose an inferred statement. Nothing recalls it until somebody approves it.

    With --space it is proposed for that shared space, and only a reviewer can approve it.

    Example: muniment propose "Lives in Oslo." --kind verified_fact --source-id turn-12
    --field city --value Oslo --evidence evt_01…
    """
    if len(run.spaces) > 1:
        raise InvalidInputError("Propose for one space at a time; give --space once.")
    with run.scoped() as me:
        proposed = me.propose(
            text,
            kind=kind,
            source_id=source_id,
            evidence=evidence or [],
            proposer=proposer,
            space=next(iter(me.spaces), None),
            field=field,
            value=None if value is None else parse_value(value),
            expires_at=expires_at,
            valid_from=valid_from,
            valid_until=valid_until,
            metadata=parse_pairs("--metadata", metadata or []),
        )
    run.out.emit(
        proposed.to_dict(), done(_standing(proposed), findings_text(proposed.findings) or "")
    )


def _standing(candidate: Candidate) -> str:
    if candidate.status is CandidateStatus.PENDING:
        return f"Proposed as {candidate.candidate_id}; it waits for review."
    return f"Proposed as {candidate.candidate_id}; it is {candidate.status.value} already."


@command(app, embedder=False)
def candidates(
    run: Run, status: Status = "pending", limit: PageLimit = 50, before: Before = None
) -> None:
    """List this scope's own candidates, newest first.

    Example: muniment candidates --status rejected
    """
    with run.scoped() as me:
        found = me.candidates(status=status, limit=limit, before=before)
    more = [TextLine(f"\nMore: --before {found[-1].seq}", DIM)] if len(found) == limit else []
    run.out.emit({"candidates": plain(found)}, candidates_table(found, none_of(status)), *more)


@command(app, embedder=False)
def candidate(run: Run, candidate_id: CandidateId) -> None:
    """Show one of this scope's own candidates, and what it would replace.

    Example: muniment candidate cnd_01…
    """
    with run.scoped() as me:
        deciding.show(run, _Own(me), candidate_id)


@command(app, embedder=False)
def conflicts(run: Run) -> None:
    """List this scope's pending candidates that contradict an active record.

    Example: muniment conflicts
    """
    with run.scoped() as me:
        found = me.conflicts()
    run.out.emit({"candidates": plain(found)}, candidates_table(found, NO_CONFLICT))


@command(app)
def approve(
    run: Run,
    candidate_ids: CandidateIds,
    version: Version = None,
    content_hash: ContentHash = None,
    override_tombstone: OverrideTombstone = None,
) -> None:
    """Approve candidates in the name of the person concerned, exactly as they were shown.

    Without --version and --content-hash each is shown, and you are asked.

    Example: muniment approve cnd_01…
    """
    with run.scoped() as me:
        deciding.approve_all(
            run, _Own(me), candidate_ids, version, content_hash, override_tombstone
        )


@command(app, embedder=False)
def reject(run: Run, candidate_ids: CandidateIds, reason: Reason) -> None:
    """Reject candidates in the name of the person concerned. Their values stay out.

    Example: muniment reject cnd_01… --reason "never said so"
    """
    with run.scoped() as me:
        deciding.reject_all(run, _Own(me), candidate_ids, reason)
