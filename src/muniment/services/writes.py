"""The one gate that all writes pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.clock import Clock, from_instant, new_id
from muniment.errors import (
    BatchError,
    BatchItem,
    ConflictError,
    MunimentError,
    RefusedError,
    TombstonedError,
)
from muniment.keys import digest
from muniment.ports import (
    Embedder,
    NewRecord,
    OwnerState,
    Screener,
    Snapshot,
    Store,
    Transaction,
)
from muniment.records import Authority, EmbeddingState, Statement, Status, WritePath, canonical_json
from muniment.results import Batch, Finding, Outcome, Preview, Written
from muniment.rules.precedence import Claim, Decision, decide
from muniment.rules.statement import Checked, check, fingerprint
from muniment.rules.text import tokenise
from muniment.services.vectors import Progress, embed_passages
from muniment.services.words import WordKeys

if TYPE_CHECKING:
    from muniment.rules.kinds import Policy
    from muniment.scope import Scope


@dataclass(frozen=True, slots=True)
class Author:
    """Who writes, through which door, with which rank. Set by the facade, never by a payload.

    Attributes:
        actor: The name in the record and the audit entry.
        path: The door.
        authority: The rank of what comes through it.
    """

    actor: str
    path: WritePath
    authority: Authority


SUBJECT = Author("subject", WritePath.REMEMBER, Authority.EXPLICIT)
OPERATOR = Author("operator", WritePath.IMPORT, Authority.EXPLICIT)


@dataclass(frozen=True, slots=True)
class _Digests:
    payload: bytes
    source: bytes
    value: bytes


class Writes:
    """Screens, checks and embeds outside; then decides and stores in one transaction."""

    def __init__(
        self,
        store: Store,
        *,
        policy: Policy,
        clock: Clock,
        embedder: Embedder | None,
        screener: Screener,
        words: WordKeys,
    ) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock
        self._embedder = embedder
        self._screener = screener
        self._words = words

    def remember(self, scope: Scope, statement: Statement, author: Author) -> Written:
        """Store one statement.

        Raises:
            InvalidInputError: The statement is malformed.
            RefusedError: Screening refused it.
            ConflictError: Its source_id or field belongs to another statement.
            TombstonedError: It was forgotten.
            StoreError: The database failed.
        """
        checked = self._admit(statement, author)
        vectors = self._embed(scope, [checked], None)
        return self._store.write(lambda tx: self._file(tx, scope, checked, author, vectors[0]))

    def remember_many(
        self,
        scope: Scope,
        statements: Sequence[Statement],
        author: Author,
        *,
        skip: bool,
        progress: Progress | None,
    ) -> Batch:
        """Store several statements in one transaction.

        Args:
            scope: Whose they are.
            statements: What to remember, in order.
            author: Who writes.
            skip: Whether to leave out what is wrong instead of refusing everything.
            progress: Called with how many are embedded and how many there are.

        Raises:
            BatchError: `skip` is false and at least one statement is wrong. Nothing was written.
        """
        wrong: dict[int, MunimentError] = {}
        checked: dict[int, Checked] = {}
        for index, statement in enumerate(statements):
            try:
                checked[index] = self._admit(statement, author)
            except MunimentError as error:
                wrong[index] = error
        if wrong and not skip:
            raise _batch_error(wrong)
        vectors = dict(
            zip(checked, self._embed(scope, list(checked.values()), progress), strict=True)
        )
        return self._store.write(
            lambda tx: self._file_many(tx, scope, checked, author, vectors, wrong, skip=skip)
        )

    def preview(self, scope: Scope, statement: Statement, author: Author) -> Preview:
        """Return what `remember` would do with a statement, without writing anything.

        Raises:
            InvalidInputError: The statement is malformed.
        """
        checked = check(statement, self._policy, self._clock.now())
        findings = tuple(self._screener.screen(checked.text, author.path))
        refusal: str | None = None
        repeats: str | None = None
        supersedes: str | None = None
        if any(finding.refuses for finding in findings):
            refusal = RefusedError.code
        with self._store.snapshot() as view:
            owner = view.owner(scope)
            if owner is not None and refusal is None:
                try:
                    known = self._known(view, owner, checked, author)
                    repeats = None if known is None else known.memory_id
                    supersedes = None if known else self._replaced(view, owner, checked, author)
                except MunimentError as error:
                    refusal = error.code
        return Preview(
            kind=checked.rule.name,
            text=checked.text,
            field=checked.field,
            value=checked.value,
            expires_at=None if checked.expires_at is None else from_instant(checked.expires_at),
            findings=findings,
            accepted=refusal is None,
            refusal=refusal,
            repeats=repeats,
            supersedes=supersedes,
        )

    def _admit(self, statement: Statement, author: Author) -> Checked:
        checked = check(statement, self._policy, self._clock.now())
        screened = [checked.text, checked.field or "", *_texts(checked.value)]
        screened += [text for item in checked.metadata.values() for text in _texts(item)]
        for text in screened:
            for finding in self._screener.screen(text, author.path):
                if finding.refuses:
                    raise _refusal(finding)
        return checked

    def _embed(
        self, scope: Scope, batch: Sequence[Checked], progress: Progress | None
    ) -> list[bytes | None]:
        """Return a vector for each statement; None where it failed or is already stored."""
        if self._embedder is None:
            return [None] * len(batch)
        places = self._unfiled(scope, batch)
        found = embed_passages(self._embedder, [batch[at].text for at in places], progress)
        vectors = dict(zip(places, found, strict=True))
        return [vectors.get(at) for at in range(len(batch))]

    def _unfiled(self, scope: Scope, batch: Sequence[Checked]) -> list[int]:
        with self._store.snapshot() as view:
            owner = view.owner(scope)
            if owner is None:
                return list(range(len(batch)))
            return [at for at, one in enumerate(batch) if not view.filed(owner, one.source_id)]

    def _file_many(
        self,
        tx: Transaction,
        scope: Scope,
        checked: Mapping[int, Checked],
        author: Author,
        vectors: Mapping[int, bytes | None],
        wrong: Mapping[int, MunimentError],
        *,
        skip: bool,
    ) -> Batch:
        failed = dict(wrong)
        written: dict[int, Written] = {}
        for index, one in checked.items():
            try:
                written[index] = self._file(tx, scope, one, author, vectors[index])
            except (ConflictError, TombstonedError) as error:
                failed[index] = error
        if failed and not skip:
            raise _batch_error(failed)
        return Batch(tuple(written.values()), _items(failed))

    def _file(
        self,
        tx: Transaction,
        scope: Scope,
        checked: Checked,
        author: Author,
        vector: bytes | None,
    ) -> Written:
        """Decide and store one statement. Runs inside the write transaction."""
        now = self._clock.now()
        owner = tx.ensure_owner(scope, now)
        known = self._known(tx, owner, checked, author)
        if known is not None:
            return known
        replaced = self._replaced(tx, owner, checked, author)
        owner = tx.bump(owner)
        record = self._record(tx, scope, checked, author, vector, replaced, now)
        if replaced is not None:
            tx.supersede(owner, replaced, record.memory_id)
        tx.insert(owner, record)
        tx.append_audit(
            owner,
            at=now,
            actor=author.actor,
            action=author.path.value,
            memory_ids=[record.memory_id, *([replaced] if replaced else [])],
            reason=None if replaced is None else "superseded",
        )
        return Written(record.memory_id, Outcome.CREATED, Status.ACTIVE, replaced, record.embedding)

    def _record(
        self,
        tx: Transaction,
        scope: Scope,
        checked: Checked,
        author: Author,
        vector: bytes | None,
        replaced: str | None,
        now: int,
    ) -> NewRecord:
        placed = None
        state = EmbeddingState.NONE
        if self._embedder is not None:
            state = EmbeddingState.PENDING if vector is None else EmbeddingState.READY
        if self._embedder is not None and vector is not None:
            placed = (tx.ensure_slot(self._embedder.model), vector)
        names = [checked.text, *([checked.field] if checked.field else []), *_texts(checked.value)]
        return NewRecord(
            memory_id=new_id("mem"),
            kind=checked.rule.name,
            text=checked.text,
            field=checked.field,
            field_key=checked.field_key,
            value=checked.value,
            source_id=checked.source_id,
            path=author.path,
            payload_digest=self._digests(scope, checked).payload,
            authority=author.authority,
            actor=author.actor,
            created_at=now,
            valid_from=checked.valid_from,
            valid_until=checked.valid_until,
            expires_at=checked.expires_at,
            metadata=checked.metadata,
            supersedes=replaced,
            words=self._words.of(scope).pack(tokenise(" ".join(dict.fromkeys(names))), names),
            vector=placed,
            embedding=state,
        )

    def _known(
        self, view: Snapshot, owner: OwnerState, checked: Checked, author: Author
    ) -> Written | None:
        """Return the earlier result of the same statement, or raise what stands against it."""
        digests = self._digests(owner.scope, checked)
        filed = view.filed(owner, checked.source_id)
        if filed is not None:
            if filed.payload_digest != digests.payload:
                raise ConflictError(
                    "source_id already identifies a different statement in this scope; "
                    "use a new source_id for a new statement.",
                    memory_id=filed.memory_id,
                )
            return Written(filed.memory_id, Outcome.REPEATED, filed.status, None, filed.embedding)
        buried = view.tombstoned(owner, digests.source, digests.value)
        if buried == "source":
            raise TombstonedError(
                "The statement with this source_id was forgotten. If the person states it again, "
                "remember it under a new source_id."
            )
        if buried == "value" and author.path is not WritePath.REMEMBER:
            raise TombstonedError(
                "The same statement was forgotten; only the person may restate it."
            )
        return None

    def _replaced(
        self, view: Snapshot, owner: OwnerState, checked: Checked, author: Author
    ) -> str | None:
        """Return the id of the active record that a statement supersedes, or None."""
        if checked.field_key is None:
            return None
        active = view.active_field(owner, checked.rule.name, checked.field_key, self._clock.now())
        if active is None:
            return None
        decision = decide(
            Claim(active.authority, active.actor, active.value),
            Claim(author.authority, author.actor, checked.value),
        )
        if decision is Decision.CONFLICT:
            raise ConflictError(
                "An active record of another source holds this field; correct or forget it first.",
                memory_id=active.memory_id,
            )
        return active.memory_id

    def _digests(self, scope: Scope, checked: Checked) -> _Digests:
        key = self._store.keys.tombstone(scope)
        return _Digests(
            payload=digest(key, "payload", checked.payload),
            source=digest(key, "source", checked.source_id),
            value=digest(
                key,
                "value",
                *fingerprint(checked.rule.name, checked.field, checked.value, checked.text),
            ),
        )


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in value.values() for text in _texts(item)]
    if isinstance(value, list):
        return [text for item in value for text in _texts(item)]
    return [] if value is None else [canonical_json(value)]  # type: ignore[arg-type]


def _refusal(finding: Finding) -> RefusedError:
    return RefusedError(
        f"The write gate refused the text: {finding.name} at characters "
        f"{finding.start} to {finding.end}. Remove it and try again.",
        finding=finding.name,
        start=finding.start,
        end=finding.end,
    )


def _items(wrong: Mapping[int, MunimentError]) -> tuple[BatchItem, ...]:
    return tuple(BatchItem(index, error) for index, error in sorted(wrong.items()))


def _batch_error(wrong: Mapping[int, MunimentError]) -> BatchError:
    items = _items(wrong)
    return BatchError(
        f"{len(items)} of the statements are wrong, so nothing was written; mend them or pass "
        "on_error='skip'.",
        items,
    )
