"""How values reach a terminal or a pipe: calm text for people, one JSON object for programs."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, TextIO

from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType, RenderResult

    from muniment.records import JSONValue
    from muniment.scoped import Progress

PIPE_WIDTH = 120
DIM = "dim"
_FSI, _PDI = "\u2068", "\u2069"
_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e"
    "\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
    "|(?<![^\x00-\u02ff])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u02ff])"
)


def visible(text: str) -> str:
    """Return a text whose control, direction and invisible characters are written as escapes.

    What is stored may not move the cursor, colour the terminal or hide. A joiner stays between
    two letters that are not Latin, as in Persian and in emoji.
    """
    return _HIDDEN.sub(lambda match: _escape(ord(match[0])), text)


def _escape(code: int) -> str:
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def is_right_to_left(line: str) -> bool:
    """Return whether a line holds right-to-left letters."""
    return _RIGHT_TO_LEFT.search(line) is not None


class Words:
    """A text of a person: wrapped like any other, then isolated line by line on a terminal.

    Without the isolates, right-to-left letters would drag along what stands beside them: the
    border, the next column, a full stop. In a pipe they would be foreign characters in the text.
    """

    def __init__(self, text: str | Text, style: str = "") -> None:
        """Take the text as it is stored, or one whose characters are visible already."""
        self._text = text if isinstance(text, Text) else Text(visible(text), style)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """Return how wide it can get."""
        return Measurement.get(console, options, self._text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the lines."""
        for line in self._text.wrap(console, options.max_width):
            line.rstrip()
            mark = console.is_terminal and is_right_to_left(line.plain)
            yield Text.assemble(_FSI, line, _PDI, style=self._text.style) if mark else line


def _console(file: TextIO, *, stderr: bool = False) -> Console:
    width = None if file.isatty() else PIPE_WIDTH
    return Console(stderr=stderr, highlight=False, width=width, emoji=False, markup=False)


@dataclass(frozen=True, slots=True)
class Out:
    """Prints the result of one command.

    Attributes:
        as_json: Whether the result is printed as one JSON object.
    """

    as_json: bool

    def emit(self, value: Mapping[str, JSONValue], *views: RenderableType) -> None:
        """Print a result.

        Args:
            value: The result as JSON values; printed with `--json`.
            views: The result for people; printed otherwise.
        """
        if self.as_json:
            print_json(value)
        else:
            self.show(*views)

    def show(self, *views: RenderableType) -> None:
        """Print what people see, unless the result is JSON."""
        if not self.as_json:
            console = _console(sys.stdout)
            for view in views:
                console.print(view)

    def note(self, *views: RenderableType) -> None:
        """Print a remark beside the result, to standard error."""
        console = _console(sys.stderr, stderr=True)
        for view in views:
            console.print(view)

    @contextmanager
    def progress(self, doing: str) -> Iterator[Progress]:
        """Show a progress bar on standard error while a block runs, if that is a terminal.

        Args:
            doing: What is being done, such as `Embedding`.
        """
        if not sys.stderr.isatty():
            yield lambda _done, _total: None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        console = _console(sys.stderr, stderr=True)
        name = TextColumn("{task.description}", markup=False)
        columns = (name, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Bar(*columns, console=console, transient=True) as bar:
            task = bar.add_task(doing, total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)


def print_json(value: Mapping[str, object]) -> None:
    """Print one JSON object on standard output; escaped where the encoding asks for it."""
    encoding = (getattr(sys.stdout, "encoding", None) or "utf-8").lower().replace("-", "")
    print(json.dumps(value, ensure_ascii=encoding != "utf8", indent=2))


def pairs(rows: Mapping[str, RenderableType | None]) -> Table:
    """Return names and values in two columns, without those that are None."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=DIM, no_wrap=True)
    table.add_column()
    for name, value in rows.items():
        if value is not None:
            table.add_row(name, Text(visible(value)) if isinstance(value, str) else value)
    return table


def done(text: str, details: str = "") -> Group:
    """Return a line that says that something was done."""
    line = Text.assemble(("✓ ", "green"), visible(text))
    return Group(line, *([Text(f"  {visible(details)}", DIM)] if details else []))
