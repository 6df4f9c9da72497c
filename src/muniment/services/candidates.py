"""Looking at candidates: one, a list, the open conflicts, as far as the reader is shown them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muniment.errors import InvalidInputError, NotFoundError
from muniment.ports import OwnerState, Snapshot
from muniment.records import Record, Status
from muniment.results import Candidate, CandidateStatus
from muniment.rules.limits import check_choice, check_limit

if TYPE_CHECKING:
    from muniment.rules.kinds import Reader
    from muniment.scope import Owner
    from muniment.services.gate import Gate

LONGEST_LIST = 1000
_NEWEST = 2**63 - 1
_NOT_FOUND = "No candidate with this id in this scope."


class Candidates:
    """Reads of the candidates of one owner."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def show(self, owner: Owner, candidate_id: str, reader: Reader | None = None) -> Candidate:
        """Return one candidate.

        Args:
            owner: Whose it is.
            candidate_id: The candidate.
            reader: Who will see it; None for a decision that shows nothing.

        Raises:
            NotFoundError: The owner has no such candidate, or its kind is not shown to the reader.
        """
        with self._gate.store.snapshot((owner,)) as view:
            view.next_is_last()
            candidate = found(view, view.owner(owner), candidate_id)
        if reader is not None and self._kind(candidate) in self._gate.policy.withheld(reader):
            raise NotFoundError(_NOT_FOUND)
        return candidate

    def list(
        self, owner: Owner, status: str, limit: int, before: int | None, reader: Reader
    ) -> tuple[Candidate, ...]:
        """Return candidates of an owner with one status, newest first.

        Raises:
            InvalidInputError: The status is unknown or the limit out of range.
        """
        wanted = CandidateStatus(check_choice("status", status, tuple(CandidateStatus)))
        check_limit(limit, LONGEST_LIST)
        if before is not None and (type(before) is not int or not 0 < before <= _NEWEST):
            raise InvalidInputError("before must be the seq of a candidate.")
        withheld = self._gate.policy.withheld(reader)
        shown: list[Candidate] = []
        with self._gate.store.snapshot() as view:
            state = view.owner(owner)
            for one in _newest(view, state, wanted, before or _NEWEST, limit):
                if len(shown) == limit:
                    break
                if self._kind(one) not in withheld:
                    shown.append(one)
        return tuple(shown)

    def conflicts(self, owner: Owner, reader: Reader) -> tuple[Candidate, ...]:
        """Return the pending candidates of an owner that contradict an active record."""
        now = self._gate.clock.now()
        withheld = self._gate.policy.withheld(reader)
        with self._gate.store.snapshot() as view:
            state = view.owner(owner)
            if state is None:
                return ()
            return tuple(
                candidate
                for candidate in view.conflicts(state)
                if self._kind(candidate) not in withheld
                and _is_active(view.record(state, candidate.contested or "", now))
            )

    def owners(self, tenant_id: str) -> tuple[Owner, ...]:
        """Return every scope and space of a tenant that was ever written to."""
        with self._gate.store.snapshot() as view:
            return tuple(
                state.owner for state in view.owners() if state.owner.tenant_id == tenant_id
            )

    def _kind(self, candidate: Candidate) -> str:
        kind = candidate.statement.kind
        return self._gate.policy.aliases.get(kind, kind)


def found(view: Snapshot, state: OwnerState | None, candidate_id: str) -> Candidate:
    """Return a candidate of the owner, whatever its status.

    Raises:
        InvalidInputError: The id is not a string.
        NotFoundError: There is none.
    """
    if not isinstance(candidate_id, str):
        raise InvalidInputError("candidate_id must be a string.")
    known = state is not None and candidate_id.isascii()
    candidate = view.candidate(state, candidate_id) if state is not None and known else None
    if candidate is None:
        raise NotFoundError(_NOT_FOUND)
    return candidate


def _newest(
    view: Snapshot, state: OwnerState | None, status: CandidateStatus, before: int, limit: int
) -> Iterator[Candidate]:
    while state is not None:
        page = view.candidates(state, status, before, limit)
        yield from page
        if len(page) < limit:
            return
        before = page[-1].seq


def _is_active(record: Record | None) -> bool:
    return record is not None and record.status is Status.ACTIVE
