"""Reads memory that was written out as JSON: documents of a search index, and mem0's."""

from __future__ import annotations

from collections.abc import Iterator

from muniment.records import Statement
from muniment.services.exchange.files import Source, read_document
from muniment.services.exchange.origins.base import (
    Found,
    Options,
    Row,
    Tables,
    each,
    imported,
    instant_of,
    items_of,
    labels_of,
    maybe_text,
    source_id,
    text_of,
)


def read_documents(source: Source, options: Options, _: Tables) -> Iterator[Found]:
    """Yield the documents of a memory index: a JSON list, or an object with `value`."""
    yield from each(items_of(read_document(source), "value", "documents"), _document, options)


def _document(line: int, row: Row, options: Options) -> Found:
    item_id, text = text_of(row, "id"), text_of(row, "content")
    about = imported(row, "id", "created_at", "access_count", "last_accessed")
    return Found(
        line=line,
        item_id=item_id,
        statement=Statement(
            kind=maybe_text(row, "memory_type") or options.kind,
            text=text,
            source_id=source_id("documents", item_id, text),
            metadata=labels_of(row, "metadata") | about,
        ),
        user_id=text_of(row, "user_id"),
        made_at=instant_of("created_at", row.get("created_at"), options),
    )


def read_mem0(source: Source, options: Options, _: Tables) -> Iterator[Found]:
    """Yield the items of a mem0 export: a JSON list, or an object with `results`."""
    yield from each(items_of(read_document(source), "results", "memories"), _mem0, options)


def _mem0(line: int, row: Row, options: Options) -> Found:
    item_id, text = text_of(row, "id"), text_of(row, "memory")
    about = imported(row, "id", "created_at", "updated_at", "run_id", "categories")
    return Found(
        line=line,
        item_id=item_id,
        statement=Statement(
            kind=options.kind,
            text=text,
            source_id=source_id("mem0", item_id, text),
            metadata=labels_of(row, "metadata") | about,
        ),
        user_id=maybe_text(row, "user_id"),
        agent_id=maybe_text(row, "agent_id"),
        made_at=instant_of("created_at", row.get("created_at"), options),
    )
