"""Writes Portable AI Memory 1.0 (portable-ai-memory.org): records as one JSON document.

What the format has no place for is kept as text under `metadata`, in members that begin with
`muniment_`. Candidates, tombstones and the audit have no place at all.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from muniment.clock import from_instant, iso
from muniment.records import JSONValue, Record, Status, WritePath, canonical_json
from muniment.services.exchange.files import Source, writing
from muniment.transfers import ExportReport

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.scope import Scope

SCHEMA = "portable-ai-memory"
VERSION = "1.0"

_TYPES = {"preference": "preference", "verified_fact": "fact", "context": "context"}
_METHODS = {WritePath.REMEMBER: "explicit_user_input", WritePath.PROPOSE: "llm_inference",
            WritePath.DELEGATE: "llm_inference",
            WritePath.IMPORT: "api_export", WritePath.CORRECT: "explicit_user_input"}  # fmt: skip
_SPACE = re.compile(r"\s+")


def content_hash(text: str) -> str:
    """Return the format's content hash (specification 1.0, section 9.4).

    SHA-256 of the text trimmed, in lower case, in NFC, with runs of white space made one space.
    """
    folded = _SPACE.sub(" ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{sha256(folded.encode()).hexdigest()}"


def write_portable(kept: Sequence[Record], scope: Scope, target: Source, now: int) -> ExportReport:
    """Write the records of a scope as one document.

    Raises:
        InvalidInputError: The target cannot be written to.
    """
    ids = {record.memory_id for record in kept}
    memories = [_memory(record, ids) for record in kept]
    document: dict[str, JSONValue] = {
        "schema": SCHEMA,
        "schema_version": VERSION,
        "export_date": iso(from_instant(now)),
        "owner": {"id": scope.user_id},
        "memories": memories,
        "integrity": {
            "canonicalization": "RFC8785",
            "checksum": _checksum(memories),
            "total_memories": len(memories),
        },
    }
    text = canonical_json(document) + "\n"
    with writing(target) as write:
        write(text)
    return ExportReport(len(kept), 0, 0, 0, 0, 1, sha256(text.encode()).hexdigest())


def _checksum(memories: list[JSONValue]) -> str:
    """Return the checksum over all memories by id; all leaves are texts, so JSON is canonical."""
    ordered = sorted(memories, key=lambda one: str(one["id"]) if isinstance(one, dict) else "")
    return f"sha256:{sha256(canonical_json(ordered).encode()).hexdigest()}"


def _memory(record: Record, ids: set[str]) -> JSONValue:
    kind = _TYPES.get(record.kind, "custom")
    successor = record.superseded_by if record.superseded_by in ids else None
    times = {
        "created_at": iso(record.created_at),
        **_given("valid_from", _time(record.valid_from)),
        **_given("valid_until", _time(record.valid_until)),
        **_given("superseded_by", successor),
    }
    memory: dict[str, JSONValue] = {
        "id": record.memory_id,
        "type": kind,
        "status": _status(record, successor),
        "content": record.text,
        "content_hash": content_hash(record.text),
        "tags": [],
        "temporal": times,
        "provenance": {
            "platform": "muniment",
            **_given("extraction_method", _METHODS.get(record.source.path)),
        },
        "metadata": _labels(record),
    }
    return {**memory, "custom_type": record.kind} if kind == "custom" else memory


def _status(record: Record, successor: str | None) -> str:
    if record.status is Status.ACTIVE:
        return "active"
    return "superseded" if successor is not None else "archived"


def _labels(record: Record) -> dict[str, JSONValue]:
    value = None if record.value is None else canonical_json(record.value)
    return {
        "muniment_kind": record.kind,
        "muniment_source_id": record.source.source_id,
        "muniment_authority": record.authority.label,
        "muniment_metadata": canonical_json(record.metadata),
        **_given("muniment_field", record.field),
        **_given("muniment_value", value),
        **_given("muniment_reference", record.reference),
        **_given("muniment_expires_at", _time(record.expires_at)),
    }


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _given(name: str, value: str | None) -> dict[str, JSONValue]:
    return {} if value is None else {name: value}
