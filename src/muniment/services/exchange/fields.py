"""Takes typed values out of a JSON object; says which one is wrong and in which line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Any, NoReturn, TypeVar

from muniment.clock import from_instant, to_instant
from muniment.errors import ImportFileError, InvalidInputError, ScopeError
from muniment.records import Authority, JSONValue
from muniment.scope import Owner, Scope, Space, SpaceType

E = TypeVar("E", bound=StrEnum)

_ID = re.compile("(mem|cnd)_[0-9a-f]{32}")
_BURIED = re.compile("(mem|cnd|rcp|thr|itm)_[0-9a-f]{32}")

_LABELS = {authority.label: authority for authority in Authority}


class Fields:
    """The members of one JSON object, each taken once.

    Args:
        given: The object.
        line: Its line, for errors.
    """

    def __init__(self, given: Mapping[str, Any], line: int) -> None:
        self._given = dict(given)
        self.line = line

    def wrong(self, name: str, wanted: str) -> NoReturn:
        """Raise the error about one member.

        Raises:
            ImportFileError: Always.
        """
        raise ImportFileError(f"{name} must be {wanted}.", self.line)

    def take(self, name: str) -> JSONValue:
        """Return a member, whatever it is."""
        found: JSONValue = self._taken(name)
        return found

    def _taken(self, name: str) -> Any:  # noqa: ANN401 - each caller says what it must be
        if name not in self._given:
            raise ImportFileError(f"{name} is missing.", self.line)
        return self._given.pop(name)

    def text(self, name: str) -> str:
        """Return a text."""
        value = self._taken(name)
        return value if isinstance(value, str) else self.wrong(name, "a string")

    def maybe_text(self, name: str) -> str | None:
        """Return a text or None."""
        value = self._taken(name)
        return value if value is None or isinstance(value, str) else self.wrong(name, "a string")

    def item_id(self, name: str) -> str:
        """Return the id of a record or candidate."""
        value = self.text(name)
        return (
            value if _ID.fullmatch(value) else self.wrong(name, "the id of a record or candidate")
        )

    def buried_id(self, name: str) -> str:
        """Return the id by which a tombstone names what is gone."""
        value = self.text(name)
        return value if _BURIED.fullmatch(value) else self.wrong(name, "the id of a tombstone")

    def maybe_number(self, name: str) -> int | None:
        """Return a whole number from 0, or None."""
        if self._given.get(name, "") is None:
            del self._given[name]
            return None
        return self.number(name)

    def maybe_id(self, name: str) -> str | None:
        """Return the id of a record or candidate, or None."""
        if self._given.get(name, "") is None:
            return self.maybe_text(name)
        return self.item_id(name)

    def number(self, name: str) -> int:
        """Return a whole number from 0."""
        value = self._taken(name)
        fits = type(value) is int and 0 <= value < 2**63
        return int(value) if fits else self.wrong(name, "a whole number from 0")

    def flag(self, name: str) -> bool:
        """Return true or false."""
        value = self._taken(name)
        return value if isinstance(value, bool) else self.wrong(name, "true or false")

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts."""
        value = self._taken(name)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self.wrong(name, "a list of strings")
        return tuple(value)

    def octets(self, name: str) -> bytes:
        """Return what a hexadecimal text stands for."""
        try:
            return bytes.fromhex(self.text(name))
        except ValueError:
            self.wrong(name, "hexadecimal")

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return an object."""
        value = self._taken(name)
        return value if isinstance(value, Mapping) else self.wrong(name, "an object")

    def objects(self, name: str) -> list[Fields]:
        """Return a list of objects."""
        value = self._taken(name)
        if not isinstance(value, list) or not all(isinstance(item, Mapping) for item in value):
            self.wrong(name, "a list of objects")
        return [Fields(item, self.line) for item in value]

    def moment(self, name: str) -> datetime:
        """Return a time."""
        try:
            return from_instant(to_instant(name, self.text(name)))
        except InvalidInputError as error:
            if isinstance(error, ImportFileError):
                raise
            raise ImportFileError(str(error), self.line) from None

    def maybe_moment(self, name: str) -> datetime | None:
        """Return a time or None."""
        if self._given.get(name, "") is None:
            del self._given[name]
            return None
        return self.moment(name)

    def choice(self, name: str, options: type[E]) -> E:
        """Return one of the names of an enumeration."""
        value = self.text(name)
        if value not in tuple(options):
            self.wrong(name, f"one of: {', '.join(options)}")
        return options(value)

    def authority(self, name: str) -> Authority:
        """Return an authority by its label."""
        found = _LABELS.get(self.text(name))
        return self.wrong(name, f"one of: {', '.join(_LABELS)}") if found is None else found

    def owner(self, name: str) -> Owner:
        """Return a scope, or a space when it has a type."""
        inner = Fields(self.mapping(name), self.line)
        try:
            if "type" not in inner._given:
                parts = [inner.text(part) for part in ("tenant_id", "user_id", "agent_id")]
                owner: Owner = Scope(*parts)
            else:
                kind = inner.choice("type", SpaceType)
                owner = Space(inner.text("tenant_id"), kind, inner.text("space_id"))
        except ScopeError as error:
            raise ImportFileError(f"{name}: {error}", self.line) from None
        inner.end()
        return owner

    def end(self) -> None:
        """Refuse members that nobody took.

        Raises:
            ImportFileError: There are some.
        """
        if self._given:
            raise ImportFileError(
                f"The line has {len(self._given)} members that the format does not know.",
                self.line,
            )
