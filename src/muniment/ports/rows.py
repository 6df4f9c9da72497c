"""Rows as they pass between the core and a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import NamedTuple

from muniment.records import Authority, EmbeddingState, JSONValue, Statement, Status, WritePath
from muniment.results import Finding
from muniment.scope import Owner


@dataclass(frozen=True, slots=True)
class OwnerState:
    """A scope or space as the database knows it.

    Attributes:
        owner: Whose it is.
        owner_no: Its number inside the tenant.
        version: Grows by one with each committed change of its records.
        incarnation: Random; changes when the owner is erased or restored.
        label: Its parts as a sealed store keeps them, or None.
    """

    owner: Owner
    owner_no: int
    version: int
    incarnation: bytes
    label: bytes | None = attribute(default=None, compare=False, repr=False)


class NewRecord(NamedTuple):
    """A record as the write gate hands it to the store.

    Instants are microseconds since 1970, UTC. `field_key` is `field` when the kind allows one
    active record a field, else None. `payload_digest` covers the caller's inputs. `vector` is a
    model's slot and the little-endian float32 numbers. Only an import brings a record that was
    replaced already: then `status` is superseded.
    """

    memory_id: str
    kind: str
    text: str
    field: str | None
    field_key: str | None
    value: JSONValue
    source_id: str
    path: WritePath
    payload_digest: bytes
    authority: Authority
    actor: str
    approved_by: str | None
    evidence: tuple[str, ...]
    reference: str | None
    follows: str | None
    created_at: int
    valid_from: int | None
    valid_until: int | None
    expires_at: int | None
    metadata: Mapping[str, JSONValue]
    supersedes: str | None
    words: bytes
    vector: tuple[int, bytes] | None
    embedding: EmbeddingState
    status: Status = Status.ACTIVE
    superseded_by: str | None = None
    superseded_at: int | None = None


class Block(NamedTuple):
    """Many records of an owner packed into one row.

    That of slot 0 holds the keyed word hashes, kinds, times and neighbours of all active records
    and what sums up their vectors; it is derived from the rest (`muniment.segment.block`). Those of
    a model's slot hold vectors, each of which lies there alone while its row is empty
    (`muniment.segment.matrix`).

    Attributes:
        seq: The first record; of a slot's blocks, each reaches to where the next one begins.
        version: The owner's version at which it was packed.
        content: The records, packed.
        slot: The model's number, or 0.
    """

    seq: int
    version: int
    content: bytes
    slot: int = 0


class Filed(NamedTuple):
    """What the store knows about a source_id: the record's id, state and payload digest."""

    memory_id: str
    status: Status
    payload_digest: bytes
    embedding: EmbeddingState


@dataclass(frozen=True, slots=True)
class NewCandidate:
    """A candidate as the write gate hands it to the store; times as in `NewRecord`."""

    candidate_id: str
    statement: Statement
    content_hash: bytes
    payload_digest: bytes
    path: WritePath
    authority: Authority
    actor: str
    evidence: tuple[str, ...]
    findings: tuple[Finding, ...]
    contested: str | None
    created_at: int
    version: int = 1


class Usage(NamedTuple):
    """How often a record was used, and how.

    Attributes:
        considered: How often it was among the best of a recall.
        shown: How often it was put into a packet.
        shown_at: When last, microseconds since 1970, UTC; 0 when never.
        cited: How often an answer named it.
        corrected: How often it was corrected.
        helpful: How often it was rated helpful.
        unhelpful: How often it was rated unhelpful.
    """

    considered: int = 0
    shown: int = 0
    shown_at: int = 0
    cited: int = 0
    corrected: int = 0
    helpful: int = 0
    unhelpful: int = 0


class Proposed(NamedTuple):
    """What the store knows about a candidate's source_id."""

    candidate_id: str
    payload_digest: bytes


class Traces(NamedTuple):
    """Rows that belong to one record, by what they hold."""

    records: int
    words: int
    vectors: int


@dataclass(frozen=True, slots=True)
class NewTombstone:
    """A content-free mark against re-creation. Digests are keyed; they reveal no text."""

    memory_id: str
    source_digest: bytes
    value_digest: bytes
    reason: str
    created_at: int


class PendingText(NamedTuple):
    """A record that waits for a vector, and the memory_id of the one it follows, or None."""

    seq: int
    memory_id: str
    text: str
    follows: str | None
