"""What a deletion takes, and the steps it goes through. Decisions only; nothing is deleted here."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from muniment.errors import InvalidInputError
from muniment.rules.filters import Condition, Facts, facts_of, parse_filters, passes
from muniment.rules.statement import MAX_NAME, checked_text

if TYPE_CHECKING:
    from muniment.records import Record
    from muniment.results import Candidate
    from muniment.rules.kinds import Policy

THREADS = ("threads", "events", "checkpoints", "summaries", "items")
"""The surfaces of what lies in threads, and of the threads themselves."""

MEANINGS = {
    "records": "statements",
    "words": "keyed hashes of their words",
    "vectors": "their embeddings",
    "contexts": "embeddings of other records that saw their text, made anew without it",
    "blocks": "packed word hashes of the whole scope, built anew without theirs",
    "candidates": "what was proposed and came from, rested on or said the same",
}
"""What each surface of records holds."""

SURFACES = (*MEANINGS, *THREADS)
"""Every surface that a trace of what is forgotten can be on, in the order of a receipt."""


class Target(StrEnum):
    """What was asked to be forgotten."""

    RECORD = "record"
    RETRACTION = "retraction"
    SELECTION = "selection"
    THREAD = "thread"
    SCOPE = "scope"
    USER = "user"
    AGENT = "agent"
    TENANT = "tenant"
    EXPIRY = "expiry"
    DISUSE = "disuse"


class Step(StrEnum):
    """How far a deletion has come. Each step is repeated as a whole when it was interrupted."""

    REQUESTED = "requested"
    HIDDEN = "hidden"
    DERIVED = "derived"
    SHREDDED = "shredded"
    COMPACTED = "compacted"
    VERIFIED = "verified"


class Waiting(StrEnum):
    """Why a deletion is not finished yet."""

    COMPACTION = "compaction"
    READER = "reader"
    RESIDUE = "residue"


@dataclass(frozen=True, slots=True)
class Origin:
    """A thread, its events, and the records that rest on them.

    Attributes:
        thread_id: The application's id of the thread.
        ids: Ids of its events and of those records.
    """

    thread_id: str
    ids: frozenset[str]

    def made(self, source_id: str, evidence: Collection[str]) -> bool:
        """Return whether something with this source and evidence was derived from it."""
        return (
            source_id == self.thread_id
            or source_id in self.ids
            or source_id.startswith(tuple(self.thread_id + mark for mark in ":/#"))
            or self.thread_id in evidence
            or not self.ids.isdisjoint(evidence)
        )


@dataclass(frozen=True, slots=True)
class Selection:
    """Which records and candidates of one owner a deletion takes; all conditions must hold.

    Attributes:
        memory_id: One record, or None.
        kinds: Names of kinds after aliases are resolved, or None for all.
        conditions: Conditions on fields and metadata.
        source_id: The exact source_id, or None.
        source_prefix: What the source_id starts with, character by character, or None.
        event_id: An id among the evidence, or None.
        origin: What it was derived from, or None.
    """

    memory_id: str | None = None
    kinds: frozenset[str] | None = None
    conditions: tuple[Condition, ...] = ()
    source_id: str | None = None
    source_prefix: str | None = None
    event_id: str | None = None
    origin: Origin | None = None

    def takes(self, record: Record) -> bool:
        """Return whether a record is one of those to forget."""
        if self.memory_id is not None:
            return record.memory_id == self.memory_id
        return self._fits(facts_of(record), record.evidence)

    def takes_candidate(self, candidate: Candidate) -> bool:
        """Return whether a candidate is itself one of those to forget."""
        if self.memory_id is not None:
            return False
        return self._fits(_facts_of(candidate), candidate.evidence)

    def _fits(self, facts: Facts, evidence: Collection[str]) -> bool:
        source = facts["source_id"]
        return (
            (self.kinds is None or facts["kind"] in self.kinds)
            and (self.source_id is None or source == self.source_id)
            and (self.source_prefix is None or source.startswith(self.source_prefix))
            and (self.event_id is None or self.event_id in evidence)
            and (self.origin is None or self.origin.made(str(source), evidence))
            and passes(facts, self.conditions)
        )


def parse_selection(
    policy: Policy,
    *,
    kinds: Collection[str] | None,
    filters: Mapping[str, Any] | None,
    source_id: str | None,
    source_prefix: str | None,
    event_id: str | None,
) -> Selection:
    """Turn a caller's conditions into a selection. No condition never means everything.

    Raises:
        InvalidInputError: No condition was given, or one is blank or malformed.
        FilterError: A name, operator or operand is not allowed.
        UnknownKindError: The policy has no such kind.
    """
    conditions = parse_filters(filters)
    named = {"source_id": source_id, "source_prefix": source_prefix, "event_id": event_id}
    given = {name: _exact(name, part) for name, part in named.items()}
    if kinds is None and not conditions and not any(given.values()):
        raise InvalidInputError(
            "forget_where needs a condition: kinds, filters, source_id, source_prefix or event_id. "
            "Use forget_all to forget everything of this scope."
        )
    names = None if kinds is None else policy.names(kinds)
    return Selection(
        kinds=names,
        conditions=conditions,
        source_id=given["source_id"],
        source_prefix=given["source_prefix"],
        event_id=given["event_id"],
    )


def _exact(name: str, value: str | None) -> str | None:
    """Return a part as it was given; surrounding white space is a mistake, not a match."""
    if value is None:
        return None
    if name != "source_prefix" and value == "*":
        raise InvalidInputError(f"{name} must name exactly one {name}; '*' is not a wildcard here.")
    checked = checked_text(name, value, MAX_NAME)
    return value if name == "source_prefix" else checked


def _facts_of(candidate: Candidate) -> Facts:
    from muniment.clock import to_instant

    said = candidate.statement
    moments = {
        "created_at": candidate.created_at,
        "valid_from": said.valid_from,
        "valid_until": said.valid_until,
        "expires_at": said.expires_at,
    }
    return {
        "kind": said.kind,
        "field": said.field,
        "value": said.value,
        "source_id": said.source_id,
        "actor": candidate.actor,
        "metadata": said.metadata,
        **{name: None if at is None else to_instant(name, at) for name, at in moments.items()},
    }


@dataclass(frozen=True, slots=True)
class Gone:
    """What identifies the records that are to be forgotten.

    Attributes:
        memory_ids: Their ids.
        source_ids: Their source_ids.
        values: Keyed digests of what they say.
    """

    memory_ids: frozenset[str]
    source_ids: frozenset[str]
    values: frozenset[bytes]


def goes_with(candidate: Candidate, values: Collection[bytes], gone: Gone) -> bool:
    """Return whether a candidate carries what a forgotten record said.

    It does when it became the record, shares its source, rests on it, or says the same. One that
    only contradicts the record is another statement, and stays.

    Args:
        candidate: The candidate.
        values: Keyed digests of what it says.
        gone: The records.
    """
    return (
        candidate.memory_id in gone.memory_ids
        or candidate.statement.source_id in gone.source_ids
        or not gone.memory_ids.isdisjoint(candidate.evidence)
        or not gone.values.isdisjoint(values)
    )
