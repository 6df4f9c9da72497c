"""What every back end shares: rows to records, and the links of the audit chain."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from hashlib import blake2b
from operator import itemgetter
from typing import Any

from muniment.clock import from_instant
from muniment.ports import OwnerState
from muniment.records import (
    AuditEntry,
    Authority,
    EmbeddingState,
    Record,
    Source,
    Statement,
    Status,
    WritePath,
    canonical_json,
)
from muniment.results import Candidate, CandidateStatus, Finding
from muniment.rules.filters import Facts
from muniment.scope import Owner, Scope, Space, SpaceType

Row = Sequence[Any]
_PATHS = {path.value: path for path in WritePath}
_AUTHORITIES = {int(authority): authority for authority in Authority}
_EMBEDDINGS = {state.value: state for state in EmbeddingState}
_STATUSES = {status.value: status for status in Status}
ARCHIVED = "archived"
"""What is stored of an expired record that its kind's policy keeps for exports."""


def owner_values(owner: Owner) -> dict[str, str]:
    """Return the columns that name an owner."""
    values = {"tenant_id": owner.tenant_id, "user_id": "", "agent_id": "", "space_id": ""}
    if isinstance(owner, Space):
        return {**values, "type": owner.type.value, "space_id": owner.space_id}
    return {**values, "type": "scope", "user_id": owner.user_id, "agent_id": owner.agent_id}


def to_owner(row: Row) -> OwnerState:
    """Return the owner of a row of `owners`."""
    tenant_id, kind, user_id, agent_id, space_id, owner_no, version, incarnation, label = row
    if kind == "scope":
        owner: Owner = Scope(tenant_id, user_id, agent_id)
    else:
        owner = Space(tenant_id, SpaceType(kind), space_id)
    return OwnerState(owner, owner_no, version, incarnation, label)


_RECORD = itemgetter(
    "memory_id", "seq", "kind", "status", "text", "field", "value", "source_id", "path",
    "authority", "actor", "approved_by", "evidence", "reference", "follows", "created_at",
    "valid_from", "valid_until", "expires_at", "metadata", "supersedes", "superseded_by",
    "embedding",
)  # fmt: skip
_CANDIDATE = itemgetter(
    "candidate_id", "seq", "status", "version", "statement", "content_hash", "path", "authority",
    "actor", "evidence", "findings", "contested", "created_at", "decided_at", "decided_by",
    "reason", "memory_id",
)  # fmt: skip


def to_record(row: Mapping[str, Any], owner: Owner, now: int) -> Record:
    """Return the record of a whole row of `records` by column, its status as of `now`."""
    (memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
     approved_by, evidence, reference, follows, created_at, valid_from, valid_until, expires_at,
     metadata, supersedes, superseded_by, embedding) = _RECORD(row)  # fmt: skip
    return Record(
        memory_id=memory_id,
        seq=seq,
        scope=owner,
        kind=kind,
        text=text,
        field=field,
        value=None if value is None else json.loads(value),
        source=Source(source_id, _PATHS[path]),
        authority=_AUTHORITIES[authority],
        actor=actor,
        approved_by=approved_by,
        evidence=() if evidence == "[]" else tuple(json.loads(evidence)),
        reference=reference,
        follows=follows,
        status=status_at(status, expires_at, now),
        created_at=from_instant(created_at),
        valid_from=None if valid_from is None else from_instant(valid_from),
        valid_until=None if valid_until is None else from_instant(valid_until),
        expires_at=None if expires_at is None else from_instant(expires_at),
        metadata={} if metadata == "{}" else json.loads(metadata),
        supersedes=supersedes,
        superseded_by=superseded_by,
        embedding=_EMBEDDINGS[embedding],
    )


def status_at(stored: str, expires_at: int | None, now: int) -> Status:
    """Return a record's status at an instant: at `expires_at` itself it is expired."""
    if stored == ARCHIVED or (expires_at is not None and expires_at <= now):
        return Status.EXPIRED
    return _STATUSES[stored]


def _moment(instant: int | None) -> datetime | None:
    return None if instant is None else from_instant(instant)


def statement_json(statement: Statement) -> str:
    """Return a candidate's statement as canonical JSON; what its content hash covers."""
    return canonical_json(statement.to_dict())


def to_statement(said: dict[str, Any]) -> Statement:
    """Return a statement from what `to_dict` wrote of it."""
    for name in ("expires_at", "valid_from", "valid_until"):
        said[name] = None if said[name] is None else datetime.fromisoformat(said[name])
    return Statement(**said)


def to_candidate(row: Mapping[str, Any], owner: Owner) -> Candidate:
    """Return the candidate of a whole row of `candidates` by column."""
    (candidate_id, seq, status, version, statement, content_hash, path, authority, actor,
     evidence, findings, contested, created_at, decided_at, decided_by, reason,
     memory_id) = _CANDIDATE(row)  # fmt: skip
    return Candidate(
        candidate_id=candidate_id,
        seq=seq,
        scope=owner,
        statement=to_statement(json.loads(statement)),
        status=CandidateStatus(status),
        version=version,
        content_hash=content_hash.hex(),
        path=WritePath(path),
        authority=Authority(authority),
        actor=actor,
        evidence=tuple(json.loads(evidence)),
        findings=tuple(Finding(**finding) for finding in json.loads(findings)),
        contested=contested,
        created_at=from_instant(created_at),
        decided_at=_moment(decided_at),
        decided_by=decided_by,
        reason=reason,
        memory_id=memory_id,
    )


def to_facts(row: Row) -> Facts:
    """Return the filterable facts of a row of `facts`."""
    (_, kind, field, value, source_id, actor, created_at, valid_from, valid_until, expires_at,
     metadata) = row  # fmt: skip
    return {
        "kind": kind,
        "field": field,
        "value": None if value is None else json.loads(value),
        "source_id": source_id,
        "actor": actor,
        "created_at": created_at,
        "valid_from": valid_from,
        "valid_until": valid_until,
        "expires_at": expires_at,
        "metadata": json.loads(metadata),
    }


def to_audit_entry(row: Row) -> AuditEntry:
    """Return the audit entry of a row of `audit_page`."""
    number, at, actor, action, memory_ids, reason, digest = row
    return AuditEntry(
        number=number,
        at=from_instant(at),
        actor=actor,
        action=action,
        memory_ids=tuple(json.loads(memory_ids)),
        reason=reason,
        digest=digest.hex(),
    )


def audit_digest(
    key: bytes,
    previous: bytes,
    *,
    tenant_id: str,
    owner_no: int,
    number: int,
    at: int,
    actor: str,
    action: str,
    memory_ids: Sequence[str],
    reason: str | None,
) -> bytes:
    """Return the next link of a scope's audit chain, 16 bytes.

    It is a keyed BLAKE2b over the previous link and everything the entry says, so that an entry
    cannot be changed, dropped, reordered or moved to another scope unnoticed without the key.
    """
    tenant, who, what = map(canonical_json, (tenant_id, actor, action))
    why = "null" if reason is None else canonical_json(reason)
    ids = texts_json(memory_ids)
    said = f"[{tenant},{owner_no},{number},{at},{who},{what},{ids},{why}]"
    return blake2b(previous + said.encode(), key=key, digest_size=16, person=b"audit").digest()


def texts_json(texts: Iterable[str]) -> str:
    """Return texts as the canonical JSON of a list, which starts no encoder of lists."""
    return f"[{','.join(map(canonical_json, texts))}]"
