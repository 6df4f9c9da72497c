"""The form of a file of questions with known answers, and the reading of it.

A file is JSON Lines, plain or gzipped, one haystack a line::

    {"haystack": "h1",
     "records": [{"id": "r1", "text": "…", "time": null}],
     "queries": [{"id": "q1", "query": "…", "type": "single", "gold": ["r1"]}]}

A query needs at least one id in `gold`; its `type` is `question` where none is given, and never
`all`. A query with `"before": n` may only find records whose `time` is a whole number below n.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from muniment.errors import InvalidInputError

Test = Callable[[Any], bool]


def haystacks(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the haystacks of a file, each with the number of its line.

    Args:
        path: The file; gzipped if its name ends in `.gz`.

    Raises:
        InvalidInputError: The file is not in the form above; says which line.
    """
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for number, line in _lines(lines, path.name):
            where = f"{path.name}, line {number}"
            try:
                haystack = json.loads(line)
            except (ValueError, RecursionError):
                raise InvalidInputError(f"{where}: not JSON.") from None
            _check(haystack, where)
            yield number, haystack


def _lines(lines: TextIO, name: str) -> Iterator[tuple[int, str]]:
    number = 0
    try:
        for number, line in enumerate(lines, start=1):
            yield number, line
    except UnicodeDecodeError:
        raise InvalidInputError(f"{name} is not UTF-8 somewhere after line {number}.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InvalidInputError(f"{name} is not a whole gzip file.") from None


def _check(haystack: object, where: str) -> None:
    records = _members(haystack, "records", where)
    for place, record in enumerate(records, start=1):
        _fields(record, _RECORD, f"{where}: record {place}")
    for place, query in enumerate(_members(haystack, "queries", where), start=1):
        _fields(query, _QUERY, f"{where}: query {place}")


def _members(haystack: object, name: str, where: str) -> list[Any]:
    members = haystack.get(name) if isinstance(haystack, dict) else None
    if not isinstance(members, list):
        raise InvalidInputError(f"{where}: no {name}.")
    return members


def _fields(one: object, fields: Mapping[str, tuple[Test, str]], what: str) -> None:
    """Refuse what is no object with such fields; names the field, never its value."""
    held = one if isinstance(one, dict) else {}
    for name, (is_right, should) in fields.items():
        if not is_right(held.get(name)):
            raise InvalidInputError(f"{what} needs {name}: {should}.")


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_id(value: object) -> bool:
    return isinstance(value, str) or type(value) is int


def _is_gold(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(map(_is_id, value))


_RECORD: Mapping[str, tuple[Test, str]] = {
    "id": (_is_id, "a text or a whole number"),
    "text": (_is_text, "a text"),
    "time": (lambda value: value is None or _is_id(value), "a text, a whole number or nothing"),
}
_QUERY: Mapping[str, tuple[Test, str]] = {
    "query": (_is_text, "a text"),
    "gold": (_is_gold, "a list of at least one id"),
    "before": (lambda value: value is None or type(value) is int, "a whole number or nothing"),
    "type": (
        lambda value: value is None or (isinstance(value, str) and value != "all"),
        "a text other than all, or nothing",
    ),
}
