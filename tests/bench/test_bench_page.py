"""What the benches found becomes one page of Markdown with its plots, and one JSON object."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.table import Table
from typer.testing import CliRunner

from muniment.bench import isolation, plots, recall
from muniment.cli import app
from muniment.cli import bench_runs as shown
from muniment.cli.bench_all import Plan
from muniment.cli.bench_page import markdown, write_page
from muniment.errors import InvalidInputError, MissingExtraError
from muniment.scoped import Progress

HEADINGS = ["Recall", "What other people's records cost"]


def small(progress: Progress) -> shown.Found:
    return shown.recall(recall.run(scopes=(10,), others=0, calls=20, progress=progress))


def test_a_page_holds_every_table_and_shows_every_plot(tmp_path: Path) -> None:
    crowd = isolation.run(scope_records=10, other_records=1000, calls=20)
    found = dict(zip(HEADINGS, (small(lambda *_: None), shown.isolation(crowd)), strict=True))

    page = write_page(tmp_path / "docs", found, HEADINGS).read_text(encoding="utf-8")

    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == HEADINGS
    assert "| 10 |" in page
    assert "| warm | 20 |" in page
    assert page.count(found["Recall"].machine.processor) == len(HEADINGS)
    drawn = {path.name for path in (tmp_path / "docs" / "plots").iterdir()}
    assert drawn == {"recall.svg", "isolation.svg"}
    assert all(f"(plots/{name})" in page for name in drawn)


def test_a_store_that_lost_something_ends_the_run_with_a_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = replace(small(lambda *_: None), is_sound=False)
    monkeypatch.setattr(Plan, "benches", lambda _: {"Under load": lambda _: found})

    result = CliRunner().invoke(app, ["bench", "all", "--json"])

    assert result.exit_code == 1
    assert list(json.loads(result.stdout)) == ["Under load"]


def test_what_is_measured_alone_leaves_the_rest_of_the_page(tmp_path: Path) -> None:
    first, second = small(lambda *_: None), small(lambda *_: None)
    order = ["A", "B", "C"]
    write_page(tmp_path, {"C": first, "A": first}, order)
    before = (tmp_path / "measured.md").read_text(encoding="utf-8")

    after = write_page(tmp_path, {"B": second}, order).read_text(encoding="utf-8")

    assert [line[3:] for line in after.splitlines() if line.startswith("## ")] == order
    assert after.startswith(before[: before.index("## C")])
    assert after.endswith(before[before.index("## C") :])
    assert write_page(tmp_path, {"B": second}, order).read_text(encoding="utf-8") == after


def test_a_folder_for_plots_is_refused_before_anything_is_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(plots, "find_spec", lambda _: None)
    monkeypatch.setattr(recall, "run", lambda **_: pytest.fail("it measured"))

    result = CliRunner().invoke(app, ["bench", "recall", "--quick", "--plots", str(tmp_path)])

    assert isinstance(result.exception, MissingExtraError)
    assert "muniment[bench]" in str(result.exception)


def test_a_table_in_markdown_has_a_line_a_row_and_a_cell_a_column() -> None:
    table = Table("system", "CPU")
    table.columns[1].justify = "right"
    table.add_row("muniment", "1.5")

    assert markdown(table) == "| system | CPU |\n| --- | ---: |\n| muniment | 1.5 |\n"


@pytest.mark.parametrize("arguments", [[], ["--json"]])
def test_all_benches_run_in_turn_and_what_cannot_is_left_out(
    arguments: Sequence[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def absent(_: Progress) -> shown.Found:
        raise MissingExtraError("pip install the server.")

    found = {"On PostgreSQL": absent, "Recall": small}
    monkeypatch.setattr(Plan, "benches", lambda _: found)
    result = CliRunner().invoke(app, ["bench", "all", "--into", str(tmp_path), *arguments])

    assert result.exit_code == 0
    assert "On PostgreSQL is left out. pip install the server." in result.stderr
    assert (tmp_path / "measured.md").exists()
    if arguments:
        assert list(json.loads(result.stdout)) == ["Recall"]
    else:
        assert "one pass, CPU" in result.stdout
    wrong = CliRunner().invoke(app, ["bench", "all", "--only", "Nothing"])
    assert isinstance(wrong.exception, InvalidInputError)
