"""The filters of a LangGraph search, checked before anything is read and applied in process."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from muniment.errors import FilterError

Condition: TypeAlias = Callable[[object], bool]
"""Whether a value passes; a missing value is None."""

_KEY = re.compile(r"[\w.\-\u200c ]+")
_NUMERIC: Mapping[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


def matcher(given: Mapping[str, Any] | None) -> Callable[[Mapping[str, Any]], bool]:
    """Return what says whether an item's value passes a filter.

    A key names a member of the value; with dots, where there is no such member, a path into it.
    A condition is a value to equal, a mapping of operators (`$eq`, `$ne`, `$gt`, `$gte`, `$lt`,
    `$lte`), or a mapping of conditions on the members of a member. A truth value equals no number.

    Args:
        given: The filter; None or empty lets everything pass.

    Raises:
        FilterError: A key or an operator is not one of those.
    """
    checks = [(_checked(key), _condition(wanted)) for key, wanted in (given or {}).items()]
    return lambda value: all(check(_member(value, key)) for key, check in checks)


def _checked(key: object) -> str:
    if not isinstance(key, str) or not _KEY.fullmatch(key):
        raise FilterError(
            "Invalid filter key: use letters, digits, spaces, '_', '-' and, for a path, '.'."
        )
    return key


def _condition(wanted: object) -> Condition:
    if not isinstance(wanted, Mapping):
        return lambda value: _same(value, wanted)
    if any(isinstance(key, str) and key.startswith("$") for key in wanted):
        checks = [_operation(name, operand) for name, operand in wanted.items()]
        return lambda value: all(check(value) for check in checks)
    inner = matcher(wanted)
    return lambda value: isinstance(value, Mapping) and inner(value)


def _operation(name: object, operand: object) -> Condition:
    if name == "$eq":
        return lambda value: _same(value, operand)
    if name == "$ne":
        return lambda value: not _same(value, operand)
    compare = _NUMERIC.get(str(name))
    if compare is None:
        known = ", ".join(("$eq", "$ne", *_NUMERIC))
        raise FilterError(f"Unsupported operator in a filter: use one of {known}.")
    return lambda value: _ordered(compare, value, operand)


def _ordered(compare: Callable[[Any, Any], bool], value: object, operand: object) -> bool:
    if isinstance(value, str) and isinstance(operand, str):
        return compare(value, operand)
    numbers = (int, float)
    return isinstance(value, numbers) and isinstance(operand, numbers) and compare(value, operand)


def _same(value: object, wanted: object) -> bool:
    if isinstance(wanted, list | tuple):
        return (
            isinstance(value, list) and len(value) == len(wanted) and all(map(_same, value, wanted))
        )
    if isinstance(value, bool) != isinstance(wanted, bool):
        return False
    return value == wanted


def _member(value: Mapping[str, Any], path: str) -> object:
    if path in value:
        return value[path]
    found: object = value
    for name in path.split("."):
        if not isinstance(found, Mapping) or name not in found:
            return None
        found = found[name]
    return found
