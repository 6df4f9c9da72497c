"""The one gate that all writes pass: admit and embed outside; then decide and store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from muniment.clock import Clock, new_id
from muniment.ports import (
    Embedder,
    NewCandidate,
    NewRecord,
    OwnerState,
    Screener,
    Snapshot,
    Store,
    Transaction,
)
from muniment.records import (
    EmbeddingState,
    Status,
    WritePath,
)
from muniment.results import Finding, Outcome, Written
from muniment.rules.precedence import Decision
from muniment.rules.statement import Checked, content_hash
from muniment.rules.text import tokenise
from muniment.services.admission import Admission, texts_of
from muniment.services.past import (
    SAME_AS_ACTIVE,
    Admitted,
    Author,
    about,
    claim_of,
    claim_value,
    contested_write,
)
from muniment.services.threads.staleness import CORRECTED, Changed, make_stale, sources_of
from muniment.services.vectors import Progress, embed_passages, in_context
from muniment.services.words import WordKeys

if TYPE_CHECKING:
    from muniment.records import Record
    from muniment.rules.kinds import Policy
    from muniment.scope import Owner


class Gate(Admission):
    """Embeds admitted statements, and files them inside a write transaction."""

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
        super().__init__(store, clock, policy=policy, screener=screener)
        self.embedder = embedder
        self._words = words

    def embed(
        self, owner: Owner, batch: Sequence[Admitted], progress: Progress | None = None
    ) -> list[bytes | None]:
        """Return a vector for each statement; None where it failed or is already stored."""
        if self.embedder is None:
            return [None] * len(batch)
        texts = self._unfiled(owner, batch)
        vectors = embed_passages(self.embedder, list(texts.values()), progress)
        found = dict(zip(texts, vectors, strict=True))
        return [found.get(at) for at in range(len(batch))]

    def _unfiled(self, owner: Owner, batch: Sequence[Admitted]) -> dict[int, str]:
        """Return by the place of each new statement what the embedder is to see of it."""
        said = {one.checked.source_id: one.checked.text for one in batch}
        reads_once = len(batch) == 1 and batch[0].checked.follows is None
        with self.store.snapshot((owner,), brief=reads_once) as view:
            state = view.owner(owner)
            if reads_once:
                view.next_is_last()
            sources = [one.checked.source_id for one in batch]
            filed = frozenset[str]() if state is None else view.filed_among(state, sources)
            return {
                at: self._in_thread(view, state, one.checked, said)
                for at, one in enumerate(batch)
                if one.checked.source_id not in filed
            }

    def _in_thread(
        self,
        view: Snapshot,
        state: OwnerState | None,
        checked: Checked,
        said: Mapping[str, str],
    ) -> str:
        """Return a statement's text with the end of the one that it follows, if it follows one."""
        if checked.follows is None:
            return checked.text
        before = said.get(checked.follows)
        record_id = None if before else self._followed(view, state, checked)
        if state is not None and record_id is not None:
            record = view.record(state, record_id, self.clock.now())
            before = None if record is None else record.text
        return in_context(checked.text, before)

    def source_before(self, view: Snapshot, state: OwnerState | None, record: Record) -> str | None:
        """Return the source_id of the record that a stored one follows, or None."""
        if state is None or record.follows is None:
            return None
        before = view.record(state, record.follows, self.clock.now())
        return None if before is None else before.source.source_id

    def _followed(self, view: Snapshot, state: OwnerState | None, checked: Checked) -> str | None:
        if state is None or checked.follows is None:
            return None
        filed = view.filed(state, checked.follows, self.clock.now())
        return None if filed is None else filed.memory_id

    def file(
        self,
        tx: Transaction,
        owner: Owner,
        admitted: Admitted,
        author: Author,
        vector: bytes | None,
        *,
        replacing: str | None = None,
        made_at: int | None = None,
    ) -> Written:
        """Decide and store one statement. Runs inside the write transaction.

        Args:
            tx: The transaction.
            owner: Whose it is.
            admitted: The statement.
            author: Who writes.
            vector: Its embedding, or None.
            replacing: The active record that a reviewer or the subject decided to replace; it is
                superseded whatever precedence says.
            made_at: When it was made, if that was before now: in the system it comes from.

        Raises:
            ConflictError: The source_id identifies a different statement.
            TombstonedError: It was forgotten, rejected or retracted.
        """
        now, checked = self.clock.now(), admitted.checked
        state = tx.ensure_owner(owner, now)
        if author.evidence or not self.is_new(tx, state, checked):
            known = self.known(tx, state, admitted)
            if known is not None:
                return known
            self.check_tombstones(tx, state, checked, author)
        standing = self.standing(tx, state, checked)
        replaced = replacing
        if standing is not None and standing.memory_id != replacing:
            decision = standing.meets(claim_of(checked, author))
            if decision is Decision.KEEP:
                return standing.kept()
            if decision is Decision.CONFLICT:
                return self.contest(tx, state, admitted, author, standing.memory_id)
            replaced = standing.memory_id
        made = now if made_at is None else min(made_at, now)
        return self._store_record(tx, state, checked, author, vector, replaced, now, made)

    def file_approved(
        self,
        tx: Transaction,
        state: OwnerState,
        admitted: Admitted,
        author: Author,
        vector: bytes | None,
        *,
        replacing: str | None,
    ) -> Written:
        """Store a candidate that was approved in its review. Runs inside the write transaction.

        Raises:
            TombstonedError: Its value was forgotten, rejected or corrected since.
        """
        person = author if author.override is None else replace(author, path=WritePath.REMEMBER)
        self.check_tombstones(tx, state, admitted.checked, person)
        now = self.clock.now()
        return self._store_record(tx, state, admitted.checked, author, vector, replacing, now)

    def _store_record(
        self,
        tx: Transaction,
        state: OwnerState,
        checked: Checked,
        author: Author,
        vector: bytes | None,
        replaced: str | None,
        now: int,
        made: int | None = None,
    ) -> Written:
        state = tx.bump(state)
        made = now if made is None else made
        record = self.draft_record(tx, state, checked, author, vector, replaced, made)
        if replaced is not None:
            tx.supersede(state, replaced, record.memory_id, now)
            self._settle(tx, state, checked, record.memory_id)
            self._outdate(tx, state, replaced, author.actor)
        tx.insert(state, record)
        tx.append_audit(
            state,
            at=now,
            actor=author.actor,
            action=author.path.value,
            memory_ids=[record.memory_id, *([replaced] if replaced else [])],
            reason=author.override or ("superseded" if replaced else None),
        )
        return Written(record.memory_id, Outcome.CREATED, Status.ACTIVE, replaced, record.embedding)

    def _outdate(self, tx: Transaction, state: OwnerState, replaced: str, actor: str) -> None:
        """Take the text out of the summaries that rest on a record that was replaced."""
        now = self.clock.now()
        old = tx.record(state, replaced, now)
        if old is not None and tx.summaries(state):
            make_stale(tx, state, Changed(sources_of([old]), {}, CORRECTED, actor), now)

    def _settle(self, tx: Transaction, state: OwnerState, checked: Checked, memory_id: str) -> None:
        """End the conflicts with a new record that says the same as the pending candidate."""
        for one in tx.conflicts(state):
            if one.contested == memory_id and claim_value(one.statement) == claim_value(checked):
                tx.revise(
                    state,
                    one.candidate_id,
                    statement=one.statement,
                    content_hash=content_hash(one.statement),
                    findings=(*one.findings, about(SAME_AS_ACTIVE, memory_id)),
                    contested=None,
                    actor=one.actor,
                    authority=one.authority,
                )

    def draft_record(
        self,
        tx: Transaction,
        state: OwnerState,
        checked: Checked,
        author: Author,
        vector: bytes | None,
        replaced: str | None,
        now: int,
    ) -> NewRecord:
        """Return a new record of a statement, ready to be inserted."""
        owner = state.owner
        placed = None
        embedding = EmbeddingState.NONE
        if self.embedder is not None:
            embedding = EmbeddingState.PENDING if vector is None else EmbeddingState.READY
            placed = None if vector is None else (tx.ensure_slot(self.embedder.model), vector)
        names = [
            checked.text,
            *([checked.field] if checked.field else []),
            *texts_of(checked.value),
        ]
        return NewRecord(
            memory_id=new_id("mem"),
            kind=checked.rule.name,
            text=checked.text,
            field=checked.field,
            field_key=checked.field_key,
            value=checked.value,
            source_id=checked.source_id,
            path=author.path,
            payload_digest=self.payload_digest(owner, checked),
            authority=author.authority,
            actor=author.actor,
            approved_by=author.approved_by,
            evidence=author.evidence,
            reference=checked.reference,
            follows=self._followed(tx, state, checked),
            created_at=now,
            valid_from=checked.valid_from,
            valid_until=checked.valid_until,
            expires_at=checked.expires_at,
            metadata=checked.metadata,
            supersedes=replaced,
            words=self._words.of(owner).pack(tokenise(" ".join(dict.fromkeys(names))), names),
            vector=placed,
            embedding=embedding,
        )

    def contest(
        self,
        tx: Transaction,
        state: OwnerState,
        admitted: Admitted,
        author: Author,
        contested: str | None,
        findings: tuple[Finding, ...] | None = None,
    ) -> Written:
        """Store a statement as a pending candidate."""
        now = self.clock.now()
        candidate = NewCandidate(
            candidate_id=new_id("cnd"),
            statement=admitted.statement,
            content_hash=content_hash(admitted.statement),
            payload_digest=self.payload_digest(state.owner, admitted.checked),
            path=author.path,
            authority=author.authority,
            actor=author.actor,
            evidence=author.evidence,
            findings=admitted.findings if findings is None else findings,
            contested=contested,
            created_at=now,
        )
        tx.insert_candidate(state, candidate)
        tx.append_audit(
            state,
            at=now,
            actor=author.actor,
            action=author.path.value,
            memory_ids=[candidate.candidate_id, *([contested] if contested else [])],
            reason="contested" if contested else "pending",
        )
        return contested_write(contested, candidate.candidate_id)
