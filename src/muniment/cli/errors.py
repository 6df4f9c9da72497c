"""The outermost handler: any failure becomes one line, or one JSON object, and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import typer

from muniment.cli.output import print_json, visible
from muniment.errors import BatchError, InvalidInputError, MunimentError, NoModelError

FAILED = 1
USAGE = 2
INTERRUPTED = 130
DEBUG = "MUNIMENT_DEBUG"


@runtime_checkable
class Misuse(Protocol):
    """What the command line parser raises: whatever can say its message and exit code."""

    exit_code: int

    def format_message(self) -> str:
        """Return what was wrong with the arguments."""
        ...


def guarded(work: Callable[[], object], *, as_json: bool) -> int:
    """Run a command and return its exit code: 0 for success, 1 for failure, 2 for bad input.

    Args:
        work: The command.
        as_json: Whether a failure is printed as JSON on standard output.
    """
    try:
        result = work()
        sys.stdout.flush()
    except KeyboardInterrupt:
        result = INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except MunimentError as error:
        code = USAGE if isinstance(error, InvalidInputError) else FAILED
        return _report(shape(error), code, as_json=as_json)
    except Exception as error:
        return _other(error, as_json=as_json)
    if result == INTERRUPTED:
        return _report(_shape("interrupted", "Stopped."), INTERRUPTED, as_json=as_json)
    return result if isinstance(result, int) else 0


def shape(error: MunimentError) -> dict[str, object]:
    """Return the one error shape; a batch tells lines, a missing model keeps the packet."""
    written = error.to_dict()
    if isinstance(error, BatchError):
        lines = [{**item.to_dict(), "line": item.index + 1} for item in error.items]
        for line in lines:
            del line["index"]
        return _shape(error.code, str(error), {"items": lines})
    if isinstance(error, NoModelError):
        return {**written, "packet": str(error.packet)}
    return written


def _other(error: Exception, *, as_json: bool) -> int:
    if isinstance(error, Misuse):
        message = " ".join(error.format_message().split())
        context = getattr(error, "ctx", None)
        if not message:
            return error.exit_code
        if context is not None:
            message += f" See `{context.command_path} --help`."
        return _report(_shape(InvalidInputError.code, message), error.exit_code, as_json=as_json)
    if os.environ.get(DEBUG):
        raise error
    if isinstance(error, OSError):
        name = f"{error.filename}: " if error.filename else ""
        message = f"{name}{error.strerror or type(error).__name__}."
        return _report(_shape("error", message), FAILED, as_json=as_json)
    if isinstance(error, typer.Abort):
        return _report(_shape("interrupted", "Nothing was done."), FAILED, as_json=as_json)
    message = (
        f"{type(error).__name__} that muniment did not expect; run again with {DEBUG}=1 and "
        "report the traceback."
    )
    return _report(_shape("error", message), FAILED, as_json=as_json)


def _shape(
    code: str, message: str, details: Mapping[str, object] | None = None
) -> dict[str, object]:
    shaped: dict[str, object] = {"code": code, "message": message}
    return {"error": {**shaped, "details": dict(details)} if details else shaped}


def _report(shaped: Mapping[str, object], code: int, *, as_json: bool) -> int:
    if as_json:
        print_json(shaped)
        return code
    error = shaped["error"]
    assert isinstance(error, Mapping)
    for item in error.get("details", {}).get("items", ()):
        print(f"line {item['line']}: {visible(item['message'])}", file=sys.stderr)
    print(f"error: {visible(error['message'])}", file=sys.stderr)
    return code
