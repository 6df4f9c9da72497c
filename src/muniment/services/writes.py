"""Writing records: remember, record an outcome, correct; one or many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from muniment.clock import from_instant, new_id
from muniment.errors import (
    BatchError,
    BatchItem,
    ConflictError,
    InvalidInputError,
    MunimentError,
    NotFoundError,
    RefusedError,
    TombstonedError,
)
from muniment.ports import Transaction, Usage
from muniment.records import Authority, Record, Statement, Status, WritePath
from muniment.results import Batch, Preview, Written
from muniment.rules.precedence import Decision
from muniment.rules.statement import check, statement_of
from muniment.rules.tombstones import Burial
from muniment.services.gate import Gate
from muniment.services.past import Admitted, Author, claim_of
from muniment.services.reads import stored
from muniment.services.vectors import Progress

if TYPE_CHECKING:
    from muniment.scope import Owner

SUBJECT = Author("subject", WritePath.REMEMBER, Authority.EXPLICIT)
APPLICATION = Author("application", WritePath.OUTCOME, Authority.VERIFIED_OUTCOME)
SYSTEM = Author("application", WritePath.OUTCOME, Authority.SYSTEM_OF_RECORD)
OPERATOR = Author("operator", WritePath.IMPORT, Authority.APPROVED_SHARED)
DELEGATE = Author("agent for subject", WritePath.DELEGATE, Authority.DELEGATED)
CORRECTING = Author("subject", WritePath.CORRECT, Authority.EXPLICIT)

_EFFECTS = {
    Decision.SUPERSEDE: "supersedes",
    Decision.KEEP: "repeats",
    Decision.CONFLICT: "contested",
}
_CHANGEABLE = frozenset(
    {"text", "value", "expires_at", "valid_from", "valid_until", "metadata", "source_id"}
)


class Writes:
    """The write paths that lead straight to a record."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate

    def remember(self, owner: Owner, statement: Statement, author: Author) -> Written:
        """Store one statement.

        Raises:
            InvalidInputError: The statement is malformed.
            RefusedError: Screening refused it, or the kind's policy lets no model write it.
            ConflictError: Its source_id belongs to another statement.
            TombstonedError: It was forgotten, rejected or corrected.
            StoreError: The database failed.
        """
        gate = self._gate
        admitted = gate.admit(owner, statement, author)
        if author.path is WritePath.DELEGATE:
            gate.check_access(owner, admitted, author, "write")
        (vector,) = gate.embed(owner, [admitted])
        return gate.write(owner, author, lambda tx: gate.file(tx, owner, admitted, author, vector))

    def refuse(self, owner: Owner, author: Author, reason: str) -> None:
        """Write down that something was refused before it reached the gate.

        Args:
            owner: Whose memory it was to change.
            author: Who asked.
            reason: A code; never what somebody said.
        """
        self._gate.audit_refusal(owner, author, reason)

    def remember_many(
        self,
        owner: Owner,
        statements: Sequence[Statement],
        author: Author,
        *,
        skip: bool,
        progress: Progress | None,
    ) -> Batch:
        """Store several statements in one transaction.

        Args:
            owner: Whose they are.
            statements: What to remember, in order.
            author: Who writes.
            skip: Whether to leave out what is wrong instead of refusing everything.
            progress: Called with how many are embedded and how many there are.

        Raises:
            BatchError: `skip` is false and at least one statement is wrong. Nothing was written.
        """
        wrong: dict[int, MunimentError] = {}
        admitted: dict[int, Admitted] = {}
        for index, statement in enumerate(statements):
            try:
                admitted[index] = self._gate.admit(owner, statement, author)
            except MunimentError as error:
                wrong[index] = error
        if wrong and not skip:
            raise _batch_error(wrong)
        found = self._gate.embed(owner, list(admitted.values()), progress)
        vectors = dict(zip(admitted, found, strict=True))
        batch = self._gate.write(
            owner,
            author,
            lambda tx: self._file_many(tx, owner, admitted, author, vectors, wrong, skip=skip),
        )
        self._gate.audit_skipped(owner, author, batch.skipped)
        return batch

    def _file_many(
        self,
        tx: Transaction,
        owner: Owner,
        admitted: Mapping[int, Admitted],
        author: Author,
        vectors: Mapping[int, bytes | None],
        wrong: Mapping[int, MunimentError],
        *,
        skip: bool,
    ) -> Batch:
        failed = dict(wrong)
        written: dict[int, Written] = {}
        for index, one in admitted.items():
            try:
                written[index] = self._gate.file(tx, owner, one, author, vectors[index])
            except (ConflictError, TombstonedError) as error:
                failed[index] = error
        if failed and not skip:
            raise _batch_error(failed)
        return Batch(tuple(written.values()), _items(failed))

    def correct(
        self, owner: Owner, memory_id: str, changes: Mapping[str, Any], author: Author
    ) -> Written:
        """Replace an active record by a corrected one and bury the old value.

        Kind, field, metadata, validity and expiry stay unless they are among the changes, and so
        does what it follows.

        Raises:
            NotFoundError: The owner has no such active record.
            InvalidInputError: A change is malformed, or nothing changes.
            RefusedError: Screening refused it.
            TombstonedError: The corrected value was itself rejected or corrected before.
        """
        gate = self._gate
        if not set(changes) <= _CHANGEABLE:
            raise InvalidInputError(f"A correction may change: {', '.join(sorted(_CHANGEABLE))}.")
        with gate.store.snapshot() as view:
            state = view.owner(owner)
            old = _active(stored(view, state, memory_id, gate.clock.now()))
            before = replace(statement_of(old), follows=gate.source_before(view, state, old))
        after = replace(before, **{"source_id": new_id("src"), **changes})
        admitted = gate.admit(owner, after, author)
        if (admitted.checked.text, admitted.checked.value) == (old.text, old.value):
            raise InvalidInputError("The correction changes neither text nor value.")
        (vector,) = gate.embed(owner, [admitted])
        return gate.write(
            owner,
            author,
            lambda tx: self._replace(tx, owner, memory_id, before, admitted, author, vector),
        )

    def _replace(
        self,
        tx: Transaction,
        owner: Owner,
        memory_id: str,
        before: Statement,
        admitted: Admitted,
        author: Author,
        vector: bytes | None,
    ) -> Written:
        gate = self._gate
        state = tx.owner(owner)
        old = _active(stored(tx, state, memory_id, gate.clock.now()))
        written = gate.file(tx, owner, admitted, author, vector, replacing=memory_id)
        if state is not None and written.superseded == memory_id:
            gate.bury(tx, state, before, memory_id, Burial.CORRECTED, sparing=admitted.checked)
            tx.add_usage(state, old.seq, Usage(corrected=1))
        return written

    def preview(self, owner: Owner, statement: Statement, author: Author) -> Preview:
        """Return what `remember` would do with a statement, without writing anything.

        Raises:
            InvalidInputError: The statement is malformed.
        """
        gate = self._gate
        checked = check(statement, gate.policy, gate.clock.now())
        findings = gate.screen(checked, author)
        refused = any(finding.refuses for finding in findings)
        outlook = _Outlook(RefusedError.code if refused else None)
        if not refused:
            outlook = self._outlook(owner, Admitted(statement, checked, findings), author)
        return Preview(
            kind=checked.rule.name,
            text=checked.text,
            field=checked.field,
            value=checked.value,
            expires_at=None if checked.expires_at is None else from_instant(checked.expires_at),
            findings=findings,
            accepted=outlook.refusal is None,
            refusal=outlook.refusal,
            repeats=outlook.repeats,
            supersedes=outlook.supersedes,
            contested=outlook.contested,
        )

    def _outlook(self, owner: Owner, admitted: Admitted, author: Author) -> _Outlook:
        gate = self._gate
        with gate.store.snapshot() as view:
            state = view.owner(owner)
            if state is None:
                return _Outlook(None)
            try:
                known = gate.known(view, state, admitted)
                if known is not None:
                    return _Outlook(None, repeats=known.memory_id)
                gate.check_tombstones(view, state, admitted.checked, author)
            except MunimentError as error:
                return _Outlook(error.code)
            standing = gate.standing(view, state, admitted.checked)
        if standing is None:
            return _Outlook(None)
        effect = _EFFECTS[standing.meets(claim_of(admitted.checked, author))]
        return _Outlook(None, **{effect: standing.memory_id})


class _Outlook:
    """What stands before a statement that is not written yet."""

    __slots__ = ("contested", "refusal", "repeats", "supersedes")

    def __init__(
        self,
        refusal: str | None,
        *,
        repeats: str | None = None,
        supersedes: str | None = None,
        contested: str | None = None,
    ) -> None:
        self.refusal = refusal
        self.repeats = repeats
        self.supersedes = supersedes
        self.contested = contested


def _active(record: Record | None) -> Record:
    if record is None or record.status is not Status.ACTIVE:
        raise NotFoundError("No active record with this memory_id in this scope.")
    return record


def _items(wrong: Mapping[int, MunimentError]) -> tuple[BatchItem, ...]:
    return tuple(BatchItem(index, error) for index, error in sorted(wrong.items()))


def _batch_error(wrong: Mapping[int, MunimentError]) -> BatchError:
    items = _items(wrong)
    return BatchError(
        f"{len(items)} of the statements are wrong, so nothing was written; mend them or pass "
        "on_error='skip'.",
        items,
    )
