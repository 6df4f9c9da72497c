"""Writes what benches found as one page of Markdown, with its plots beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from rich.table import Table
from rich.text import Text

from muniment.cli.bench_runs import Found
from muniment.cli.bench_views import machine_line

PAGE = "measured.md"
PLOTS = "plots"
_MARK = "## "
_HEAD = """# Measured

Written by `muniment bench all --peer all --into docs`; do not edit. What is measured,
and how, is in [benchmarks.md](benchmarks.md). Times are medians in milliseconds; brackets hold a
95 % bootstrap interval of the ratio of medians.
"""


def write_page(folder: Path, sections: Mapping[str, Found], order: Sequence[str]) -> Path:
    """Write the page and its plots into a folder and return the page's path.

    Sections of the page that is there stay as they are, unless they were measured anew.

    Args:
        folder: It is made when it is not there.
        sections: What was found, by heading.
        order: Every heading, in the order of the page.

    Raises:
        MissingExtraError: The extra `bench` is not installed.
    """
    path = folder / PAGE
    written = _sections(path) | {
        heading: _section(found, folder) for heading, found in sections.items()
    }
    body = [f"{_MARK}{heading}\n\n{written[heading]}" for heading in order if heading in written]
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([_HEAD, *body]), encoding="utf-8")
    return path


def _sections(path: Path) -> dict[str, str]:
    """Return the sections of a page by heading; none when there is no page."""
    if not path.exists():
        return {}
    _, *sections = path.read_text(encoding="utf-8").split(f"\n{_MARK}")
    parted = (section.partition("\n\n") for section in sections)
    return {heading: body.rstrip("\n") + "\n" for heading, _, body in parted}


def _section(found: Found, folder: Path) -> str:
    parts = [machine_line(found.machine).plain + ".\n", *map(markdown, found.views)]
    for chart in found.charts:
        chart.write(folder / PLOTS)
        parts.append(f"![{chart.title}]({PLOTS}/{chart.name}.svg)\n")
    return "\n".join(parts)


def markdown(view: Table | Text) -> str:
    """Return a table of plain cells, or a remark, as Markdown."""
    if isinstance(view, Text):
        return f"{view.plain}\n"
    rows = [[str(column.header) for column in view.columns]]
    rows.append(["---" if column.justify == "left" else "---:" for column in view.columns])
    cells = [cast("list[str]", list(column.cells)) for column in view.columns]
    rows += [list(row) for row in zip(*cells, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
