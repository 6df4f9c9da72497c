"""Reads Portable AI Memory 1.0 (portable-ai-memory.org): one JSON document of memories."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from muniment.errors import ImportFileError, InvalidInputError
from muniment.records import JSONValue, Statement
from muniment.services.exchange.files import Source, object_of, read_document
from muniment.services.exchange.origins.base import (
    Found,
    Options,
    Row,
    Tables,
    each,
    imported,
    instant_of,
    items_of,
    maybe_text,
    moment_of,
    source_id,
    text_of,
)
from muniment.services.exchange.portable import SCHEMA, VERSION, content_hash

_KINDS = {
    "fact": "verified_fact",
    "identity": "verified_fact",
    "relationship": "verified_fact",
    "environment": "verified_fact",
    "preference": "preference",
    "context": "context",
    "project": "context",
    "goal": "context",
    "skill": "procedure",
    "instruction": "procedure",
}


def read_pam(source: Source, options: Options, _: Tables) -> Iterator[Found]:
    """Yield the memories of a document; those that are not active are left out.

    Raises:
        ImportFileError: It is not a document of version 1.
    """
    document = object_of(read_document(source), 1)
    if document.get("schema") != SCHEMA or not str(document.get("schema_version")).startswith(
        VERSION.partition(".")[0] + "."
    ):
        raise ImportFileError(f"The document is not {SCHEMA} {VERSION}.", 1)
    owner = text_of(object_of(document.get("owner"), 1), "id")
    rows = [
        (place, {**item, "_owner": owner} if isinstance(item, Mapping) else item)
        for place, item in items_of(document, "memories")
    ]
    yield from each(rows, _memory, options)


def _memory(line: int, row: Row, options: Options) -> Found:
    item_id, text = text_of(row, "id"), text_of(row, "content")
    if row.get("content_hash") != content_hash(text):
        raise InvalidInputError("content_hash does not match the content; it was changed.")
    times = object_of(row.get("temporal"), line)
    ours = row.get("metadata") if isinstance(row.get("metadata"), Mapping) else {}
    assert isinstance(ours, Mapping)
    expires = ours.get("muniment_expires_at")
    return Found(
        line=line,
        item_id=item_id,
        statement=Statement(
            kind=_kind(row, ours, options),
            text=text,
            source_id=maybe_text(ours, "muniment_source_id") or source_id("pam", item_id, text),
            field=maybe_text(ours, "muniment_field"),
            value=_json(ours, "muniment_value"),
            expires_at=moment_of("expires_at", expires, options),
            valid_from=moment_of("valid_from", times.get("valid_from"), options),
            valid_until=moment_of("valid_until", times.get("valid_until"), options),
            metadata=_labels(row, ours),
            reference=maybe_text(ours, "muniment_reference"),
        ),
        user_id=str(row["_owner"]),
        made_at=instant_of("created_at", times.get("created_at"), options),
        reason=None if row.get("status", "active") == "active" else "inactive",
    )


def _kind(row: Row, ours: Mapping[str, Any], options: Options) -> str:
    named = (ours.get("muniment_kind"), row.get("custom_type"), _KINDS.get(str(row.get("type"))))
    return next((one for one in named if isinstance(one, str) and options.is_kind(one)),
                options.kind)  # fmt: skip


def _labels(row: Row, ours: Mapping[str, Any]) -> dict[str, JSONValue]:
    if "muniment_metadata" in ours:
        found = _json(ours, "muniment_metadata")
        if not isinstance(found, dict):
            raise InvalidInputError("muniment_metadata must be an object, written as JSON.")
        return found
    return imported(row, "id", "type", "tags", "summary", "provenance", "confidence")


def _json(ours: Mapping[str, Any], name: str) -> JSONValue:
    text = maybe_text(ours, name)
    try:
        found: JSONValue = None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInputError(f"{name} is not JSON.") from None
    return found
