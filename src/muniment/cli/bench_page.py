"""Writes what benches found as one page of Markdown, with its plots beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from rich.table import Table
from rich.text import Text

from muniment.cli.bench_runs import Found
from muniment.cli.bench_views import machine_line

PAGE = "measured.md"
PLOTS = "plots"
_HEAD = """# Measured

Written by `muniment bench all --peer all --into docs`; do not edit. What is measured,
and how, is in [benchmarks.md](benchmarks.md). Times are medians in milliseconds; brackets hold a
95 % bootstrap interval of the ratio of medians.
"""


def write_page(folder: Path, sections: Mapping[str, Found]) -> Path:
    """Write the page and its plots into a folder and return the page's path.

    Args:
        folder: It is made when it is not there.
        sections: What was found, by heading.

    Raises:
        MissingExtraError: The extra `bench` is not installed.
    """
    parts = [_HEAD]
    for heading, found in sections.items():
        parts += [f"## {heading}\n", machine_line(found.machine).plain + ".\n"]
        parts += [markdown(view) for view in found.views]
        for chart in found.charts:
            chart.write(folder / PLOTS)
            parts.append(f"![{chart.title}]({PLOTS}/{chart.name}.svg)\n")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / PAGE
    path.write_text("\n".join(parts), encoding="utf-8")
    return path


def markdown(view: Table | Text) -> str:
    """Return a table of plain cells, or a remark, as Markdown."""
    if isinstance(view, Text):
        return f"{view.plain}\n"
    rows = [[str(column.header) for column in view.columns]]
    rows.append(["---" if column.justify == "left" else "---:" for column in view.columns])
    cells = [cast("list[str]", list(column.cells)) for column in view.columns]
    rows += [list(row) for row in zip(*cells, strict=True)]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)
