"""What each bench found, ready to be shown: its report, tables and plots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from muniment.cli import bench_views as views

if TYPE_CHECKING:
    from muniment.bench.footprint import FootprintReport
    from muniment.bench.isolation import IsolationReport
    from muniment.bench.load import LoadReport
    from muniment.bench.machine import Machine
    from muniment.bench.postgres import PostgresReport
    from muniment.bench.recall import RecallReport
    from muniment.bench.sealed import SealedReport
    from muniment.bench.write import WriteReport
    from muniment.records import JSONValue

MILLISECONDS = "CPU milliseconds"
BY_THE_CLOCK = "milliseconds by the clock"


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot of one run.

    Attributes:
        name: Of its file, without the ending.
        title: What is shown.
        unit: What the axis counts.
        values: Numbers above 0, by name.
    """

    name: str
    title: str
    unit: str
    values: Mapping[str, float]

    def write(self, folder: Path) -> Path:
        """Write it into a folder as SVG and return the file.

        Raises:
            MissingExtraError: The extra `bench` is not installed.
        """
        from muniment.bench.plots import bars

        path = folder / f"{self.name}.svg"
        bars(path, self.title, self.unit, self.values)
        return path


@dataclass(frozen=True, slots=True)
class Found:
    """What one bench found.

    Attributes:
        report: As JSON values.
        machine: On what it was measured.
        views: Its tables and remarks.
        charts: Its plots.
        is_sound: Whether everything that was acknowledged was true.
    """

    report: Mapping[str, JSONValue]
    machine: Machine
    views: Sequence[Table | Text]
    charts: Sequence[Chart] = ()
    is_sound: bool = True


def recall(report: RecallReport) -> Found:
    """Return what `bench recall` found."""
    tables = [views.scopes_table(report.scopes)] if report.scopes else []
    tables += [views.peers_table(report.peers)] if report.peers else []
    times = {}
    for one in report.scopes:
        times[f"one pass, {one.records:,} records"] = one.one_pass.cpu
        times[f"muniment warm, {one.records:,} records"] = one.warm.cpu
        times[f"muniment cold, {one.records:,} records"] = one.cold.cpu
    charts = [Chart("recall", "Recall, median", MILLISECONDS, times)] if times else []
    for count, others in sorted({(one.records, one.others) for one in report.peers}):
        found = [one for one in report.peers if (one.records, one.others) == (count, others)]
        beside = {one.name: one.recall.cpu for one in found if one.recall}
        title = f"Recall of {count:,} records among {others:,} of others, median"
        charts.append(Chart(f"recall-{count}-{others}", title, MILLISECONDS, beside))
    return Found(report.to_dict(), report.machine, tables, charts)


def write(report: WriteReport) -> Found:
    """Return what `bench write` found."""
    times = {one.name: one.write.wall for one in report.singles if one.write}
    chart = Chart("write", "One durable write, median", BY_THE_CLOCK, times)
    return Found(report.to_dict(), report.machine, views.writes_tables(report), [chart])


def footprint(report: FootprintReport) -> Found:
    """Return what `bench footprint` found."""
    held = {one.name: one.resident for one in report.costs if one.resident}
    chart = Chart("footprint", "Memory of the process", "megabytes resident", held)
    return Found(report.to_dict(), report.machine, [views.footprint_table(report)], [chart])


def isolation(report: IsolationReport) -> Found:
    """Return what `bench isolation` found."""
    others = f"among {report.other_records:,} others"
    times = {
        "muniment warm, alone": report.warm.alone.cpu,
        f"muniment warm, {others}": report.warm.among.cpu,
        "muniment cold, alone": report.cold.alone.cpu,
        f"muniment cold, {others}": report.cold.among.cpu,
    }
    chart = Chart("isolation", _in_scope(report.scope_records), MILLISECONDS, times)
    shown = (views.isolation_table(report), views.isolation_verdict(report))
    return Found(report.to_dict(), report.machine, shown, [chart])


def sealed(report: SealedReport) -> Found:
    """Return what `bench sealed` found."""
    charts = []
    for count in sorted({one.records for one in report.cases}):
        found = [one for one in report.cases if one.records == count]
        times = {f"{one.name}, plain": one.plain.cpu for one in found}
        times |= {f"{one.name}, sealed": one.sealed.cpu for one in found}
        charts.append(Chart(f"sealed-{count}", _in_scope(count), MILLISECONDS, times))
    return Found(report.to_dict(), report.machine, [views.sealed_table(report)], charts)


def postgres(report: PostgresReport) -> Found:
    """Return what `bench postgres` found."""
    times = {one.name: one.median for one in report.cases if one.median is not None}
    title = f"One call at {report.records:,} records, median"
    chart = Chart("postgres", title, BY_THE_CLOCK, times)
    shown = (views.postgres_table(report), views.postgres_sizes(report))
    return Found(report.to_dict(), report.machine, shown, [chart])


def load(report: LoadReport) -> Found:
    """Return what `bench load` found."""
    shown = (views.load_table(report), views.load_errors(report), views.load_verdict(report))
    return Found(report.to_dict(), report.machine, shown, is_sound=report.is_sound)


def _in_scope(count: int) -> str:
    return f"Recall in a scope of {count:,} records, median"
