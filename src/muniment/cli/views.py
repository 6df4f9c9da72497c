"""What people see: records, packets, traces, receipts, as quiet panels and tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from muniment.cli.output import DIM, Words, pairs, visible
from muniment.clock import iso
from muniment.records import Status
from muniment.trace import Degraded, Reason

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from muniment.records import AuditEntry, JSONValue, Packet, Record
    from muniment.results import Preview, Receipt
    from muniment.trace import RecallTrace

NAME = "cyan"
BORDER = "bright_black"

_REASONS: Mapping[Reason, str] = {
    Reason.EXPIRED: "expired",
    Reason.NOT_YET_VALID: "not yet valid",
    Reason.NO_LONGER_VALID: "no longer valid",
    Reason.KIND: "of another kind",
    Reason.FILTER: "outside the filters",
    Reason.SCORE: "below the minimum score",
    Reason.LIMIT: "over the limit",
    Reason.BUDGET: "over the budget",
}
_DEGRADED: Mapping[Degraded, str] = {
    Degraded.NO_EMBEDDER: "no embedder is configured, so recall went by words alone",
    Degraded.EMBEDDER_FAILED: "the embedder failed, so recall went by words alone",
    Degraded.EMBEDDING_PENDING: "some records wait for an embedding; run `muniment maintain embed`",
    Degraded.QUERY_CUT: "the question was too long and its end was not used",
}


def plural(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def records_table(records: Sequence[Record]) -> RenderableType:
    """Return records one below the other: kind, statement, and where it comes from."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for record in records:
        table.add_row(Text(record.kind), _statement(record))
    return table


def _statement(record: Record) -> Group:
    active = record.status is Status.ACTIVE
    facts = [
        *([] if active else [record.status.value]),
        *([f"{visible(record.field)}={_short(record.value)}"] if record.field else []),
        _day(record.valid_from or record.created_at),
        *([f"until {_day(record.valid_until)}"] if record.valid_until else []),
        visible(record.source.source_id),
    ]
    return Group(
        Words(record.text, "" if active else DIM),
        Words(" · ".join(facts), DIM),
        Text(record.memory_id, DIM),
    )


def _short(value: JSONValue) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _day(moment: datetime) -> str:
    return iso(moment)[:10]


def record_view(record: Record) -> RenderableType:
    """Return everything about one record."""
    value = None if record.field is None else Words(_short(record.value))
    return _panel(
        record.memory_id,
        pairs(
            {
                "text": Words(record.text),
                "kind": Text(record.kind, NAME),
                "field": None if record.field is None else Words(record.field),
                "value": value,
                "status": record.status.value,
                "source": Words(f"{record.source.source_id} ({record.source.path.value})"),
                "authority": f"{record.authority.label}, by {record.actor}",
                "created": iso(record.created_at),
                "valid from": _moment(record.valid_from),
                "valid until": _moment(record.valid_until),
                "expires": _moment(record.expires_at) or "never",
                "metadata": Words(_short(dict(record.metadata))) if record.metadata else None,
                "supersedes": record.supersedes,
                "superseded by": record.superseded_by,
                "embedding": record.embedding.value,
            }
        ),
    )


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else iso(moment)


def _panel(title: str, *content: RenderableType) -> Panel:
    return Panel(
        Group(*content),
        title=Text(title, "bold"),
        title_align="left",
        border_style=BORDER,
        box=box.ROUNDED,
        padding=(0, 1),
    )


def packet_panel(packet: Packet) -> RenderableType:
    """Return the records that a model would be shown, best first, with their scores."""
    title = f"Packet · {plural(len(packet), 'record')} · {plural(packet.tokens, 'token')}"
    if not packet.items:
        return _panel(title, Text("No relevant record was found.", DIM))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for item in packet:
        table.add_row(f"{item.score:.2f}", Text(item.record.kind), _statement(item.record))
    return _panel(title, table)


def trace_panel(trace: RecallTrace) -> RenderableType:
    """Return why these records and no others: ids, numbers and reasons."""
    path = (
        f"{plural(trace.records, 'record')} in the scope → {trace.considered:,} considered → "
        f"{len(trace.hits):,} in the packet"
    )
    left_out = [f"{count:,} {_REASONS[reason]}" for reason, count in trace.rejected.items()]
    embedder = [f" ({visible(trace.embedder)})"] if trace.embedder else []
    facts = pairs(
        {
            "path": path,
            "left out": ", ".join(left_out) or None,
            "channels": "".join([", ".join(trace.channels), *embedder]),
            "degraded": Text("; ".join(_DEGRADED[why] for why in trace.degraded), "yellow")
            if trace.degraded
            else None,
        }
    )
    hits: list[RenderableType] = [_hits_table(trace), Text()] if trace.hits else []
    return _panel("Trace", *hits, facts)


def _hits_table(trace: RecallTrace) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    table.add_column("memory_id", no_wrap=True)
    for name in ("score", "exact", "lexical", "semantic"):
        table.add_column(name, justify="right", no_wrap=True)
    for hit in trace.hits:
        semantic = "–" if hit.semantic is None else f"{hit.semantic:.2f}"
        exact = "yes" if hit.exact else "–"
        table.add_row(hit.memory_id, f"{hit.score:.2f}", exact, f"{hit.lexical:.2f}", semantic)
    return table


def preview_view(preview: Preview) -> RenderableType:
    """Return what would be stored, and what would come of it."""
    if not preview.accepted:
        verdict = Text(f"✗ would be refused: {preview.refusal}", "red")
    elif preview.repeats:
        verdict = Text(f"✓ already written as {preview.repeats}", "green")
    else:
        verdict = Text("✓ would be written", "green")
    findings = ", ".join(f"{one.name} at {one.start}–{one.end}" for one in preview.findings)
    return _panel(
        "Preview",
        verdict,
        pairs(
            {
                "text": Words(preview.text),
                "kind": Text(preview.kind, NAME),
                "field": None if preview.field is None else Words(preview.field),
                "value": None if preview.field is None else Words(_short(preview.value)),
                "expires": _moment(preview.expires_at) or "never",
                "supersedes": preview.supersedes,
                "findings": findings or None,
            }
        ),
    )


def receipt_view(receipt: Receipt) -> RenderableType:
    """Return the evidence of a deletion."""
    surfaces = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    surfaces.add_column("surface")
    for name in ("found", "removed", "left"):
        surfaces.add_column(name, justify="right")
    for one in receipt.surfaces:
        left = Text(str(one.left), "green" if one.left == 0 else "red")
        surfaces.add_row(one.name, str(one.found), str(one.removed), left)
    steps = [f"{name} {iso(at)}" for name, at in receipt.states]
    facts = {"forgotten": "\n".join(receipt.memory_ids), "steps": "\n".join(steps)}
    facts |= {"remains": "\n".join(receipt.remains)} if receipt.remains else {}
    return _panel(f"Receipt · {receipt.receipt_id}", surfaces, Text(), pairs({**facts}))


def audit_table(entries: Sequence[AuditEntry]) -> RenderableType:
    """Return the audit entries, oldest first."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    table.add_column("no.", justify="right", style=DIM)
    for name in ("at", "actor", "action", "records", "reason"):
        table.add_column(name, no_wrap=name != "records", style=NAME if name == "action" else "")
    for one in entries:
        ids = "\n".join(one.memory_ids)
        at = f"{iso(one.at)[:19]}Z"
        table.add_row(str(one.number), at, one.actor, one.action, ids, one.reason or "")
    return table
