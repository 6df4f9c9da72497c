"""Time and ids. The only module that reads the clock or makes an id.

Inside, an instant is a whole number of microseconds since 1970 in UTC. At the surface it is an
aware `datetime` or an ISO-8601 text with `Z` or an explicit offset.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from muniment.errors import InvalidInputError

if TYPE_CHECKING:
    from uuid_utils import UUID

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ID = re.compile("[a-z]{3}_[0-9a-f]{32}")
_MICROSECOND = timedelta(microseconds=1)


@runtime_checkable
class Clock(Protocol):
    """A source of the present instant."""

    def now(self) -> int:
        """Return the present instant in microseconds since 1970, UTC."""
        ...


class SystemClock:
    """The computer's own clock."""

    def now(self) -> int:
        """Return the present instant in microseconds since 1970, UTC."""
        return time.time_ns() // 1000


def new_id(prefix: str) -> str:
    """Return a new id: the prefix, an underscore and the 32 hexadecimal digits of a UUIDv7.

    Args:
        prefix: What the id names, such as `mem` for a record.
    """
    return f"{prefix}_{_maker()().hex}"


@cache
def _maker() -> Callable[[], UUID]:
    from uuid_utils import uuid7

    return uuid7


def is_id(text: str) -> bool:
    """Return whether a text has the form of an id that is made here."""
    return _ID.fullmatch(text) is not None


def to_instant(name: str, value: datetime | str) -> int:
    """Turn a caller's time into microseconds since 1970, UTC.

    Args:
        name: The parameter's name, for the error.
        value: An aware `datetime`, or ISO-8601 text with `Z` or an explicit offset.

    Raises:
        InvalidInputError: The time is naive, has no time of day, is malformed, or lies outside the
            years 1 to 9999 in UTC.
    """
    moment = _parsed(name, value) if isinstance(value, str) else value
    if not isinstance(moment, datetime):
        raise InvalidInputError(f"{name} must be an aware datetime or an ISO-8601 text.")
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInputError(
            f"{name} has no time zone; add Z or an explicit offset, as in 2030-06-01T12:00:00Z."
        )
    try:
        return (moment.astimezone(UTC) - _EPOCH) // _MICROSECOND
    except OverflowError:
        raise InvalidInputError(f"{name} must lie within the years 1 to 9999 in UTC.") from None


def _parsed(name: str, value: str) -> datetime:
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise InvalidInputError(
            f"{name} is not an ISO-8601 time; write it as 2030-06-01T12:00:00Z."
        ) from None
    if len(value) <= len("2030-06-01"):
        raise InvalidInputError(f"{name} is a date without a time; write 2030-06-01T00:00:00Z.")
    return moment


def from_instant(instant: int) -> datetime:
    """Return the aware UTC `datetime` of a number of microseconds since 1970."""
    return _EPOCH + instant * _MICROSECOND


def iso(moment: datetime) -> str:
    """Return ISO-8601 text in UTC that ends in `Z`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat() + "Z"
