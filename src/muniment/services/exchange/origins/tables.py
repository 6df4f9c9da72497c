"""Reads the tables that applications kept their agents' memory in themselves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from muniment.clock import from_instant
from muniment.errors import ConflictError, InvalidInputError
from muniment.records import Statement
from muniment.services.exchange.files import Source
from muniment.services.exchange.origins.base import (
    Found,
    Options,
    Row,
    Tables,
    each,
    instant_of,
    source_id,
    text_of,
)

DURABLE = ("durable_memory_v2", "durable_memory")


def read_durable(source: Source, options: Options, tables: Tables) -> Iterator[Found]:
    """Yield the rows of both durable memory tables, each source_id of a scope once.

    Of several rows with one source_id the newest counts, and the newer table before the older.
    """
    rows = _rows(source, DURABLE, tables)
    places = list(enumerate((row for name in DURABLE for row in rows.get(name, ())), start=1))
    newer = len(rows.get(DURABLE[0], ()))
    yield from _once(list(each(places, _durable, options)), newer)


def _durable(line: int, row: Row, options: Options) -> Found:
    expires = instant_of("expires_at", row.get("expires_at_epoch", row.get("expires_at")), options)
    gone = expires is not None and expires <= options.now
    return Found(
        line=line,
        item_id=str(row.get("id")),
        statement=Statement(
            kind=text_of(row, "kind"),
            text=text_of(row, "text").strip(),
            source_id=text_of(row, "source_id").strip(),
            expires_at=None if expires is None else from_instant(expires),
        ),
        tenant_id=text_of(row, "tenant_id"),
        user_id=text_of(row, "user_id"),
        agent_id=text_of(row, "agent_id"),
        made_at=instant_of("created_at", row.get("created_at"), options),
        reason="inactive" if gone else None,
    )


def _once(found: list[Found], newer: int) -> Iterator[Found]:
    """Yield every row; one that another stands for says so. The first `newer` are of that table."""

    def rank(one: Found) -> tuple[bool, int]:
        return one.line <= newer, one.made_at or 0

    chosen: dict[tuple[str | None, ...], Found] = {}
    for one in found:
        if one.statement is not None and one.reason is None:
            kept = chosen.get(_key(one))
            if kept is None or rank(one) > rank(kept):
                chosen[_key(one)] = one
    for one in found:
        kept = chosen.get(_key(one)) if one.statement is not None else one
        if kept is None or kept is one or one.reason is not None:
            yield one
        elif kept.statement == one.statement:
            yield replace(one, reason="duplicate")
        else:
            yield replace(
                one, problem=ConflictError("A newer row has the same source_id and other words.")
            )


def _key(one: Found) -> tuple[str | None, ...]:
    assert one.statement is not None
    return (one.tenant_id, one.user_id, one.agent_id, one.statement.source_id)


def read_memories(source: Source, options: Options, tables: Tables) -> Iterator[Found]:
    """Yield the facts of a table of users, keys and values."""
    rows = _rows(source, ("memories",), tables)["memories"]
    yield from each(enumerate(rows, start=1), _fact, options)


def _fact(line: int, row: Row, options: Options) -> Found:
    user_id, key, value = (text_of(row, name) for name in ("user_id", "key", "value"))
    return Found(
        line=line,
        item_id=key,
        statement=Statement(
            kind=options.kind,
            text=f"{key}: {value}",
            source_id=source_id("memories", key, value),
            field=key,
            value=value,
        ),
        user_id=user_id,
    )


def _rows(source: Source, names: tuple[str, ...], tables: Tables) -> dict[str, list[Row]]:
    if not isinstance(source, Path):
        raise InvalidInputError("A database is imported by its path.")
    found = dict(tables(source, names))
    if not found:
        raise InvalidInputError(f"The database has no table {' or '.join(names)}.")
    return found
