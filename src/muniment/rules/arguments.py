"""Arguments of the public face are of the types that it declares, or refused by name."""

from __future__ import annotations

import io
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import cache, partial, wraps
from inspect import Parameter, isfunction, signature
from math import isfinite
from pathlib import Path
from types import NoneType, SimpleNamespace
from typing import Any, Literal, TextIO, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from muniment.errors import InvalidInputError

T = TypeVar("T", bound=type)
F = TypeVar("F", bound=Callable[..., Any])

Test: TypeAlias = Callable[[Any], bool]
"""Whether a value is of a type."""

ELSEWHERE = frozenset(
    {"agent_id", "approved", "cursor", "kind", "location", "tenant_id", "user_id"}
)
"""Arguments that are checked where they are used, with errors of their own."""

_BOUND = 2**63


def checked(function: F) -> F:
    """Have a function refuse an argument that is not of the type it declares.

    The call raises an InvalidInputError that names the argument and what it should be; never what
    it was. Members of a collection are looked at where they are used.
    """

    @wraps(function)
    def call(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - passes on what it gets
        order, rest, rules = _rules(function)
        arguments = [*zip(order, given, strict=False), *named.items()]
        if rest:
            arguments += [(rest, value) for value in given[len(order) :]]
        for name, value in arguments:
            rule = rules.get(name)
            if rule is not None and not rule[0](value):
                raise InvalidInputError(f"{name} must be {rule[1]}, not {type(value).__name__}.")
        return function(*given, **named)

    return call  # type: ignore[return-value]


def checks_arguments(cls: T) -> T:
    """Have every public method of a class of the facade refuse arguments as `checked` does."""
    for name, member in list(vars(cls).items()):
        if isfunction(member) and not name.startswith("_"):
            setattr(cls, name, checked(member))
    return cls


def refuse_negative(**numbers: float) -> None:
    """Refuse numbers below 0, each under its name.

    Raises:
        InvalidInputError: One is.
    """
    for name, number in numbers.items():
        if number < 0:
            raise InvalidInputError(f"{name} must be 0 or more.")


@cache
def _rules(function: F) -> tuple[tuple[str, ...], str, Mapping[str, tuple[Test, str]]]:
    parameters = signature(function).parameters
    places = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    order = tuple(name for name, one in parameters.items() if one.kind in places)
    rest = [name for name, one in parameters.items() if one.kind is Parameter.VAR_POSITIONAL]
    named = {
        name: one.annotation
        for name, one in parameters.items()
        if one.annotation is not Parameter.empty and name not in ELSEWHERE
    }
    hints = get_type_hints(SimpleNamespace(__annotations__=named), function.__globals__)
    rules = {name: (_test(hint), _described(hint)) for name, hint in hints.items()}
    return order, "".join(rest), rules


def _test(hint: Any) -> Test:  # noqa: ANN401 - any annotation
    if hint in (Any, object) or _is_open(hint):
        return lambda _: True
    origin = get_origin(hint)
    if origin is Literal:
        return lambda value: isinstance(value, str) and value in get_args(hint)
    for known in (hint, origin):
        if known in _TYPES:
            return _TYPES[known][0]
    if origin is None:
        return lambda value: isinstance(value, hint)
    sorts = get_args(hint)
    tests = [_test(one) for one in sorts if one is not NoneType]
    may_be_none = NoneType in sorts
    if len(tests) == 1:
        (only,) = tests
        return lambda value: (may_be_none and value is None) or only(value)
    return lambda value: (may_be_none and value is None) or any(test(value) for test in tests)


def _described(hint: Any) -> str:  # noqa: ANN401 - any annotation
    origin = get_origin(hint)
    if origin is Literal:
        return f"one of: {', '.join(get_args(hint))}"
    for known in (hint, origin):
        if known in _TYPES:
            return _TYPES[known][1]
    if origin is None:
        return f"a {getattr(hint, '__name__', 'value')}"
    return " or ".join(_described(one) for one in get_args(hint) if one is not NoneType)


def _is_open(hint: object) -> bool:
    """Whether what it takes is looked at where it is used: JSON values and times."""
    sorts = get_args(hint)
    return datetime in sorts or all(one in sorts for one in (bool, int, float, str))


def _is_file(value: object) -> bool:
    if isinstance(value, io.RawIOBase | io.BufferedIOBase):
        return False
    return callable(getattr(value, "read", None)) or callable(getattr(value, "write", None))


def _is_whole(value: object) -> bool:
    return type(value) is int and abs(value) < _BOUND


def _is_number(value: object) -> bool:
    return _is_whole(value) or (type(value) is float and isfinite(value))


def _is_many(value: object, sort: type) -> bool:
    return isinstance(value, sort) and not isinstance(value, str | bytes | bytearray | Mapping)


_TYPES: Mapping[object, tuple[Test, str]] = {
    bool: (lambda value: type(value) is bool, "True or False"),
    int: (_is_whole, "a whole number below 2**63"),
    float: (_is_number, "a finite number"),
    str: (lambda value: isinstance(value, str), "a string"),
    bytes: (lambda value: isinstance(value, bytes), "bytes"),
    NoneType: (lambda value: value is None, "None"),
    Path: (lambda value: isinstance(value, Path), "a pathlib.Path"),
    TextIO: (_is_file, "an open text file"),
    Callable: (callable, "a function"),
    Mapping: (lambda value: isinstance(value, Mapping), "a mapping"),
    Sequence: (partial(_is_many, sort=Sequence), "a list or tuple"),
    Collection: (partial(_is_many, sort=Collection), "a list, tuple or set"),
    tuple: (lambda value: isinstance(value, tuple), "a tuple"),
}
