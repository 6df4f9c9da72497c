"""How a candidate is decided: bound to what was shown, one by one, with a report of all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import typer

from muniment.cli.options import Run
from muniment.cli.output import done, visible
from muniment.cli.review_views import candidate_view, written_view
from muniment.errors import InvalidInputError, MunimentError, NotFoundError
from muniment.records import JSONValue, Record, plain
from muniment.results import Candidate, Written

if TYPE_CHECKING:
    from rich.console import RenderableType


class Bench(Protocol):
    """Where candidates are decided: by the person concerned, or by a reviewer."""

    def candidate(self, candidate_id: str) -> Candidate:
        """Return a candidate."""
        ...

    def replaced(self, candidate: Candidate) -> Record:
        """Return the record that approving a candidate would replace."""
        ...

    def approve(self, shown: Shown, override_tombstone: str | None) -> Written:
        """Approve a candidate as it was shown."""
        ...

    def reject(self, candidate_id: str, reason: str) -> Candidate:
        """Reject a candidate."""
        ...


@dataclass(frozen=True, slots=True)
class Shown:
    """A candidate as somebody saw it.

    Attributes:
        candidate_id: The candidate.
        version: Its version then.
        content_hash: Its content hash then.
    """

    candidate_id: str
    version: int
    content_hash: str


def show(run: Run, bench: Bench, candidate_id: str) -> Candidate:
    """Print a candidate with the record it would replace, and return it."""
    candidate = bench.candidate(candidate_id)
    replaced = standing(bench, candidate)
    run.out.emit(
        {"candidate": candidate.to_dict(), "replaces": plain(replaced)},
        candidate_view(candidate, replaced),
    )
    return candidate


def standing(bench: Bench, candidate: Candidate) -> Record | None:
    """Return the record that approving a candidate would replace; None if it is gone."""
    if candidate.contested is not None:
        with suppress(NotFoundError):
            return bench.replaced(candidate)
    return None


def approve_all(
    run: Run,
    bench: Bench,
    ids: Sequence[str],
    versions: Sequence[int] | None,
    hashes: Sequence[str] | None,
    override_tombstone: str | None,
) -> None:
    """Approve candidates as they were shown, or after showing each and asking.

    Raises:
        InvalidInputError: Nobody can be asked and it is not said what was shown.
        Abort: There is one candidate, and the answer was no.
    """
    if versions or hashes:
        chosen = _named(ids, versions or [], hashes or [])
    elif run.out.as_json:
        raise InvalidInputError(
            "With --json nobody can be asked; pass --version and --content-hash as they were shown."
        )
    else:
        chosen = [seen for one in ids if (seen := _asked(run, bench, one, alone=len(ids) == 1))]
    _decide(
        run,
        [one.candidate_id for one in chosen],
        lambda at: bench.approve(chosen[at], override_tombstone),
        alone=len(ids) == 1,
    )


def _named(ids: Sequence[str], versions: Sequence[int], hashes: Sequence[str]) -> list[Shown]:
    if not len(ids) == len(versions) == len(hashes):
        raise InvalidInputError(
            "Give --version and --content-hash once for each candidate, in the order of the ids."
        )
    return [Shown(*one) for one in zip(ids, versions, hashes, strict=True)]


def _asked(run: Run, bench: Bench, candidate_id: str, *, alone: bool) -> Shown | None:
    candidate = show(run, bench, candidate_id)
    if not typer.confirm("Approve exactly this?", abort=alone):
        return None
    return Shown(candidate_id, candidate.version, candidate.content_hash)


def reject_all(run: Run, bench: Bench, ids: Sequence[str], reason: str) -> None:
    """Reject candidates for one reason."""
    _decide(run, ids, lambda at: bench.reject(ids[at], reason), alone=len(ids) == 1)


def _decide(
    run: Run, ids: Sequence[str], decide: Callable[[int], Written | Candidate], *, alone: bool
) -> None:
    """Decide each candidate and report all; the error of a single one is the command's error."""
    decided: list[JSONValue] = []
    failed: list[JSONValue] = []
    for at, candidate_id in enumerate(ids):
        try:
            result = decide(at)
        except MunimentError as error:
            if alone:
                raise
            failed.append({"candidate_id": candidate_id, "code": error.code, "message": str(error)})
            run.out.show(f"✗ {visible(candidate_id)}: {visible(str(error))}")
        else:
            decided.append({**result.to_dict(), "candidate_id": candidate_id})
            run.out.show(_result(candidate_id, result))
    run.out.emit({"decided": decided, "failed": failed})
    if failed:
        raise typer.Exit(1)


def _result(candidate_id: str, result: Written | Candidate) -> RenderableType:
    if isinstance(result, Written):
        return written_view(result, f"Approved {candidate_id}")
    return done(f"Rejected {candidate_id}.", "Its value stays out from now on.")
