"""What every reader of another system's memory shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, TypeAlias

from muniment.clock import from_instant, to_instant
from muniment.errors import ImportFileError, InvalidInputError, MunimentError
from muniment.records import JSONValue, Statement, canonical_json
from muniment.services.exchange.files import Source, object_of

_MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Options:
    """What the operator says about a source.

    Attributes:
        kind: The kind of items that name none.
        assume_utc: Whether a time without an offset is UTC.
        namespace: The part of a source with namespaces that is wanted.
        now: The present instant, microseconds since 1970, UTC.
        is_kind: Tells whether the policy has a kind.
    """

    kind: str
    assume_utc: bool
    namespace: tuple[str, ...]
    now: int
    is_kind: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Found:
    """One row or item of another system.

    Attributes:
        line: Its place, from 1.
        item_id: Its id there, or None.
        statement: What it says, or None when it is left out.
        tenant_id: Whose it is, as far as the source says.
        user_id: Whose it is, as far as the source says.
        agent_id: Whose it is, as far as the source says.
        made_at: When it was made, microseconds since 1970, UTC, or None.
        reason: Why it is left out and needs nobody's attention, or None.
        problem: Why it cannot be taken in, or None.
    """

    line: int
    item_id: str | None
    statement: Statement | None = None
    tenant_id: str | None = None
    user_id: str | None = None
    agent_id: str | None = None
    made_at: int | None = None
    reason: str | None = None
    problem: MunimentError | None = None


Row: TypeAlias = Mapping[str, Any]
ReadRow: TypeAlias = Callable[[int, Row, Options], Found]
Tables: TypeAlias = Callable[[Any, tuple[str, ...]], Mapping[str, list[Row]]]
Read: TypeAlias = Callable[[Source, Options, Tables], Iterator[Found]]


@dataclass(frozen=True, slots=True)
class Origin:
    """A system whose memory can be taken in.

    Attributes:
        read: Reads a source.
        inferred: Whether nobody approved what it holds.
        names_user: Whether each item says whose it is.
    """

    read: Read
    inferred: bool
    names_user: bool


def each(rows: Iterable[tuple[int, object]], read: ReadRow, options: Options) -> Iterator[Found]:
    """Yield what every row says; a row that is wrong is found with its problem."""
    for line, row in rows:
        try:
            yield read(line, object_of(row, line), options)
        except InvalidInputError as error:
            yield Found(line, _id_of(row), problem=error)


def _id_of(row: object) -> str | None:
    found = row.get("id") if isinstance(row, Mapping) else None
    return found if isinstance(found, str) else None


def text_of(row: Row, name: str) -> str:
    """Return a member that must be a text with something in it.

    Raises:
        InvalidInputError: It is not.
    """
    value = row.get(name)
    if not isinstance(value, str) or not value.strip():
        raise InvalidInputError(f"{name} must be a text that is not blank.")
    return value


def maybe_text(row: Row, name: str) -> str | None:
    """Return a member that may be a text, or None when it is missing or blank.

    Raises:
        InvalidInputError: It is something else.
    """
    value = row.get(name)
    return None if value is None or value == "" else text_of(row, name)


def instant_of(name: str, value: object, options: Options) -> int | None:
    """Return a time as microseconds since 1970, UTC, or None.

    Args:
        name: The member's name, for the error.
        value: None, ISO-8601 text, or seconds since 1970.
        options: Whether a time without an offset is UTC.

    Raises:
        InvalidInputError: It is malformed, or has no offset and none may be assumed.
    """
    if value is None or value == "":
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return to_instant(name, from_instant(round(value * _MICROSECONDS)))
        except (OverflowError, ValueError):
            raise InvalidInputError(f"{name} is not a time.") from None
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be ISO-8601 text or seconds since 1970.")
    return to_instant(name, _with_offset(value) if options.assume_utc else value)


def _with_offset(value: str) -> datetime | str:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return value
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def moment_of(name: str, value: object, options: Options) -> datetime | None:
    """Return a time as an aware `datetime`, or None; as `instant_of` does."""
    instant = instant_of(name, value, options)
    return None if instant is None else from_instant(instant)


def source_id(origin: str, *parts: str) -> str:
    """Return a source_id that is the same for the same item with the same words."""
    said = canonical_json(list(parts))
    return f"{origin}:{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"


def labels_of(row: Row, name: str) -> dict[str, JSONValue]:
    """Return a member that holds labels: an object, or one written as JSON text.

    Raises:
        InvalidInputError: It is neither.
    """
    value = row.get(name)
    if isinstance(value, str) and value.strip():
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise InvalidInputError(f"{name} is not JSON.") from None
    if value is None or value == "":
        return {}
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be an object.")
    return {str(key): item for key, item in value.items()}


def imported(row: Row, *names: str) -> dict[str, JSONValue]:
    """Return what an item said of itself, as a label of the statement."""
    kept = {name: row[name] for name in names if row.get(name) is not None}
    return {"imported": kept} if kept else {}


def items_of(document: object, *names: str) -> list[tuple[int, object]]:
    """Return the items of a JSON document: a list, or an object that holds one.

    Raises:
        ImportFileError: It holds no list.
    """
    found = document
    if isinstance(document, Mapping):
        found = next((document[name] for name in names if name in document), None)
    if not isinstance(found, list):
        raise ImportFileError(f"A list was expected, or an object with {' or '.join(names)}.", 1)
    return list(enumerate(found, start=1))
