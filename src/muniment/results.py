"""What the verbs return, as frozen values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from muniment.errors import BatchItem
from muniment.records import (
    Authority,
    EmbeddingState,
    JSONValue,
    Packet,
    Plain,
    Statement,
    Status,
    WritePath,
)
from muniment.scope import Owner


class Outcome(StrEnum):
    """What a write did."""

    CREATED = "created"
    REPEATED = "repeated"
    CONTESTED = "contested"


@dataclass(frozen=True, slots=True)
class Written(Plain):
    """The result of a write.

    Attributes:
        memory_id: Id of the record; the same on every retry with the same source_id. When the
            outcome is `contested`, the record that stands.
        outcome: `created`; `repeated` when the source_id had already written it; `contested` when
            a record of another source stands against it and a reviewer has to decide.
        status: The record's status now; a repeated record may have been superseded since.
        superseded: memory_id of the record that this write replaced, or None.
        embedding: `pending` when the embedder failed; the record is found by its words meanwhile.
        candidate_id: The candidate that waits for review when the outcome is `contested`.
    """

    memory_id: str
    outcome: Outcome
    status: Status
    superseded: str | None
    embedding: EmbeddingState
    candidate_id: str | None = None


@dataclass(frozen=True, slots=True)
class Batch(Plain):
    """The result of writing several statements.

    Attributes:
        written: The results, in order of the statements that were accepted.
        skipped: What was left out and why; empty unless skipping was asked for.
    """

    written: tuple[Written, ...]
    skipped: tuple[BatchItem, ...]

    def __iter__(self) -> Iterator[Written]:
        """Iterate over the results of the accepted statements."""
        return iter(self.written)

    def __len__(self) -> int:
        """Return the number of accepted statements."""
        return len(self.written)


@dataclass(frozen=True, slots=True)
class Finding(Plain):
    """What screening saw in a text.

    Attributes:
        name: The class of the finding, such as `hidden_characters`.
        start: Where it begins, in characters.
        end: Where it ends, in characters.
        refuses: Whether the write gate refuses the text because of it.
        memory_id: The record it is about, for findings that compare, or None.
    """

    name: str
    start: int
    end: int
    refuses: bool
    memory_id: str | None = None


class CandidateStatus(StrEnum):
    """Where a candidate stands."""

    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    LAPSED = "lapsed"


@dataclass(frozen=True, slots=True)
class Candidate(Plain):
    """A proposed record that waits for review. It is never recalled.

    Attributes:
        candidate_id: `cnd_` and 32 hexadecimal digits, unique in the tenant.
        seq: Place in the owner's order of writing.
        scope: Whose record it would become: a scope or a space.
        statement: What is proposed.
        status: pending, approved, rejected or lapsed.
        version: Grows with each change; an approval names it.
        content_hash: Hexadecimal hash of what is proposed; an approval names it.
        path: The door it came through.
        authority: Rank of its source.
        actor: Who proposed it.
        evidence: Ids of the events it rests on.
        findings: What screening and comparison saw.
        contested: The active record that it contradicts, or None.
        created_at: When it was proposed, UTC.
        decided_at: When its review ended, or None.
        decided_by: Who decided, or None.
        reason: Why, or None.
        memory_id: The record it became, or None.
    """

    candidate_id: str
    seq: int
    scope: Owner
    statement: Statement
    status: CandidateStatus
    version: int
    content_hash: str
    path: WritePath
    authority: Authority
    actor: str
    evidence: tuple[str, ...]
    findings: tuple[Finding, ...]
    contested: str | None
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    reason: str | None
    memory_id: str | None


@dataclass(frozen=True, slots=True)
class Preview(Plain):
    """What `remember` would do, before anything is written.

    Attributes:
        kind: The kind after aliases are resolved.
        text: The text as it would be stored.
        field: Name of the structured part, or None.
        value: The structured part, or None.
        expires_at: The expiry after the kind's lifetime is applied, or None.
        findings: What screening saw.
        accepted: Whether the write gate would accept it.
        refusal: Code of the error the write would raise, or None.
        repeats: memory_id when the source_id has already written this, or None.
        supersedes: memory_id of the record it would replace, or None.
        contested: memory_id of the record that would stand against it, or None.
    """

    kind: str
    text: str
    field: str | None
    value: JSONValue
    expires_at: datetime | None
    findings: tuple[Finding, ...]
    accepted: bool
    refusal: str | None
    repeats: str | None
    supersedes: str | None
    contested: str | None


@dataclass(frozen=True, slots=True)
class Surface(Plain):
    """What a deletion found and left on one surface.

    Attributes:
        name: Where a trace could have been: record, embedding, words, …
        found: Rows found there before.
        removed: Rows removed.
        left: Rows found there when it was read back afterwards.
    """

    name: str
    found: int
    removed: int
    left: int


@dataclass(frozen=True, slots=True)
class Receipt(Plain):
    """Evidence of a deletion. Holds no text.

    Attributes:
        receipt_id: Id of the receipt.
        memory_ids: The records that were forgotten.
        states: The steps done, in order, each with its time.
        surfaces: What was found, removed and read back on each surface.
        remains: What still exists and why, one sentence each.
    """

    receipt_id: str
    memory_ids: tuple[str, ...]
    states: tuple[tuple[str, datetime], ...]
    surfaces: tuple[Surface, ...]
    remains: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Answer(Plain):
    """A model's answer together with the records it was shown.

    Attributes:
        text: The model's answer.
        memory_ids: The records that were in the prompt, best first.
        model: The model that answered.
        packet: The packet it was shown.
    """

    text: str
    memory_ids: tuple[str, ...]
    model: str
    packet: Packet


@dataclass(frozen=True, slots=True)
class Counts(Plain):
    """Rows of one or more scopes.

    Attributes:
        active: Records in force.
        superseded: Records that were replaced.
        expired: Records past their expiry that are not cleaned up yet.
        pending: Active records that wait for an embedding.
        tombstones: Marks of forgotten records.
    """

    active: int = 0
    superseded: int = 0
    expired: int = 0
    pending: int = 0
    tombstones: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums."""
        return Counts(
            self.active + other.active,
            self.superseded + other.superseded,
            self.expired + other.expired,
            self.pending + other.pending,
            self.tombstones + other.tombstones,
        )


@dataclass(frozen=True, slots=True)
class StoreInfo(Plain):
    """Facts about a store.

    Attributes:
        engine: The database and its version.
        location: File or server.
        schema_version: Number of the last migration.
        bytes: Size on disk.
    """

    engine: str
    location: str
    schema_version: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Health(Plain):
    """Whether everything works, as far as the store and the embedder can tell.

    Attributes:
        store: Facts about the store.
        scopes: How many scopes it has.
        counts: Rows of all scopes together.
        embedder: Name of the embedding model, or None.
        problems: What is wrong, one sentence each; empty when all is well.
    """

    store: StoreInfo
    scopes: int
    counts: Counts
    embedder: str | None
    problems: tuple[str, ...]
