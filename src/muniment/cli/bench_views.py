"""Tables of what `bench` measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from muniment.cli.output import DIM

if TYPE_CHECKING:
    from muniment.bench.comparison import PeerResult
    from muniment.bench.footprint import FootprintReport
    from muniment.bench.isolation import IsolationReport
    from muniment.bench.load import LoadReport
    from muniment.bench.machine import Machine
    from muniment.bench.postgres import PostgresReport
    from muniment.bench.recall import ScopeResult
    from muniment.bench.sealed import SealedReport
    from muniment.bench.timing import Ratio
    from muniment.bench.write import WriteReport

NOTHING = "–"
ABSENT = "not installed"


def _table(*columns: str) -> Table:
    table = Table(*columns)
    for column in table.columns[1:]:
        column.justify = "right"
    return table


def _ratio(ratio: Ratio | None, digits: int = 2) -> str:
    if ratio is None:
        return NOTHING
    return f"{ratio.middle:.{digits}f} ({ratio.low:.{digits}f}–{ratio.high:.{digits}f})"


def _number(value: float | None, digits: int = 3) -> str:
    return NOTHING if value is None else f"{value:,.{digits}f}"


def machine_line(machine: Machine) -> Text:
    """Return on what a run was measured."""
    versions = ", ".join(f"{name} {version}" for name, version in machine.versions.items())
    return Text(f"{machine.date}; {machine.processor}; {machine.system}; {versions}", DIM)


def scopes_table(scopes: Sequence[ScopeResult]) -> Table:
    """Return our recall by size of the scope; times in milliseconds."""
    table = _table(
        "scope",
        "one pass, CPU",
        "warm CPU",
        "p95",
        "wall",
        "× pass (95 %)",
        "read + pass, CPU",
        "cold CPU",
        "× (95 %)",
        "overlap",
    )
    for one in scopes:
        table.add_row(
            f"{one.records:,}",
            _number(one.one_pass.cpu),
            _number(one.warm.cpu),
            _number(one.warm.cpu_p95),
            _number(one.warm.wall),
            _ratio(one.warm_ratio),
            _number(one.read_and_pass.cpu),
            _number(one.cold.cpu),
            _ratio(one.cold_ratio),
            _number(one.overlap),
        )
    return table


def peers_table(peers: Sequence[PeerResult]) -> Table:
    """Return peers beside ours; times in milliseconds."""
    table = _table(
        "system",
        "version",
        "scope",
        "others",
        "CPU",
        "p95",
        "wall",
        "× ours (95 %)",
        "overlap",
        "foreign",
    )
    for one in peers:
        time = one.recall
        times = [None] * 3 if time is None else [time.cpu, time.cpu_p95, time.wall]
        table.add_row(
            one.name,
            ABSENT if one.version is None else one.version,
            f"{one.records:,}",
            f"{one.others:,}",
            *map(_number, times),
            _ratio(one.times_ours),
            _number(one.overlap),
            NOTHING if one.foreign is None else str(one.foreign),
        )
    return table


def writes_tables(report: WriteReport) -> list[Table]:
    """Return single writes in milliseconds, and many in records a second."""
    single = _table("write", "version", "CPU", "wall", "× flush (95 %)", "× transaction (95 %)")
    for one in report.singles:
        single.add_row(
            one.name,
            ABSENT if one.version is None else one.version,
            _number(one.write.cpu if one.write else None),
            _number(one.write.wall if one.write else None),
            _ratio(one.over_flush),
            _ratio(one.over_ledger),
        )
    many = _table("many", "records", "a second", "a CPU second", "lost")
    for bulk in report.bulks:
        many.add_row(
            bulk.name,
            f"{bulk.records:,}",
            _number(bulk.per_second, 0),
            _number(bulk.per_cpu_second, 0),
            str(bulk.lost),
        )
    beside = _table("with the embedder", "records", "embedder alone", "remember_many", "share")
    if report.embedded is not None:
        found = report.embedded
        beside.add_row(
            found.model,
            f"{found.records:,}",
            f"{found.alone:,.1f} a second",
            f"{found.remembered:,.1f} a second",
            f"{found.share:.1%}",
        )
    return [single, many, beside]


def footprint_table(report: FootprintReport) -> Table:
    """Return what each costs to have."""
    table = _table(
        "system", "version", "records", "import ms", "open ms", "resident MB", "bytes a record"
    )
    for one in report.costs:
        table.add_row(
            one.name,
            ABSENT if one.version is None else one.version,
            f"{one.records:,}",
            _number(one.import_ms, 0),
            _number(one.open_ms, 1),
            _number(one.resident, 0),
            _number(one.bytes_each, 0),
        )
    return table


def isolation_table(report: IsolationReport) -> Table:
    """Return recall among others beside recall alone."""
    table = _table("recall", "calls", "alone, CPU", "among others, CPU", "× alone (95 %)")
    for name, found in (("warm", report.warm), ("cold", report.cold)):
        table.add_row(
            name,
            str(found.alone.calls),
            _number(found.alone.cpu),
            _number(found.among.cpu),
            _ratio(found.ratio, 3),
        )
    return table


def isolation_verdict(report: IsolationReport) -> Text:
    """Return whether both stores gave the same, and nothing of anybody else."""
    same = "the same" if report.same else "DIFFERENT"
    return Text(
        f"{report.scope_records:,} records in the scope, {report.other_records:,} of "
        f"{report.other_scopes:,} others; {same} records in both stores, "
        f"{report.foreign} of anybody else."
    )


def sealed_table(report: SealedReport) -> Table:
    """Return recall in a sealed store beside a plain one; times in milliseconds."""
    table = _table("recall", "records", "plain, CPU", "sealed, CPU", "× plain (95 %)", "answers")
    for one in report.cases:
        table.add_row(
            one.name,
            f"{one.records:,}",
            _number(one.plain.cpu),
            _number(one.sealed.cpu),
            _ratio(one.ratio),
            "the same" if one.same else "DIFFERENT",
        )
    return table


def load_table(report: LoadReport) -> Table:
    """Return how long calls took under load; times in milliseconds by the clock."""
    table = _table("call", "succeeded", "p50", "p95", "p99", "longest")
    for one in report.latencies:
        times = (one.p50, one.p95, one.p99, one.longest)
        table.add_row(one.name, f"{one.calls:,}", *(_number(time, 1) for time in times))
    return table


def load_errors(report: LoadReport) -> Text:
    """Return what failed, and how often."""
    failed = ", ".join(f"{count:,} {code}" for code, count in sorted(report.errors.items()))
    return Text(
        f"{report.clients} clients of {report.threads} threads, {report.throughput:,.1f} calls a "
        f"second for {report.seconds:,.1f} s; server killed {report.server_kills} times, clients "
        f"{report.client_kills}; failed: {failed or 'nothing'}"
    )


def load_verdict(report: LoadReport) -> Text:
    """Return what the whole store was checked for at the end."""
    said = report.checked
    return Text(
        f"{said.written:,} writes and {said.forgotten:,} deletions acknowledged: {said.lost} lost, "
        f"{said.resurrected} resurrected, {said.foreign} foreign, {said.twice} twice; "
        f"{said.entries:,} links of audit chains, {said.flaws} flaws; every client "
        f"{'recovered' if report.recovered else 'DID NOT recover'}; {report.undocumented} "
        "undocumented errors"
    )


def postgres_table(report: PostgresReport) -> Table:
    """Return recall on PostgreSQL beside its limit and others; times by the clock."""
    table = _table(
        "records", "version", "median", "p95", "× SELECT 1 (95 %)", "× ours (95 %)", "server CPU"
    )
    table.columns[0].header = f"{report.records:,} records in the scope"
    for one in report.cases:
        if one.version is None:
            table.add_row(one.name, ABSENT, *[NOTHING] * 5)
            continue
        ratios = (_ratio(one.times_select), _ratio(one.times_ours))
        times = (_number(one.median), _number(one.p95))
        table.add_row(one.name, one.version, *times, *ratios, _number(one.server_cpu, 2))
    return table


def postgres_sizes(report: PostgresReport) -> Text:
    """Return what a record takes in PostgreSQL."""
    return Text(f"{report.bytes_each:,} bytes a record with its indexes; server {report.server}")
