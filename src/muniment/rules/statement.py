"""What a well-formed statement is: one validator for every write path."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from muniment.clock import to_instant
from muniment.errors import InvalidInputError
from muniment.records import JSONValue, Record, Statement, canonical_json
from muniment.rules.text import normalise

if TYPE_CHECKING:
    from datetime import datetime

    from muniment.rules.kinds import KindRule, Policy

MAX_TEXT = 100_000
MAX_NAME = 256
MAX_METADATA = 16_384
MAX_VALUE = 16_384
MAX_DEPTH = 16
MAX_BITS = 1024

_UNSEEN = ("Cc", "Cf", "Zl", "Zp", "Zs")
_WORD_GAP = re.compile(r"(?<=[^\W_])[ _-]+(?=[^\W_])")


class Checked(NamedTuple):
    """A statement after validation; instants are microseconds since 1970, UTC.

    Attributes:
        rule: The rule of its kind.
        text: The statement, trimmed.
        field: Name of the structured part, trimmed, or None.
        field_key: The name under which at most one record may be active, or None.
        value: The structured part, or None.
        source_id: The idempotency key, trimmed.
        expires_at: Expiry with the kind's lifetime applied, or None.
        valid_from: From when it is true, or None.
        valid_until: Until when it is true, or None.
        metadata: The application's own labels.
        reference: Where its system of record keeps the live value, or None.
        follows: source_id of the statement before it in its thread, or None.
        payload: Canonical JSON of what the caller gave; equal payloads are the same statement.
    """

    rule: KindRule
    text: str
    field: str | None
    field_key: str | None
    value: JSONValue
    source_id: str
    expires_at: int | None
    valid_from: int | None
    valid_until: int | None
    metadata: Mapping[str, JSONValue]
    reference: str | None
    follows: str | None
    payload: str


def check(statement: Statement, policy: Policy, now: int) -> Checked:
    """Validate a statement against the policy.

    Args:
        statement: What the caller wants remembered.
        policy: The kinds that exist.
        now: The present instant, microseconds since 1970, UTC.

    Raises:
        InvalidInputError: Something is missing, malformed or too long. Says which and what to do.
    """
    if not isinstance(statement, Statement):
        raise InvalidInputError(f"A statement must be a Statement, not {type(statement).__name__}.")
    rule = policy.rule(statement.kind)
    text = checked_text("text", statement.text, MAX_TEXT)
    source_id = checked_text("source_id", statement.source_id, MAX_NAME)
    field = _optional("field", statement.field)
    if statement.value is not None and field is None:
        raise InvalidInputError("value needs a field; name what the value is the value of.")
    value = checked_json("value", statement.value)
    reference = _optional("reference", statement.reference)
    follows = _optional("follows", statement.follows)
    _refuse_long("value", value, MAX_VALUE)
    metadata = _checked_metadata(statement.metadata)
    expires_at, valid_from, valid_until = given = _times(statement)
    _check_required(rule, statement.expires_at, metadata)
    return Checked(
        rule=rule,
        text=text,
        field=field,
        field_key=field_key(field) if field is not None and rule.one_per_field else None,
        value=value,
        source_id=source_id,
        expires_at=_expiry(rule, expires_at, now),
        valid_from=valid_from,
        valid_until=valid_until,
        metadata=metadata,
        reference=reference,
        follows=follows,
        payload=canonical_json(
            [rule.name, text, field, value, list(given), metadata, reference, follows]
        ),
    )


def _times(statement: Statement) -> tuple[int | None, int | None, int | None]:
    """Return expiry and validity as instants."""
    expires_at = _instant("expires_at", statement.expires_at)
    valid_from = _instant("valid_from", statement.valid_from)
    valid_until = _instant("valid_until", statement.valid_until)
    if valid_from is not None and valid_until is not None and valid_from >= valid_until:
        raise InvalidInputError("valid_until must lie after valid_from.")
    return expires_at, valid_from, valid_until


def _instant(name: str, moment: datetime | str | None) -> int | None:
    return None if moment is None else to_instant(name, moment)


def statement_of(record: Record) -> Statement:
    """Return a stored record as the statement that would write it."""
    return Statement(
        kind=record.kind,
        text=record.text,
        source_id=record.source.source_id,
        field=record.field,
        value=record.value,
        expires_at=record.expires_at,
        valid_from=record.valid_from,
        valid_until=record.valid_until,
        metadata=record.metadata,
        reference=record.reference,
    )


def content_hash(statement: Statement) -> bytes:
    """Return the hash that an approval is bound to: SHA-256 of the statement's canonical JSON."""
    return sha256(canonical_json(statement.to_dict()).encode()).digest()


def checked_text(name: str, value: object, longest: int) -> str:
    """Return a text trimmed, or say what is wrong with it.

    Raises:
        InvalidInputError: It is not a string, blank, too long, or holds a NUL or lone surrogate.
    """
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a string, not {type(value).__name__}.")
    trimmed = value.strip()
    is_plain = trimmed.isascii() and trimmed.isprintable()
    if not trimmed or (not is_plain and _is_unseen(trimmed[:longest])):
        raise InvalidInputError(f"{name} is required and must not be blank.")
    if len(trimmed) > longest:
        raise InvalidInputError(
            f"{name} has {len(trimmed)} characters; at most {longest} are allowed. Split it."
        )
    if not is_plain:
        refuse_unstorable(name, trimmed)
    return trimmed


def _is_unseen(text: str) -> bool:
    return all(unicodedata.category(character) in _UNSEEN for character in text)


def _optional(name: str, value: object) -> str | None:
    return None if value is None else checked_text(name, value, MAX_NAME)


def refuse_unstorable(name: str, text: str) -> None:
    """Refuse what no database and no wire can carry.

    Raises:
        InvalidInputError: The text holds a NUL character or a lone surrogate.
    """
    for position, character in enumerate(text) if not text.isascii() or "\0" in text else ():
        if character == "\0" or unicodedata.category(character) == "Cs":
            what = "a NUL character" if character == "\0" else "a lone surrogate"
            raise InvalidInputError(f"{name} holds {what} at position {position}; remove it.")


def field_key(field: str) -> str:
    """Return the form under which two spellings name the same field."""
    return _WORD_GAP.sub(" ", normalise(field)) or field


def _check_required(
    rule: KindRule, expires_at: datetime | str | None, metadata: Mapping[str, JSONValue]
) -> None:
    if not rule.requires:
        return
    given = {**metadata, "expires_at": expires_at}
    missing = [name for name in rule.requires if given.get(name) is None]
    if missing:
        named = (name if name == "expires_at" else f"metadata[{name!r}]" for name in missing)
        raise InvalidInputError(f"kind {rule.name} needs {', '.join(named)}.")


def _expiry(rule: KindRule, given: int | None, now: int) -> int | None:
    if given is None:
        return None if rule.lifetime is None else now + rule.lifetime
    if rule.longest is not None and given > now + rule.longest:
        days = rule.longest // 86_400_000_000
        raise InvalidInputError(f"expires_at: kind {rule.name} may be kept {days} days at most.")
    return given


def _checked_metadata(metadata: object) -> dict[str, JSONValue]:
    if not isinstance(metadata, Mapping):
        raise InvalidInputError(f"metadata must be a mapping, not {type(metadata).__name__}.")
    if not metadata:
        return {}
    checked = {
        checked_text("metadata key", key, MAX_NAME): checked_json("metadata", value)
        for key, value in metadata.items()
    }
    if len(checked) < len(metadata):
        raise InvalidInputError("metadata has the same key twice, apart from white space.")
    _refuse_long("metadata", checked, MAX_METADATA)
    return checked


def _refuse_long(name: str, value: JSONValue, longest: int) -> None:
    if value is not None and len(canonical_json(value)) > longest:
        raise InvalidInputError(f"{name} is longer than {longest} characters of JSON.")


def checked_json(name: str, value: object, depth: int = 0) -> JSONValue:
    """Return a JSON value, tuples as lists, or say what is wrong with it.

    Raises:
        InvalidInputError: It is nested too deep or holds what JSON, a database or a wire cannot
            carry.
    """
    if depth > MAX_DEPTH:
        raise InvalidInputError(f"{name} is nested more than {MAX_DEPTH} levels deep.")
    if isinstance(value, str):
        refuse_unstorable(name, value)
        return value
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidInputError(f"{name} holds a number that is not finite.")
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise InvalidInputError(f"{name} holds a whole number of more than {MAX_BITS} bits.")
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list | tuple):
        return [checked_json(name, item, depth + 1) for item in value]
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {
            str(checked_json(name, key)): checked_json(name, item, depth + 1)
            for key, item in value.items()
        }
    raise InvalidInputError(f"{name} holds a {type(value).__name__}, which JSON cannot carry.")
