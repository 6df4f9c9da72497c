"""What the verbs return, as frozen values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
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

    def bare(self) -> Candidate:
        """Return it without what another member of a space brought to it."""
        return replace(self, actor="member", evidence=(), findings=(), decided_by=None, reason=None)


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
        at: When it was read back, UTC, or None when it was not yet.
    """

    name: str
    found: int
    removed: int
    left: int
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Receipt(Plain):
    """Evidence of a deletion. Holds no text.

    Attributes:
        receipt_id: Id of the receipt and of the deletion it is about.
        memory_ids: The records that were forgotten; none when they are more than 1,000 or of
            several scopes.
        states: The steps done, in order, each with its time; none for a rehearsal.
        surfaces: What was found, removed and read back on each surface.
        remains: What still exists and why, one sentence each.
        target: What was asked for: record, selection, scope, user, agent, tenant or expiry.
        owner: Hexadecimal keyed hash of whose memory it was.
        actor: Who asked.
        number: Place in the tenant's chain of receipts, from 1; 0 when nothing was deleted.
        previous: Digest of the receipt before it in the chain.
        digest: Hexadecimal keyed hash of everything else in the receipt; see `verify_receipt`.
    """

    receipt_id: str
    memory_ids: tuple[str, ...]
    states: tuple[tuple[str, datetime], ...]
    surfaces: tuple[Surface, ...]
    remains: tuple[str, ...]
    target: str = "record"
    owner: str = ""
    actor: str = ""
    number: int = 0
    previous: str = ""
    digest: str = ""

    @property
    def records(self) -> int:
        """How many records were forgotten, or would be."""
        return next((one.found for one in self.surfaces if one.name == "records"), 0)

    @property
    def is_finished(self) -> bool:
        """Whether the deletion is done to the last byte and was read back since."""
        return "verified" in dict(self.states)


@dataclass(frozen=True, slots=True)
class Answer(Plain):
    """A model's answer together with the records it was shown.

    Attributes:
        text: The model's answer.
        memory_ids: The records that were in the prompt, best first.
        model: The model that answered.
        packet: The packet it was shown.
        cited: Those of the records that the answer names by id, best first.
    """

    text: str
    memory_ids: tuple[str, ...]
    model: str
    packet: Packet
    cited: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Counts(Plain):
    """Rows of one or more scopes.

    Attributes:
        active: Records in force.
        superseded: Records that were replaced.
        expired: Records past their expiry that are not cleaned up yet.
        pending: Active records that wait for an embedding.
        tombstones: Marks of what was forgotten.
        threads: Conversations, workflows and stores of items.
        entries: Events, checkpoints, summaries and items in them.
    """

    active: int = 0
    superseded: int = 0
    expired: int = 0
    pending: int = 0
    tombstones: int = 0
    threads: int = 0
    entries: int = 0

    def __add__(self, other: Counts) -> Counts:
        """Return the sums."""
        return Counts(
            self.active + other.active,
            self.superseded + other.superseded,
            self.expired + other.expired,
            self.pending + other.pending,
            self.tombstones + other.tombstones,
            self.threads + other.threads,
            self.entries + other.entries,
        )


@dataclass(frozen=True, slots=True)
class Replica(Plain):
    """A replica of the store's server: where it is, how many bytes of the log it has not replayed.

    One that cannot be used has no `lag`, and a sentence that says why as its `problem`.
    """

    location: str
    lag: int | None = None
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class StoreInfo(Plain):
    """Facts about a store.

    Attributes:
        engine: The database and its version.
        location: File or server.
        schema_version: Number of the last migration.
        bytes: Size on disk.
        sealed: Whether everything in it is sealed.
        integrity: `on` when rows and anchor guard it, `off` when there is no anchor.
        wall: What keeps scopes apart inside the database, besides our own queries; None for
            nothing.
        replicas: Servers that what is large may be read from.
    """

    engine: str
    location: str
    schema_version: int
    bytes: int
    sealed: bool = False
    integrity: str = "off"
    wall: str | None = None
    replicas: tuple[Replica, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Flaw(Plain):
    """Something that was not written with the store's key. Holds no text.

    Attributes:
        name: `row_edited`, `rows_missing_or_added`, `owner_edited`, `owner_missing`,
            `chain_broken`, `chain_cut`, `forked`, `rolled_back`, `unreadable`, `anchor_missing`
            or `anchor_edited`.
        tenant_id: The tenant, or None when it concerns the whole store.
        owner_no: The owner's number inside the tenant, or None.
        table: Where it was seen.
        item: Id of the record or candidate, or place of the row, or None.
    """

    name: str
    tenant_id: str | None
    owner_no: int | None
    table: str
    item: str | None = None


@dataclass(frozen=True, slots=True)
class Verification(Plain):
    """What a verification of the whole store looked at and found.

    Attributes:
        owners: Scopes and spaces that were looked at.
        rows: Rows whose digest was checked.
        entries: Audit entries whose link was checked.
        anchored: Owners whose state was compared with the anchor.
        integrity: `on`, or `off` when there is no anchor to compare with.
        flaws: What is wrong; empty when all is well.
    """

    owners: int
    rows: int
    entries: int
    anchored: int
    integrity: str
    flaws: tuple[Flaw, ...]

    @property
    def is_intact(self) -> bool:
        """Whether nothing is wrong."""
        return not self.flaws
