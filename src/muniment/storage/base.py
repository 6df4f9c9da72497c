"""What every back end shares: rows to records, and the links of the audit chain."""

from __future__ import annotations

import json
from collections.abc import Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from muniment.clock import from_instant
from muniment.records import (
    AuditEntry,
    Authority,
    EmbeddingState,
    Record,
    Source,
    Status,
    WritePath,
    canonical_json,
)
from muniment.rules.filters import Facts

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.scope import Scope

Row = Sequence[Any]


def to_record(row: Row, scope: Scope, now: int) -> Record:
    """Return the record of a row of the `record_*` queries, its status as of `now`."""
    (memory_id, seq, kind, status, text, field, value, source_id, path, authority, actor,
     created_at, valid_from, valid_until, expires_at, metadata, supersedes, superseded_by,
     embedding) = row  # fmt: skip
    return Record(
        memory_id=memory_id,
        seq=seq,
        scope=scope,
        kind=kind,
        text=text,
        field=field,
        value=None if value is None else json.loads(value),
        source=Source(source_id, WritePath(path)),
        authority=Authority(authority),
        actor=actor,
        status=status_at(status, expires_at, now),
        created_at=from_instant(created_at),
        valid_from=_moment(valid_from),
        valid_until=_moment(valid_until),
        expires_at=_moment(expires_at),
        metadata=json.loads(metadata),
        supersedes=supersedes,
        superseded_by=superseded_by,
        embedding=EmbeddingState(embedding),
    )


def status_at(stored: str, expires_at: int | None, now: int) -> Status:
    """Return a record's status at an instant: at `expires_at` itself it is expired."""
    if stored == Status.ACTIVE and expires_at is not None and expires_at <= now:
        return Status.EXPIRED
    return Status(stored)


def _moment(instant: int | None) -> datetime | None:
    return None if instant is None else from_instant(instant)


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
    said = canonical_json(
        [tenant_id, owner_no, number, at, actor, action, list(memory_ids), reason]
    )
    return blake2b(previous + said.encode(), key=key, digest_size=16, person=b"audit").digest()
