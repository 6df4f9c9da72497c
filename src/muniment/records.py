"""The vocabulary of memory as frozen values, and the one way they are written as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from dataclasses import field as attribute
from datetime import datetime
from enum import IntEnum, StrEnum
from typing import TypeAlias

from muniment.clock import iso
from muniment.errors import MunimentError
from muniment.scope import Owner

JSONValue: TypeAlias = (
    bool | int | float | str | list["JSONValue"] | Mapping[str, "JSONValue"] | None
)


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def canonical_json(value: JSONValue) -> str:
    """Return compact JSON with sorted keys, so that equal values are equal texts."""
    return _CANONICAL.encode(value)


def plain(value: object) -> JSONValue:
    """Return a value of the vocabulary as JSON values.

    Dataclasses become mappings by field, times ISO-8601 with `Z`, enums their names, tuples lists.
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return _plain_leaf(value)


def _plain_leaf(value: object) -> JSONValue:
    if isinstance(value, Authority):
        return value.label
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, MunimentError):
        return {"code": value.code, "message": str(value)}
    assert value is None or isinstance(value, bool | int | float | str)
    return value.value if isinstance(value, StrEnum) else value


class Plain:
    """A frozen value that can be written as JSON."""

    __slots__ = ()

    def to_dict(self) -> dict[str, JSONValue]:
        """Return the value as JSON values: fields by name, times ISO-8601 with `Z`."""
        written = plain(self)
        assert isinstance(written, dict)
        return written


class Family(StrEnum):
    """What a kind of statement is for."""

    SEMANTIC = "semantic"
    EPISODIC = "episodic"
    PROCEDURAL = "procedural"


class Authority(IntEnum):
    """Rank of a statement's source, set by the write path and never by a payload."""

    SUMMARY = 10
    INFERRED = 20
    VERIFIED_OUTCOME = 30
    DELEGATED = 35
    APPROVED_SHARED = 40
    EXPLICIT = 50
    SYSTEM_OF_RECORD = 60

    @property
    def label(self) -> str:
        """The authority's name in JSON and on screen."""
        return self.name.lower()


class WritePath(StrEnum):
    """The door through which a statement came in."""

    REMEMBER = "remember"
    DELEGATE = "delegate"
    OUTCOME = "record_outcome"
    PROPOSE = "propose"
    CORRECT = "correct"
    IMPORT = "import"


class Status(StrEnum):
    """Where a record stands. `expired` is derived from the time of the read.

    No read returns a `forgotten` record: its deletion is under way.
    """

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    EXPIRED = "expired"
    FORGOTTEN = "forgotten"


class EmbeddingState(StrEnum):
    """Whether a record can be found by meaning yet."""

    READY = "ready"
    PENDING = "pending"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Source(Plain):
    """Where a statement comes from.

    Attributes:
        source_id: The application's stable id of the source; the idempotency key in the scope.
        path: The door it came through.
    """

    source_id: str
    path: WritePath


@dataclass(frozen=True)
class Record(Plain):
    """An approved, durable statement with scope, source and lifetime.

    Attributes:
        memory_id: `mem_` and 32 hexadecimal digits, unique in the tenant.
        seq: Place in the order of writing within the scope, from 1.
        scope: Whose it is: a scope, or a space that it is shared in.
        kind: What sort of statement it is; a kind of the policy.
        text: The statement, trimmed.
        field: Name of the structured part, or None.
        value: The structured part, or None.
        source: Where it came from.
        authority: Rank of its source.
        actor: Who wrote it.
        approved_by: Who approved it in a review, or None.
        evidence: Ids of the events it rests on.
        reference: Where its system of record keeps the live value, or None.
        follows: memory_id of the record before it in its thread, whose text its embedding saw.
        status: active, superseded or expired, at the time of the read.
        created_at: When it was written, UTC.
        valid_from: From when it is true, or None.
        valid_until: Until when it is true (exclusive), or None.
        expires_at: When we stop keeping it, or None.
        metadata: The application's own labels.
        supersedes: memory_id of the record it replaced, or None.
        superseded_by: memory_id of the record that replaced it, or None.
        embedding: Whether it can be found by meaning yet.
    """

    memory_id: str
    seq: int
    scope: Owner
    kind: str
    text: str
    field: str | None
    value: JSONValue
    source: Source
    authority: Authority
    actor: str
    approved_by: str | None
    evidence: tuple[str, ...]
    reference: str | None
    follows: str | None
    status: Status
    created_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    expires_at: datetime | None
    metadata: Mapping[str, JSONValue]
    supersedes: str | None
    superseded_by: str | None
    embedding: EmbeddingState

    def copied(self, parts: Mapping[str, object]) -> Record:
        """Return the same record with some parts, by name, in the place of its own.

        A recall gives many away, so they are taken over in one piece and not one by one. A copy of
        the mapping, not a new one, shares its names with all other records.
        """
        twin = object.__new__(Record)
        held = self.__dict__.copy()
        held.update(parts)
        object.__setattr__(twin, "__dict__", held)
        return twin


@dataclass(frozen=True, slots=True)
class Statement(Plain):
    """One item for `remember_many`: the arguments of `remember` without the approval.

    Attributes:
        kind: A kind of the policy.
        text: The statement.
        source_id: The application's stable id of the source.
        field: Name of the structured part, or None.
        value: The structured part; needs a field.
        expires_at: When to stop keeping it; aware `datetime` or ISO-8601 text with an offset.
        valid_from: From when it is true.
        valid_until: Until when it is true.
        metadata: The application's own labels; JSON values.
        reference: Where its system of record keeps the live value, or None.
        follows: source_id of the statement before it in its thread. A short statement is embedded
            with the end of that one in front, so that "yes, on Friday" is found.
    """

    kind: str
    text: str
    source_id: str
    field: str | None = None
    value: JSONValue = None
    expires_at: datetime | str | None = None
    valid_from: datetime | str | None = None
    valid_until: datetime | str | None = None
    metadata: Mapping[str, JSONValue] = attribute(default_factory=dict)
    reference: str | None = None
    follows: str | None = None


@dataclass(frozen=True, slots=True)
class PacketItem(Plain):
    """One record that reached the packet.

    Attributes:
        record: The record.
        score: Relevance in [0, 1]; higher is better; never rises down the packet.
        contested: Whether a statement that contradicts it waits for review.
        live: What the record's system of record holds now; None when it was not asked or has none.
    """

    record: Record
    score: float
    contested: bool = False
    live: JSONValue = None


@dataclass(frozen=True, slots=True)
class Packet(Plain):
    """What a model receives: chosen records as quoted, untrusted data within a fixed budget.

    Attributes:
        items: The chosen records, best first.
        text: The rendered packet, ready for a prompt.
        tokens: Size of `text` by the token counter in use.
    """

    items: tuple[PacketItem, ...]
    text: str
    tokens: int

    def __iter__(self) -> Iterator[PacketItem]:
        """Iterate over the items, best first."""
        return iter(self.items)

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.items)

    def __str__(self) -> str:
        """Return the rendered packet."""
        return self.text


@dataclass(frozen=True, slots=True)
class Page(Plain):
    """One page of a list, newest first.

    Attributes:
        records: The records of this page.
        cursor: Pass it to the next call; None on the last page.
    """

    records: tuple[Record, ...]
    cursor: str | None

    def __iter__(self) -> Iterator[Record]:
        """Iterate over the records of this page."""
        return iter(self.records)

    def __len__(self) -> int:
        """Return the number of records on this page."""
        return len(self.records)


@dataclass(frozen=True, slots=True)
class AuditEntry(Plain):
    """Who did what to which record, and when. Holds no text.

    Attributes:
        number: Place in the scope's chain, from 1.
        at: When, UTC.
        actor: Who did it.
        action: What was done, such as `remember`, `forget` or `used`.
        memory_ids: The records concerned.
        reason: A code for why, or None.
        digest: Hexadecimal link of the hash chain: covers this entry and the digest before it.
    """

    number: int
    at: datetime
    actor: str
    action: str
    memory_ids: tuple[str, ...]
    reason: str | None
    digest: str
