"""What stands before a statement: its earlier write, a tombstone, the record of the same field."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muniment.clock import Clock
from muniment.errors import ConflictError, TombstonedError
from muniment.keys import digest
from muniment.ports import NewTombstone, OwnerState, Snapshot, Store, Transaction
from muniment.records import (
    Authority,
    EmbeddingState,
    Record,
    Statement,
    Status,
    WritePath,
    canonical_json,
)
from muniment.results import Finding, Outcome, Written
from muniment.rules.fingerprints import fingerprints
from muniment.rules.precedence import Claim, Decision, decide
from muniment.rules.statement import Checked, statement_of
from muniment.rules.tombstones import Burial, admits
from muniment.services.fence import refuse_late

if TYPE_CHECKING:
    from muniment.scope import Owner


SAME_AS_ACTIVE = "same_as_active"


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, through which door, with which rank. Set by the facade, never by a payload.

    Attributes:
        actor: The name in the record and the audit entry.
        path: The door.
        authority: The rank of what comes through it.
        approved_by: Who approved it in a review, or None.
        evidence: Ids of the events it rests on.
        override: Why a tombstone may be passed over, or None.
    """

    actor: str
    path: WritePath
    authority: Authority
    approved_by: str | None = None
    evidence: tuple[str, ...] = ()
    override: str | None = None


class Admitted(NamedTuple):
    """A statement that screening and the policy let through.

    Attributes:
        statement: What the caller gave.
        checked: The same, validated.
        findings: What screening saw and did not refuse.
    """

    statement: Statement
    checked: Checked
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """The record that holds a field, as precedence sees it.

    Attributes:
        record: The record.
    """

    record: Record

    @property
    def memory_id(self) -> str:
        """Its id."""
        return self.record.memory_id

    @property
    def in_force(self) -> bool:
        """Whether it has not expired; what has expired defends nothing."""
        return self.record.status is Status.ACTIVE

    @property
    def claim(self) -> Claim:
        """What it says, and with which rank."""
        record = self.record
        said = record.text if record.value is None else record.value
        return Claim(record.authority, record.actor, said)

    @property
    def statement(self) -> Statement:
        """The statement that would write it."""
        return statement_of(self.record)

    def says(self, checked: Checked) -> bool:
        """Return whether it says the same as another statement about its field."""
        return claim_value(self.statement) == claim_value(checked)

    def meets(self, incoming: Claim) -> Decision:
        """Return what an incoming statement does to it."""
        return decide(self.claim, incoming) if self.in_force else Decision.SUPERSEDE

    def kept(self) -> Written:
        """Return the result of a write that says nothing new."""
        record = self.record
        return Written(record.memory_id, Outcome.REPEATED, record.status, None, record.embedding)


def claim_of(checked: Checked, author: Author) -> Claim:
    """Return an incoming statement as precedence sees it."""
    said = checked.text if checked.value is None else checked.value
    return Claim(author.authority, author.actor, said)


def claim_value(said: Statement | Checked) -> str:
    """Return what a statement claims about its field, so that equal claims are equal texts."""
    return canonical_json(said.text if said.value is None else said.value)


def about(name: str, memory_id: str | None) -> Finding:
    """Return a finding that is about a record and not about a place in the text."""
    return Finding(name, 0, 0, refuses=False, memory_id=memory_id)


def contested_write(memory_id: str | None, candidate_id: str) -> Written:
    """Return the result of a write that waits for review."""
    return Written(
        memory_id=memory_id or "",
        outcome=Outcome.CONTESTED,
        status=Status.ACTIVE,
        superseded=None,
        embedding=EmbeddingState.NONE,
        candidate_id=candidate_id,
    )


class Past:
    """Looks up what an owner already holds about a statement, and marks what may not come back."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self.store = store
        self.clock = clock

    def is_new(self, view: Snapshot, state: OwnerState, checked: Checked) -> bool:
        """Return whether nothing that the owner holds or held can stand before a statement."""
        source = self.source_digest(state.owner, checked.source_id)
        values = self.value_digests(state.owner, checked)
        return not view.has_precedent(state, checked.source_id, source, values)

    def known(self, view: Snapshot, state: OwnerState, admitted: Admitted) -> Written | None:
        """Return the earlier result of the same statement, or None when it is new.

        Raises:
            ConflictError: The source_id identifies a different statement.
        """
        filed = view.filed(state, admitted.checked.source_id, self.clock.now())
        if filed is not None and self.is_payload(state, admitted, filed.payload_digest):
            return Written(filed.memory_id, Outcome.REPEATED, filed.status, None, filed.embedding)
        proposed = view.proposed(state, admitted.checked.source_id)
        if proposed is not None and self.is_payload(state, admitted, proposed.payload_digest):
            candidate = view.candidate(state, proposed.candidate_id)
            if candidate is not None and candidate.path is not WritePath.PROPOSE:
                became = view.record(state, candidate.memory_id or "", self.clock.now())
                if became is not None:
                    return Standing(became).kept()
                return contested_write(candidate.contested, candidate.candidate_id)
        if filed is not None or proposed is not None:
            self.check_new(view, state, admitted)
        return None

    def is_payload(self, state: OwnerState, admitted: Admitted, stored: bytes) -> bool:
        """Return whether a stored payload digest is that of a statement."""
        return stored == self.payload_digest(state.owner, admitted.checked)

    def check_new(self, view: Snapshot, state: OwnerState, admitted: Admitted) -> None:
        """Refuse a source_id that a record or candidate already has.

        Raises:
            ConflictError: It has one.
        """
        filed = view.filed(state, admitted.checked.source_id, self.clock.now())
        proposed = view.proposed(state, admitted.checked.source_id)
        if filed is not None or proposed is not None:
            raise ConflictError(
                "source_id already identifies a different statement in this scope; "
                "use a new source_id for a new statement.",
                **({"memory_id": filed.memory_id} if filed is not None else {}),
            )

    def check_tombstones(
        self, view: Snapshot, state: OwnerState, checked: Checked, author: Author
    ) -> None:
        """Refuse what was forgotten, rejected or retracted.

        Raises:
            TombstonedError: A tombstone stands against this write path.
        """
        refuse_late(
            view,
            state,
            self.store.keys,
            source_id=checked.source_id,
            path=author.path,
            evidence=author.evidence,
        )
        source = self.source_digest(state.owner, checked.source_id)
        reason = view.buried_source(state, source)
        if reason is not None:
            raise TombstonedError(
                f"The statement with this source_id was {reason}. If the person states it again, "
                "remember it under a new source_id."
            )
        self.check_values(view, state, checked, author)

    def check_values(
        self, view: Snapshot, state: OwnerState, checked: Checked, author: Author
    ) -> None:
        """Refuse what says the same as something forgotten, rejected or retracted.

        Raises:
            TombstonedError: A tombstone stands against this write path.
        """
        values = self.value_digests(state.owner, checked)
        for buried in sorted({one for value in values for one in view.buried_value(state, value)}):
            if not admits(Burial(buried), author.path, author.override):
                raise TombstonedError(
                    f"The same value was {buried} here. A person may bring it back with a fresh "
                    "source_id and, where it was rejected or corrected, override_tombstone."
                )

    def standing(self, view: Snapshot, state: OwnerState, checked: Checked) -> Standing | None:
        """Return the active record about the same field, or None."""
        return self.holder(view, state, checked.rule.name, checked.field_key)

    def holder(
        self, view: Snapshot, state: OwnerState, kind: str, key: str | None
    ) -> Standing | None:
        """Return the active record of a kind under a field's key, or None."""
        if key is None:
            return None
        active = view.active_field(state, kind, key, self.clock.now())
        return None if active is None else Standing(active)

    def bury(
        self,
        tx: Transaction,
        state: OwnerState,
        statement: Statement,
        buried_id: str,
        burial: Burial,
        sparing: Statement | Checked | None = None,
    ) -> None:
        """Leave a tombstone for what a stored statement says and for its source_id.

        Args:
            tx: The transaction.
            state: Whose it is.
            statement: What it says.
            buried_id: Its id.
            burial: Why it is buried.
            sparing: The statement that stands; what the two share is not buried.
        """
        prints = _prints(statement)
        if sparing is not None:
            shared = {kind for kind, *_ in set(prints) & set(_prints(sparing))}
            prints = tuple(one for one in prints if one[0] not in shared)
        key = self.store.keys.tombstone(state.owner)
        said = self._digests(state.owner, prints) or (digest(key, "nothing", buried_id),)
        for value_digest in said:
            tx.bury(
                state,
                NewTombstone(
                    memory_id=buried_id,
                    source_digest=self.source_digest(state.owner, statement.source_id),
                    value_digest=value_digest,
                    reason=burial.value,
                    created_at=self.clock.now(),
                ),
            )

    def payload_digest(self, owner: Owner, checked: Checked) -> bytes:
        """Return the keyed digest by which a retry of the same statement is known."""
        return digest(self.store.keys.tombstone(owner), "payload", checked.payload)

    def source_digest(self, owner: Owner, source_id: str) -> bytes:
        """Return the keyed digest by which a tombstone knows a source_id."""
        return digest(self.store.keys.tombstone(owner), "source", source_id)

    def value_digests(self, owner: Owner, said: Statement | Checked) -> tuple[bytes, ...]:
        """Return the keyed digests by which a tombstone knows what was said."""
        return self._digests(owner, _prints(said))

    def _digests(self, owner: Owner, prints: Iterable[tuple[str, ...]]) -> tuple[bytes, ...]:
        key = self.store.keys.tombstone(owner)
        return tuple(digest(key, "value", *one) for one in prints)


def _prints(said: Statement | Checked) -> tuple[tuple[str, ...], ...]:
    return fingerprints(said.field, said.value, said.text)
