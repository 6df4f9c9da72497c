"""`import`: statements from JSON Lines with errors by line, exports, other systems' memory."""

from __future__ import annotations

import json
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from muniment.cli.migrating import (
    EXPORT,
    AllUsers,
    AssumeUTC,
    ByOperator,
    DefaultKind,
    Namespace,
    OldUser,
    Rescope,
    Wishes,
    is_export,
    migrate,
)
from muniment.cli.options import Run, command
from muniment.cli.output import done, visible
from muniment.cli.parameters import AllAgents, SkipErrors
from muniment.cli.views import plural
from muniment.errors import BatchError, BatchItem, InvalidInputError, MunimentError
from muniment.records import JSONValue, Statement
from muniment.results import Outcome

app = typer.Typer()

REQUIRED = ("kind", "text", "source_id")
OPTIONAL = ("field", "value", "expires_at", "valid_from", "valid_until", "metadata")

File = Annotated[str, typer.Argument(help="A file, or - for standard input.", show_default=False)]
Origin = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="What the file is: export, durable_memory, memories, documents, langgraph, mem0 or "
        "pam. Without it: an export if it is one, else JSON Lines of statements.",
    ),
]


@command(app, name="import")
def import_file(
    run: Run,
    file: File,
    origin: Origin = None,
    skip_errors: SkipErrors = False,
    approved_by_operator: ByOperator = False,
    rescope: Rescope = False,
    kind: DefaultKind = None,
    old_user: OldUser = None,
    namespace: Namespace = None,
    assume_utc: AssumeUTC = False,
    all_agents: AllAgents = False,
    all_users: AllUsers = False,
) -> None:
    """Take in the statements of a JSON Lines file, an export, or what another system keeps.

    All or nothing, unless --skip-errors is given. Without --from each line is an object with kind,
    text and source_id, and if you like field, value, expires_at, valid_from, valid_until and
    metadata; an export of muniment is recognised. With --from, what was only inferred waits for
    review. Importing again writes nothing twice, and what was forgotten stays out.

    Example: muniment import statements.jsonl

    Example: muniment import memory.db --from durable_memory
    """
    wishes = Wishes(
        origin or (EXPORT if is_export(file) else None),
        skip_errors,
        approved_by_operator,
        rescope,
        kind,
        old_user,
        tuple(namespace or ()),
        assume_utc,
        all_agents,
        all_users,
    )
    wishes.check()
    if wishes.origin is None:
        _import_statements(run, file, skip_errors=skip_errors)
    else:
        migrate(run, file, wishes)


def _import_statements(run: Run, file: str, *, skip_errors: bool) -> None:
    run.scope()
    statements, wrong = read_statements(_lines(file))
    if wrong and not skip_errors:
        raise _refusal(wrong, len(wrong) + len(statements))
    numbers = list(statements)
    with run.scoped() as me, run.out.progress("Embedding") as progress:
        try:
            batch = me.import_many(
                list(statements.values()),
                on_error="skip" if skip_errors else "raise",
                progress=progress,
            )
        except BatchError as error:
            raise _refusal(_by_line(error.items, numbers), len(numbers)) from None
    skipped = {**wrong, **_by_line(batch.skipped, numbers)}
    outcomes = Counter(one.outcome for one in batch)
    _report(run, outcomes, dict(sorted(skipped.items())))


def _lines(file: str) -> list[bytes]:
    """Return the lines of a file or of standard input, without a byte order mark.

    Raises:
        InvalidInputError: There is no such file.
    """
    if file == "-":
        found = sys.stdin.buffer.read()
    elif Path(file).is_file():
        found = Path(file).read_bytes()
    else:
        raise InvalidInputError(f"There is no file {file}.")
    return found.removeprefix(BOM_UTF8).split(b"\n")


def read_statements(
    lines: Iterable[bytes],
) -> tuple[dict[int, Statement], dict[int, MunimentError]]:
    """Return the statements and the errors of JSON Lines, by line number from 1.

    Blank lines count as lines and hold nothing.
    """
    statements: dict[int, Statement] = {}
    wrong: dict[int, MunimentError] = {}
    for number, line in enumerate(lines, start=1):
        try:
            if line.strip():
                statements[number] = _statement(line)
        except InvalidInputError as error:
            wrong[number] = error
    return statements, wrong


def _statement(line: bytes) -> Statement:
    try:
        given = json.loads(line.decode(), parse_constant=_refuse, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"The line is not UTF-8 at byte {error.start}.") from None
    except json.JSONDecodeError as error:
        raise InvalidInputError(f"The line is not JSON at column {error.colno}.") from None
    except RecursionError:
        raise InvalidInputError("The line is nested too deeply.") from None
    if not isinstance(given, Mapping):
        raise InvalidInputError("The line must be a JSON object.")
    for key in given:
        if key not in (*REQUIRED, *OPTIONAL):
            allowed = ", ".join((*REQUIRED, *OPTIONAL))
            raise InvalidInputError(f"Unknown key {visible(key[:40])!r}; allowed are {allowed}.")
    kept: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    for key in REQUIRED:
        if key not in kept:
            raise InvalidInputError(f"{key} is missing.")
    return Statement(**kept)


def _refuse(constant: str) -> None:
    raise InvalidInputError(f"{constant} is not a JSON number.")


def _once(members: Sequence[tuple[str, object]]) -> dict[str, object]:
    found = dict(members)
    if len(found) < len(members):
        raise InvalidInputError("The line has a key twice.")
    return found


def _by_line(items: Iterable[BatchItem], numbers: Sequence[int]) -> dict[int, MunimentError]:
    return {numbers[item.index]: item.error for item in items}


def _refusal(wrong: Mapping[int, MunimentError], total: int) -> BatchError:
    return BatchError(
        f"{len(wrong)} of {plural(total, 'line')} wrong, so nothing was imported; mend them or "
        "pass --skip-errors.",
        [BatchItem(number - 1, error) for number, error in wrong.items()],
    )


def _report(
    run: Run, outcomes: Mapping[Outcome, int], skipped: Mapping[int, MunimentError]
) -> None:
    read = sum(outcomes.values()) + len(skipped)
    counts = {one.value: outcomes.get(one, 0) for one in Outcome}
    items: list[JSONValue] = [
        {"line": number, "code": error.code, "message": str(error)}
        for number, error in skipped.items()
    ]
    if not run.out.as_json:
        run.out.note(
            *(f"line {number}: {visible(str(error))}" for number, error in skipped.items())
        )
    details = (
        f"{counts['created']:,} new, {counts['repeated']:,} known already, "
        f"{counts['contested']:,} contested, {len(skipped):,} left out"
    )
    run.out.emit(
        {"read": read, **counts, "skipped": items},
        done(f"Read {plural(read, 'line')}.", details),
    )
