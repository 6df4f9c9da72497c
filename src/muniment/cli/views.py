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
from muniment.rules.deletion import MEANINGS
from muniment.scope import Space
from muniment.trace import Degraded, Reason

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from muniment.records import AuditEntry, JSONValue, Packet, Record
    from muniment.results import Finding, Preview, Receipt
    from muniment.scope import Owner
    from muniment.trace import RecallTrace

NAME = "cyan"
BORDER = "bright_black"

REJECTIONS: Mapping[Reason, str] = {
    Reason.EXPIRED: "expired",
    Reason.SUPERSEDED: "superseded",
    Reason.NOT_YET_VALID: "not yet valid",
    Reason.NO_LONGER_VALID: "no longer valid",
    Reason.KIND: "of another kind",
    Reason.READER: "of a kind that agents may not read",
    Reason.FILTER: "outside the filters",
    Reason.SCORE: "below the minimum score",
    Reason.LIMIT: "over the limit",
    Reason.BUDGET: "over the budget",
    Reason.SUPERSEDED: "superseded",
    Reason.DUPLICATE: "only repeats another record",
    Reason.SOURCE_SHARE: "beyond the share of its source",
    Reason.OVERRULED: "overruled by a shared space",
}
DEGRADATIONS: Mapping[Degraded, str] = {
    Degraded.NO_EMBEDDER: "no embedder is configured, so recall went by words alone",
    Degraded.EMBEDDER_FAILED: "the embedder failed, so recall went by words alone",
    Degraded.EMBEDDING_PENDING: "some records wait for an embedding; run `muniment maintain embed`",
    Degraded.QUERY_CUT: "the question was too long and its end was not used",
    Degraded.RERANKER_FAILED: "the reranker failed; ordered without it",
    Degraded.RESOLVER_FAILED: "a system of record did not answer; its stored value is shown",
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


def owner_text(owner: Owner) -> str:
    """Return whose something is, on one line."""
    if isinstance(owner, Space):
        return visible(f"{owner.type.value}/{owner.space_id}")
    return visible(f"{owner.user_id} with {owner.agent_id}")


def findings_text(findings: Sequence[Finding]) -> str | None:
    """Return what screening and comparison saw, one finding a line, or None without any."""
    return "\n".join(_finding(one) for one in findings) or None


def _finding(finding: Finding) -> str:
    place = f" at {finding.start}–{finding.end}" if finding.end else ""
    about = f" {finding.memory_id}" if finding.memory_id else ""
    return f"{finding.name.replace('_', ' ')}{place}{about}"


def _statement(record: Record, *, contested: bool = False) -> Group:
    active = record.status is Status.ACTIVE
    facts = [
        *([] if active else [record.status.value]),
        *(["contested"] if contested else []),
        *([owner_text(record.scope)] if isinstance(record.scope, Space) else []),
        *([f"{visible(record.field)}={value_text(record.value)}"] if record.field else []),
        _day(record.valid_from or record.created_at),
        *([f"until {_day(record.valid_until)}"] if record.valid_until else []),
        visible(record.source.source_id),
    ]
    return Group(
        Words(record.text, "" if active else DIM),
        Words(" · ".join(facts), DIM),
        Text(record.memory_id, DIM),
    )


def value_text(value: JSONValue) -> str:
    """Return a value on one line: a text as it stands, anything else as JSON."""
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _day(moment: datetime) -> str:
    return iso(moment)[:10]


def record_view(record: Record) -> RenderableType:
    """Return everything about one record."""
    value = None if record.field is None else Words(value_text(record.value))
    return panel(
        record.memory_id,
        pairs(
            {
                "text": Words(record.text),
                "kind": Text(record.kind, NAME),
                "field": None if record.field is None else Words(record.field),
                "value": value,
                "status": record.status.value,
                "source": Words(f"{record.source.source_id} ({record.source.path.value})"),
                "scope": owner_text(record.scope),
                "authority": f"{record.authority.label}, by {record.actor}",
                "approved by": record.approved_by,
                "evidence": ", ".join(record.evidence) or None,
                "reference": record.reference,
                "created": iso(record.created_at),
                "valid from": moment_text(record.valid_from),
                "valid until": moment_text(record.valid_until),
                "expires": moment_text(record.expires_at) or "never",
                "metadata": Words(value_text(dict(record.metadata))) if record.metadata else None,
                "supersedes": record.supersedes,
                "superseded by": record.superseded_by,
                "embedding": record.embedding.value,
            }
        ),
    )


def moment_text(moment: datetime | None) -> str | None:
    """Return a time as ISO-8601 text, or None."""
    return None if moment is None else iso(moment)


def panel(title: str, *content: RenderableType) -> Panel:
    """Return a quiet frame with a title."""
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
        return panel(title, Text("No relevant record was found.", DIM))
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style="bold", no_wrap=True)
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for item in packet:
        statement = _statement(item.record, contested=item.contested)
        table.add_row(f"{item.score:.2f}", Text(item.record.kind), statement)
    return panel(title, table)


def trace_panel(trace: RecallTrace) -> RenderableType:
    """Return why these records and no others: ids, numbers and reasons."""
    path = (
        f"{plural(trace.records, 'record')} in the scope → {trace.considered:,} considered → "
        f"{len(trace.hits):,} in the packet"
    )
    left_out = [f"{count:,} {REJECTIONS[reason]}" for reason, count in trace.rejected.items()]
    embedder = [f" ({visible(trace.embedder)})"] if trace.embedder else []
    facts = pairs(
        {
            "path": path,
            "left out": ", ".join(left_out) or None,
            "channels": "".join([", ".join(trace.channels), *embedder]),
            "reranker": trace.reranker,
            "degraded": Text("; ".join(DEGRADATIONS[why] for why in trace.degraded), "yellow")
            if trace.degraded
            else None,
        }
    )
    hits: list[RenderableType] = [_hits_table(trace), Text()] if trace.hits else []
    return panel("Trace", *hits, facts)


def _hits_table(trace: RecallTrace) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    table.add_column("memory_id", no_wrap=True)
    for name in ("score", "exact", "lexical", "semantic", *_reranked_column(trace)):
        table.add_column(name, justify="right", no_wrap=True)
    for hit in trace.hits:
        exact = "yes" if hit.exact else "–"
        reranked = [_number(hit.reranked)] if trace.reranker else []
        numbers = (f"{hit.lexical:.2f}", _number(hit.semantic), *reranked)
        table.add_row(hit.memory_id, f"{hit.score:.2f}", exact, *numbers)
    return table


def _reranked_column(trace: RecallTrace) -> tuple[str, ...]:
    return ("reranked",) if trace.reranker else ()


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"


def explained_panel(trace: RecallTrace) -> RenderableType:
    """Return the verdict on every record near the cut: ids, numbers and reasons."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    table.add_column("memory_id", no_wrap=True)
    votes = ("words", "meaning", "thread", "time")
    for name in ("score", "rank", *votes, *_reranked_column(trace)):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict")
    for one in trace.explained:
        said = (one.lexical_vote, one.semantic_vote, one.thread_vote, one.time_vote)
        reranked = [_number(one.reranked)] if trace.reranker else []
        verdict = "in the packet" if one.reason is None else REJECTIONS[one.reason]
        named = ", named exactly" if one.exact else ""
        table.add_row(
            one.memory_id,
            *(f"{number:.2f}" for number in (one.score, one.rank, *said)),
            *reranked,
            Text(f"{verdict}{named}", "green" if one.reason is None else DIM),
        )
    return panel("Explanation", table)


def preview_view(preview: Preview) -> RenderableType:
    """Return what would be stored, and what would come of it."""
    if not preview.accepted:
        verdict = Text(f"✗ would be refused: {preview.refusal}", "red")
    elif preview.repeats:
        verdict = Text(f"✓ already written as {preview.repeats}", "green")
    elif preview.contested:
        verdict = Text("! would wait for review: it contradicts a record that stands", "yellow")
    else:
        verdict = Text("✓ would be written", "green")
    return panel(
        "Preview",
        verdict,
        pairs(
            {
                "text": Words(preview.text),
                "kind": Text(preview.kind, NAME),
                "field": None if preview.field is None else Words(preview.field),
                "value": None if preview.field is None else Words(value_text(preview.value)),
                "expires": moment_text(preview.expires_at) or "never",
                "supersedes": preview.supersedes,
                "contested by": preview.contested,
                "findings": findings_text(preview.findings),
            }
        ),
    )


def receipt_view(receipt: Receipt) -> RenderableType:
    """Return the evidence of a deletion, as far as it has come."""
    steps = [f"{name} {iso(at)}" for name, at in receipt.states]
    facts = {
        "forgotten": _forgotten(receipt),
        "asked by": receipt.actor or None,
        "steps": "\n".join(steps),
        "remains": "\n".join(receipt.remains) or None,
        "in the chain": _link(receipt) if receipt.number else None,
    }
    table = _surfaces(receipt, ("found", "removed", "left"))
    return panel(f"Receipt · {receipt.receipt_id}", table, Text(), pairs(facts))


def _link(receipt: Receipt) -> str:
    return (
        f"no. {receipt.number} of the tenant's receipts, each of which names the one before it, so "
        f"that none can be dropped unseen; digest {receipt.digest}"
    )


def rehearsal_view(receipt: Receipt) -> RenderableType:
    """Return what a deletion would take."""
    stays = [Text(sentence) for sentence in receipt.remains]
    return panel(f"Would forget: {receipt.target}", _surfaces(receipt, ("found",)), *stays)


def _forgotten(receipt: Receipt) -> str:
    return "\n".join(receipt.memory_ids) or f"{plural(receipt.records, 'record')}, {receipt.target}"


def _surfaces(receipt: Receipt, names: Sequence[str]) -> Table:
    surfaces = Table(box=None, padding=(0, 2, 0, 0), header_style=DIM, pad_edge=False)
    surfaces.add_column("surface")
    for name in names:
        surfaces.add_column(name, justify="right")
    surfaces.add_column("what it is", style=DIM)
    for one in receipt.surfaces:
        left = Text(str(one.left), "green" if one.left == 0 else "red")
        cells: dict[str, str | Text] = {
            "found": str(one.found),
            "removed": str(one.removed),
            "left": left,
        }
        surfaces.add_row(one.name, *(cells[name] for name in names), MEANINGS.get(one.name, ""))
    return surfaces


def receipts_table(receipts: Sequence[Receipt]) -> RenderableType:
    """Return receipts one below the other, with how far each deletion has come."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(ratio=1, style=NAME)
    for one in receipts:
        step, at = one.states[-1]
        about = f"{iso(at)[:19]}Z · {one.target} · {plural(one.records, 'record')}"
        table.add_row(one.receipt_id, Text(step))
        table.add_row(Text(about, DIM), "")
    return table


def audit_table(entries: Sequence[AuditEntry]) -> RenderableType:
    """Return the audit entries, oldest first, each with the ids it is about below it."""
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", style=DIM)
    table.add_column(no_wrap=True)
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for one in entries:
        why = f" · {one.reason}" if one.reason else ""
        at = f"{iso(one.at)[:19]}Z"
        table.add_row(str(one.number), at, Text(one.action), Words(f"{one.actor}{why}"))
        for memory_id in one.memory_ids:
            table.add_row("", "", "", Text(memory_id, DIM))
    return table
