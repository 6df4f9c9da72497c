"""Reads the items of a LangGraph store, written out as JSON or in its SQLite table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from muniment.errors import InvalidInputError
from muniment.records import JSONValue, Statement, canonical_json
from muniment.services.exchange.files import Source, is_sqlite, read_document
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
    moment_of,
    source_id,
    text_of,
)

_TEXTS = ("text", "content", "memory", "data", "fact")


def read_store(source: Source, options: Options, tables: Tables) -> Iterator[Found]:
    """Yield the items of a store; those outside the wanted namespace are left out.

    Raises:
        InvalidInputError: No namespace was given, or the database has no table `store`.
    """
    if not options.namespace:
        raise InvalidInputError("namespace is required: which namespace is this scope's?")
    if not is_sqlite(source):
        yield from each(items_of(read_document(source), "items"), _item, options)
        return
    assert isinstance(source, Path)
    rows = tables(source, ("store",)).get("store")
    if rows is None:
        raise InvalidInputError("The database has no table store.")
    in_utc = replace(options, assume_utc=True)
    yield from each(enumerate(rows, start=1), _row, in_utc)


def _row(line: int, row: Row, options: Options) -> Found:
    item = {**row, "namespace": text_of(row, "prefix").split("."), "value": labels_of(row, "value")}
    return _item(line, item, options)


def _item(line: int, row: Row, options: Options) -> Found:
    namespace, key, value = row.get("namespace"), text_of(row, "key"), row.get("value")
    if not isinstance(namespace, list | tuple) or not isinstance(value, Mapping):
        raise InvalidInputError("An item needs a namespace that is a list and a value.")
    if tuple(namespace[: len(options.namespace)]) != options.namespace:
        return Found(line, None, reason="other_scope")
    expires = moment_of("expires_at", row.get("expires_at"), options)
    gone = instant_of("expires_at", row.get("expires_at"), options)
    text, rest = _said(value)
    about = imported({**row, "namespace": list(namespace)}, "namespace", "key", "created_at",
                     "updated_at")  # fmt: skip
    return Found(
        line=line,
        item_id=key,
        statement=Statement(
            kind=options.kind,
            text=text,
            source_id=source_id("langgraph", *map(str, namespace), key, canonical_json(value)),
            expires_at=expires,
            metadata=rest | about,
        ),
        made_at=instant_of("created_at", row.get("created_at"), options),
        reason="inactive" if gone is not None and gone <= options.now else None,
    )


def _said(value: Mapping[str, Any]) -> tuple[str, dict[str, JSONValue]]:
    """Return the text of a value and what else it holds; all of it as JSON when it has no text."""
    for name in _TEXTS:
        said = value.get(name)
        if isinstance(said, str) and said.strip():
            rest = {key: item for key, item in value.items() if key != name}
            return said, {"value": rest} if rest else {}
    return canonical_json(value), {}
