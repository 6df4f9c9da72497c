"""Reads lines from a file or an open text, and writes them whole or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from muniment.clock import new_id
from muniment.errors import ImportFileError, InvalidInputError
from muniment.records import JSONValue

Source: TypeAlias = Path | TextIO
Write: TypeAlias = Callable[[str], object]

_BOM = "\ufeff"
_OWNER_ONLY = 0o600
_SQLITE = b"SQLite format 3\0"


def is_sqlite(source: Source) -> bool:
    """Return whether a source is the path of a SQLite database."""
    if not isinstance(source, Path) or not source.is_file():
        return False
    with source.open("rb") as opened:
        return opened.read(len(_SQLITE)) == _SQLITE


def numbered_lines(source: Source) -> Iterator[tuple[int, str]]:
    """Yield the lines of a source with their numbers from 1, without their line ends.

    Raises:
        InvalidInputError: There is no such file.
        ImportFileError: A line is not UTF-8.
    """
    if not isinstance(source, Path):
        for number, line in enumerate(source, start=1):
            yield number, _plain(number, line)
        return
    try:
        opened = source.open("rb")
    except OSError:
        raise InvalidInputError("The file to import cannot be read; check its path.") from None
    with opened:
        for number, raw in enumerate(opened, start=1):
            try:
                yield number, _plain(number, raw.decode("utf-8"))
            except UnicodeDecodeError as error:
                raise ImportFileError(
                    f"The line is not UTF-8 at byte {error.start}.", number
                ) from None


def _plain(number: int, line: str) -> str:
    return (line.removeprefix(_BOM) if number == 1 else line).rstrip("\r\n")


def parse_json(text: str, line: int) -> JSONValue:
    """Return the JSON value of a text.

    Raises:
        ImportFileError: It is not JSON, is nested too deeply, has a key twice or a number that
            is not finite.
    """

    def refuse(_: str) -> None:
        raise ImportFileError("A number is not finite.", line)

    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(members)
        if len(found) < len(members):
            raise ImportFileError("An object has a key twice.", line)
        return found

    try:
        found: JSONValue = json.loads(text, parse_constant=refuse, object_pairs_hook=once)
    except json.JSONDecodeError as error:
        place = line + error.lineno - 1
        raise ImportFileError(f"It is not JSON at column {error.colno}.", place) from None
    except RecursionError:
        raise ImportFileError("It is nested too deeply.", line) from None
    except ValueError as error:
        if isinstance(error, ImportFileError):
            raise
        raise ImportFileError("A number has too many digits.", line) from None
    return found


def read_document(source: Source) -> JSONValue:
    """Return the one JSON value that a source holds.

    Raises:
        InvalidInputError: There is no such file.
        ImportFileError: It is not JSON in UTF-8.
    """
    return parse_json("\n".join(line for _, line in numbered_lines(source)), 1)


def object_of(value: object, line: int) -> Mapping[str, Any]:
    """Return a JSON object, or say that it is none.

    Raises:
        ImportFileError: It is something else.
    """
    if not isinstance(value, Mapping):
        raise ImportFileError("A JSON object was expected.", line)
    return value


@contextmanager
def writing(target: Source) -> Iterator[Write]:
    """Open a target for writing. A path is replaced at the end, and only if all went well.

    A file that is made can be read and written by its owner only.

    Raises:
        InvalidInputError: The folder cannot be written to.
    """
    if not isinstance(target, Path):
        yield target.write
        return
    beside = target.with_name(f".{target.name}.{new_id('tmp')}")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
    except OSError:
        raise InvalidInputError("The export cannot be written there; check the folder.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as opened:
            yield opened.write
            opened.flush()
            os.fsync(opened.fileno())
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
