"""What the write gate lets in: checked, screened, and every refusal audited."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Literal, TypeVar

from muniment.clock import Clock
from muniment.errors import (
    BatchError,
    BatchItem,
    InvalidInputError,
    RefusedError,
    StoreError,
    TamperedError,
    TombstonedError,
)
from muniment.ports import Screener, Store, Transaction
from muniment.records import Authority, JSONValue, Statement, WritePath, canonical_json
from muniment.results import Finding
from muniment.rules.statement import MAX_NAME, Checked, check, checked_text
from muniment.services.packing import falls_due, pack
from muniment.services.past import Admitted, Author, Past

if TYPE_CHECKING:
    from muniment.rules.kinds import KindRule, Policy
    from muniment.scope import Owner

T = TypeVar("T")
MOST_EVIDENCE = 100

ModelAccess = Literal["write", "propose"]


class Admission(Past):
    """Checks and screens statements before anything is stored."""

    def __init__(self, store: Store, clock: Clock, *, policy: Policy, screener: Screener) -> None:
        super().__init__(store, clock)
        self.policy = policy
        self._screener = screener

    def admit(self, owner: Owner, statement: Statement, author: Author) -> Admitted:
        """Check and screen a statement; a refusal is audited.

        Raises:
            InvalidInputError: It is malformed.
            RefusedError: Screening refused it.
        """
        checked = check(statement, self.policy, self.clock.now())
        self._refuse_beyond(owner, checked.rule, author)
        if author.override is not None:
            self.check_reason(owner, author.override, author)
        findings = self.screen(checked, author)
        self._refuse_found(owner, findings, author)
        return Admitted(statement, checked, findings)

    def proposer(self, owner: Owner, name: str, evidence: Sequence[str]) -> Author:
        """Return the author of a proposal; its name and the ids it rests on are screened.

        Raises:
            InvalidInputError: A name or id is malformed, or there are too many ids.
            RefusedError: Screening refused one of them.
        """
        if isinstance(evidence, str) or not isinstance(evidence, Sequence):
            raise InvalidInputError("evidence must be a list of ids.")
        if len(evidence) > MOST_EVIDENCE:
            raise InvalidInputError(f"A proposal may rest on {MOST_EVIDENCE} ids at most.")
        ids = tuple(checked_text("evidence", one, MAX_NAME) for one in evidence)
        named = checked_text("proposer", name, MAX_NAME)
        author = Author(named, WritePath.PROPOSE, Authority.INFERRED, evidence=ids)
        for text in (named, *ids):
            self._refuse_found(owner, self._screener.screen(text, author.path), author)
        return author

    def check_reason(self, owner: Owner, reason: str, author: Author) -> None:
        """Check and screen a reason that somebody gives for a decision; it is kept as it is.

        Raises:
            InvalidInputError: It is blank or too long.
            RefusedError: Screening refused it.
        """
        said = checked_text("reason", reason, MAX_NAME)
        self._refuse_found(owner, self._screener.screen(said, author.path), author)

    def check_texts(self, owner: Owner, texts: Iterable[str], author: Author) -> None:
        """Screen texts that are kept as they are, and are no statement.

        Raises:
            RefusedError: Screening refused one of them.
        """
        for text in texts:
            self._refuse_found(owner, self._screener.screen(text, author.path), author)

    def _refuse_found(self, owner: Owner, findings: Iterable[Finding], author: Author) -> None:
        for finding in findings:
            if finding.refuses:
                self.audit_refusal(owner, author, finding.name)
                raise RefusedError(
                    f"The write gate refused the text: {finding.name} at characters "
                    f"{finding.start} to {finding.end}. Remove it and try again.",
                    finding=finding.name,
                    start=finding.start,
                    end=finding.end,
                )

    def _refuse_beyond(self, owner: Owner, rule: KindRule, author: Author) -> None:
        if not rule.may_enter(owner):
            self.audit_refusal(owner, author, "boundary")
            raise RefusedError(
                f"The policy keeps the kind {rule.name} within the boundary {rule.boundary}; "
                "propose it for a space inside that.",
                finding="boundary",
            )

    def check_access(
        self, owner: Owner, admitted: Admitted, author: Author, access: ModelAccess
    ) -> None:
        """Refuse what a model may not do with a kind; the refusal is audited.

        Raises:
            RefusedError: The kind's policy does not give models this access.
        """
        rule = admitted.checked.rule
        if access not in rule.model:
            self.audit_refusal(owner, author, "kind")
            raise RefusedError(
                f"The policy lets no model {access} the kind {rule.name}.", finding="kind"
            )

    def write(self, owner: Owner, author: Author, work: Callable[[Transaction], T]) -> T:
        """Run a write transaction; what a tombstone refuses is audited.

        Raises:
            TombstonedError: A tombstone stands against it.
            BatchError: Something stands against an item of a batch.
        """

        def counted(tx: Transaction) -> tuple[T, bool]:
            before = tx.owner(owner)
            result = work(tx)
            return result, falls_due(before, tx.owner(owner))

        try:
            result, is_due = self.store.write(counted)
        except TombstonedError:
            self.audit_refusal(owner, author, TombstonedError.code)
            raise
        except BatchError as error:
            self.audit_skipped(owner, author, error.items)
            raise
        if is_due:
            self._pack(owner)
        return result

    def _pack(self, owner: Owner) -> None:
        """Pack an owner's records; what stands in the way is left to maintenance, which says it."""
        with suppress(StoreError, TamperedError):
            self.store.write(lambda tx: pack(tx, owner))

    def audit_skipped(self, owner: Owner, author: Author, items: Iterable[BatchItem]) -> None:
        """Write down which items of a batch a tombstone refused."""
        for item in items:
            if isinstance(item.error, TombstonedError):
                self.audit_refusal(owner, author, item.error.code)

    def screen(self, checked: Checked, author: Author) -> tuple[Finding, ...]:
        """Return what screening sees in everything of a statement that would be stored."""
        texts = [checked.text, checked.field, checked.reference, checked.source_id]
        texts += texts_of(checked.value)
        if checked.metadata:
            texts += texts_of(checked.metadata)
        findings: list[Finding] = []
        for text in texts:
            if text:
                findings += self._screener.screen(text, author.path)
        return tuple(findings)

    def audit_refusal(self, owner: Owner, author: Author, reason: str) -> None:
        """Write down that a write was refused, and why; never what it said."""
        now = self.clock.now()
        self.store.write(
            lambda tx: tx.append_audit(
                tx.ensure_owner(owner, now),
                at=now,
                actor=author.actor,
                action="refused",
                memory_ids=[],
                reason=f"{author.path.value}: {reason}",
            )
        )


def texts_of(value: JSONValue) -> list[str]:
    """Return every text within a JSON value, keys of mappings included."""
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for pair in value.items() for item in pair for text in texts_of(item)]
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return [canonical_json(whole)]
