"""Filters on record fields and metadata: a closed set of operators, everything a bound value.

A filter maps names to conditions, and all must hold. A name is a field of the record (`kind`,
`field`, `value`, `source_id`, `actor`, `created_at`, `valid_from`, `valid_until`, `expires_at`) or
`metadata.NAME`. A condition is a plain value (equal to it) or a mapping of operators to values:

========== ====================================================================
`eq` `ne`   equal, not equal
`in`        equal to one of a list
`not_in`    equal to none of a list
`lt` `lte`  smaller; numbers with numbers, texts with texts, times with times
`gt` `gte`  greater
`any`       the value is a list that shares a member with the given list
`all`       the value is a list that holds every member of the given list
`exists`    true: there is a value; false: there is none
========== ====================================================================

What is compared with is a JSON value; a tuple counts as a list.

A record without the value matches no condition but `exists: false`, `ne` and `not_in`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from muniment.clock import to_instant
from muniment.errors import FilterError, InvalidInputError
from muniment.rules.statement import checked_json

if TYPE_CHECKING:
    from muniment.records import Record

TIMES = ("created_at", "valid_from", "valid_until", "expires_at")
FIELDS = ("kind", "field", "value", "source_id", "actor", *TIMES)
METADATA = "metadata."

Facts = Mapping[str, Any]
"""What filters look at: record fields by name, times in microseconds, and `metadata`."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One test of one named value.

    Attributes:
        name: A record field or `metadata.NAME`.
        operator: A key of the table above.
        operand: What it is compared with.
    """

    name: str
    operator: str
    operand: Any

    def holds(self, facts: Facts) -> bool:
        """Return whether a record's facts pass the test."""
        if self.name.startswith(METADATA):
            value = facts["metadata"].get(self.name.removeprefix(METADATA))
        else:
            value = facts[self.name]
        return _OPERATORS[self.operator](value, self.operand)


def facts_of(record: Record) -> Facts:
    """Return the facts of a record."""
    facts = {name: getattr(record, name) for name in ("kind", "field", "value", "actor")}
    moments = {name: getattr(record, name) for name in TIMES}
    return {
        **facts,
        **{name: None if at is None else to_instant(name, at) for name, at in moments.items()},
        "source_id": record.source.source_id,
        "metadata": record.metadata,
    }


def passes(facts: Facts, conditions: tuple[Condition, ...]) -> bool:
    """Return whether a record's facts meet every condition."""
    return all(condition.holds(facts) for condition in conditions)


def parse_filters(filters: Mapping[str, Any] | None) -> tuple[Condition, ...]:
    """Turn a caller's filters into conditions.

    Raises:
        FilterError: A name, operator or operand is not allowed.
    """
    if filters is None:
        return ()
    if not isinstance(filters, Mapping):
        raise FilterError("filters must be a mapping of names to conditions.")
    return tuple(
        condition for name, given in filters.items() for condition in _conditions(name, given)
    )


def _conditions(name: object, given: object) -> list[Condition]:
    if not isinstance(name, str) or not _known(name):
        raise FilterError(
            f"A filter names an unknown record field; use metadata.NAME or: {', '.join(FIELDS)}."
        )
    operators = given if isinstance(given, Mapping) else {"eq": given}
    if not operators:
        raise FilterError(f"A filter has no operator; use: {', '.join(_OPERATORS)}.")
    return [_condition(name, operator, operand) for operator, operand in operators.items()]


def _known(name: str) -> bool:
    return name in FIELDS or (name.startswith(METADATA) and len(name) > len(METADATA))


def _condition(name: str, operator: object, operand: object) -> Condition:
    if not isinstance(operator, str) or operator not in _OPERATORS:
        raise FilterError(f"A filter has an unknown operator; use: {', '.join(_OPERATORS)}.")
    if operator in {"in", "not_in", "any", "all"}:
        if not isinstance(operand, list | tuple | set | frozenset):
            raise FilterError(f"The filter operator {operator} needs a list.")
        items = sorted(operand, key=repr) if isinstance(operand, set | frozenset) else operand
        return Condition(name, operator, [_operand(name, item) for item in items])
    if operator == "exists":
        if not isinstance(operand, bool):
            raise FilterError("The filter operator exists needs true or false.")
        return Condition(name, operator, operand)
    return Condition(name, operator, _operand(name, operand))


def _operand(name: str, operand: object) -> object:
    try:
        if name not in TIMES or operand is None:
            return checked_json("A filter", operand)
        return to_instant(f"filter {name}", cast("str", operand))
    except InvalidInputError as error:
        raise FilterError(str(error)) from None


def _same(value: object, operand: object) -> bool:
    return isinstance(value, bool) == isinstance(operand, bool) and bool(value == operand)


def _ordered(test: Callable[[Any, Any], bool]) -> Callable[[object, Any], bool]:
    def holds(value: object, operand: object) -> bool:
        numbers = _is_number(value) and _is_number(operand)
        texts = isinstance(value, str) and isinstance(operand, str)
        return (numbers or texts) and test(value, operand)

    return holds


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_in(value: object, operand: Iterable[object]) -> bool:
    return any(_same(value, item) for item in operand)


_OPERATORS: Mapping[str, Callable[[object, Any], bool]] = {
    "eq": lambda value, operand: value is not None and _same(value, operand),
    "ne": lambda value, operand: not _same(value, operand),
    "in": lambda value, operand: value is not None and _is_in(value, operand),
    "not_in": lambda value, operand: not _is_in(value, operand),
    "lt": _ordered(lambda value, operand: bool(value < operand)),
    "lte": _ordered(lambda value, operand: bool(value <= operand)),
    "gt": _ordered(lambda value, operand: bool(value > operand)),
    "gte": _ordered(lambda value, operand: bool(value >= operand)),
    "any": lambda value, operand: (
        isinstance(value, list) and any(_is_in(item, operand) for item in value)
    ),
    "all": lambda value, operand: (
        isinstance(value, list) and all(_is_in(item, value) for item in operand)
    ),
    "exists": lambda value, operand: (value is not None) is operand,
}
