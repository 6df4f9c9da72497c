"""Threads and what lies in them as lines of an export, and back."""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muniment.clock import from_instant, iso, to_instant
from muniment.ports import EntryRow, ThreadRow
from muniment.records import JSONValue, plain
from muniment.services.threads.places import packed, unpacked, unpacked_object

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.scope import Owner
    from muniment.services.exchange.fields import Fields

_READABLE = ("event", "effect", "item", "summary")
"""The sorts whose content is JSON; that of the others is base64."""

_SORTS = (*_READABLE, "checkpoint", "write")


@dataclass(frozen=True, slots=True)
class PlacedEntry:
    """An entry of a thread that is named by its type and id.

    Attributes:
        type: The thread's type.
        thread_id: The thread's id.
        row: The entry; its own seq and that of the thread mean nothing.
    """

    type: str
    thread_id: str
    row: EntryRow


def thread_line(owner: Owner, row: ThreadRow) -> dict[str, JSONValue]:
    """Return the line of a thread."""
    return {
        "type": "thread",
        "scope": plain(owner),
        "thread_type": row.type,
        "thread_id": row.name,
        "version": row.version,
        "last_number": row.last_number,
        "content": unpacked(row.content),
        "created_at": _moment(row.created_at),
        "changed_at": _moment(row.changed_at),
        "expires_at": _moment(row.expires_at),
    }


def entry_line(owner: Owner, thread: ThreadRow, row: EntryRow) -> dict[str, JSONValue]:
    """Return the line of what lies in a thread; the vectors of an item are derived."""
    readable = row.sort in _READABLE
    label = row.label if row.sort != "item" else b""
    octets = base64.b64encode(row.content).decode("ascii")
    return {
        "type": "entry",
        "scope": plain(owner),
        "thread_type": thread.type,
        "thread_id": thread.name,
        "sort": row.sort,
        "number": row.number,
        "name": row.name,
        "folder": row.folder,
        "label": unpacked(label) if label else None,
        "content": unpacked(row.content) if readable else octets,
        "created_at": _moment(row.created_at),
        "changed_at": _moment(row.changed_at),
        "idle": row.idle,
        "expires_at": _moment(row.expires_at),
        "ends_at": _moment(row.ends_at),
    }


def _moment(instant: int | None) -> str | None:
    return None if instant is None else iso(from_instant(instant))


def _instant(moment: datetime | None) -> int | None:
    return None if moment is None else to_instant("at", moment)


def read_thread(fields: Fields, _: Owner) -> ThreadRow:
    """Return the thread of a line.

    Raises:
        ImportFileError: A member is missing or malformed.
    """
    return ThreadRow(
        seq=0,
        type=fields.text("thread_type"),
        name=fields.text("thread_id"),
        version=fields.number("version"),
        last_number=fields.number("last_number"),
        content=packed("content", dict(fields.mapping("content"))),
        created_at=to_instant("created_at", fields.moment("created_at")),
        changed_at=to_instant("changed_at", fields.moment("changed_at")),
        expires_at=_instant(fields.maybe_moment("expires_at")),
    )


def read_entry(fields: Fields, _: Owner) -> PlacedEntry:
    """Return the entry of a line.

    Raises:
        ImportFileError: A member is missing or malformed.
    """
    sort, label = fields.text("sort"), fields.take("label")
    if sort not in _SORTS:
        fields.wrong("sort", f"one of {', '.join(_SORTS)}")
    row = EntryRow(
        seq=0,
        thread=0,
        sort=sort,
        number=fields.number("number"),
        name=fields.text("name"),
        folder=fields.text("folder"),
        label=b"" if label is None else packed("label", label),
        content=_content(fields, sort),
        created_at=to_instant("created_at", fields.moment("created_at")),
        changed_at=to_instant("changed_at", fields.moment("changed_at")),
        idle=fields.maybe_number("idle"),
        expires_at=_instant(fields.maybe_moment("expires_at")),
        ends_at=_instant(fields.maybe_moment("ends_at")),
    )
    _check_shape(fields, row)
    return PlacedEntry(fields.text("thread_type"), fields.text("thread_id"), row)


def _content(fields: Fields, sort: str) -> bytes:
    if sort in _READABLE:
        return packed("content", fields.take("content"))
    try:
        return base64.b64decode(fields.text("content"), validate=True)
    except binascii.Error:
        fields.wrong("content", "base64")


def _check_shape(fields: Fields, row: EntryRow) -> None:
    """Refuse what the readers of its sort could not read."""
    if not row.name:
        fields.wrong("name", "given")
    try:
        _read_by_sort(row)
    except (ValueError, TypeError, KeyError, AssertionError):
        fields.wrong("label", f"as a {row.sort} has it")


def _read_by_sort(row: EntryRow) -> None:
    from muniment.services.threads.items import item_of
    from muniment.services.threads.summaries import summary_of
    from muniment.services.threads.workflows import effect_of

    readers = {"item": item_of, "effect": effect_of, "summary": summary_of}
    if row.sort in readers:
        readers[row.sort](row)
    elif row.sort == "checkpoint":
        namespace, checkpoint_id = json.loads(row.name)
        said = unpacked_object(row.label)
        named = {"metadata", "parent_id", "run_id", "type"}
        if (type(namespace), type(checkpoint_id)) != (str, str) or set(said) != named:
            raise ValueError
    elif row.sort == "write":
        task_path, task_id, index, channel, kind = json.loads(row.label)
        if [type(one) for one in (task_path, task_id, index, channel, kind)] != [
            str, str, int, str, str,
        ]:  # fmt: skip
            raise ValueError
