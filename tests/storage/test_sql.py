"""The rules for SQL: it lives in files, under names, and its driver's errors never get out."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

import muniment.storage
from muniment.errors import (
    ForeignFileError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
)
from muniment.storage.pg_statements import _WIDE, Wide
from muniment.storage.sqlfiles import queries, schema, sources
from muniment.storage.sqlite_driver import DriverErrors

STORAGE = Path(muniment.storage.__file__).parent
FILE = "\n".join(sources("sqlite"))
DATA = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|REPLACE|WITH|CREATE|ALTER|DROP)\s", re.DOTALL)
FIXED = {
    *("BEGIN", "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK"),
    *("SAVEPOINT caller", "ROLLBACK TO caller", "RELEASE caller"),
    *("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)", "CLUSTER"),
}
NAMED = dict(queries("sqlite"))


def test_every_dialect_knows_the_same_statements() -> None:
    """A statement that differs stands in every `dialect.sql`, what is the same in `common`.

    Of those that only a server needs, one stands in the place of a shared one: it locks as well.
    """
    assert set(queries("postgres")) == set(NAMED)
    assert set(queries("wall")) & set(NAMED) == {"owner"}


OF_NOBODY = {
    *(
        "any_table",
        "columns",
        "insert_mark",
        "insert_slot",
        "mark",
        "mark_anchored",
        "slot",
        "slots",
    )
}
"""Statements that see nothing of any tenant."""


def test_a_statement_names_its_owner_or_stands_in_the_list_of_those_that_may_see_more() -> None:
    """What is in neither finds nothing on PostgreSQL; add it to `_WIDE` only if it must."""
    wide = frozenset[str]().union(*_WIDE.values())
    free = {name for name, text in NAMED.items() if ":owner_no" not in text}
    assert free - OF_NOBODY - {"owner"} - wide == set()
    assert wide <= set(NAMED) | set(queries("wall"))
    assert not any(":owner_no" in NAMED[name] for name in _WIDE[Wide.STORE])


def _texts(path: Path) -> Iterator[str]:
    """Yield the string constants of a module that are not docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            yield node.value


def _families(path: Path) -> Iterator[str]:
    """Yield patterns of the names that a module puts together, such as `delete_item_…`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.JoinedStr) and any(
            isinstance(part, ast.Constant) and re.search(r"_$|^_", str(part.value))
            for part in node.values
        ):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else r"[a-z_]+"
                for part in node.values
            )


def _executed(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            first = node.args[0] if node.args else None
            if node.func.attr.startswith("execute") and isinstance(first, ast.Constant):
                yield str(first.value)


MODULES = sorted(STORAGE.parent.rglob("*.py"))
USED = {text for module in STORAGE.glob("*.py") for text in _texts(module)}
FAMILIES = [pattern for module in STORAGE.glob("*.py") for pattern in _families(module)]


@pytest.mark.parametrize("name", NAMED)
def test_a_query_has_a_sentence_and_one_statement_and_is_used(name: str) -> None:
    assert re.search(rf"^-- name: {name}\n-- [A-Z].*\.\n(?!--)", FILE, re.MULTILINE)
    assert NAMED[name].count(";") == 1
    assert NAMED[name].endswith(";")
    assert name in USED or any(re.fullmatch(family, name) for family in FAMILIES)


def test_every_name_of_a_query_is_its_own() -> None:
    names = re.findall(r"^-- name: (\w+)$", FILE, re.MULTILINE)
    assert names == list(NAMED)
    assert FILE.count("-- name:") == len(names) > 30


@pytest.mark.parametrize("name", NAMED)
def test_a_query_fits_the_schema(name: str) -> None:
    connection = apsw.Connection(":memory:")
    connection.execute(schema("sqlite"))
    values = dict.fromkeys(re.findall(r":(\w+)", NAMED[name]))
    assert connection.execute("EXPLAIN " + NAMED[name], values).fetchall()


def test_no_statement_stands_outside_the_files() -> None:
    stray = [
        (module.name, text)
        for module in MODULES
        if not {"testing", "bench"} & set(module.parts)
        for text in _texts(module)
        if DATA.match(text)
    ]
    assert stray == []
    product = [module for module in MODULES if "bench" not in module.parts]
    assert {text for module in product for text in _executed(module)} <= FIXED


def _classes(root: type[apsw.Error]) -> Iterator[type[apsw.Error]]:
    yield root
    for child in root.__subclasses__():
        yield from _classes(child)


SPECIAL = {
    apsw.BusyError: StoreBusyError,
    apsw.CorruptError: StoreCorruptError,
    apsw.NotADBError: ForeignFileError,
}


@pytest.mark.parametrize("kind", list(_classes(apsw.Error)), ids=lambda kind: kind.__name__)
def test_an_error_of_the_driver_becomes_one_of_ours_without_its_text(
    kind: type[apsw.Error],
) -> None:
    with pytest.raises(StoreError) as caught, DriverErrors("memory.db"):
        raise kind("the text of a record")
    assert type(caught.value) is SPECIAL.get(kind, StoreError)
    assert isinstance(caught.value.__cause__, kind)
    assert "the text" not in str(caught.value)


def test_every_exception_of_the_driver_is_of_its_one_family() -> None:
    raised = [kind for kind in vars(apsw).values() if isinstance(kind, type)]
    strangers = [
        k for k in raised if issubclass(k, BaseException) and not issubclass(k, apsw.Error)
    ]
    assert strangers == []


def test_an_error_of_the_caller_passes_unchanged() -> None:
    with pytest.raises(LookupError, match="mine"), DriverErrors("memory.db"):
        raise LookupError("mine")
