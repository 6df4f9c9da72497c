"""What a reviewer sees: all that would be stored, what speaks against it, and what it replaces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from muniment.cli.output import DIM, Words, done, pairs, visible
from muniment.cli.views import (
    NAME,
    findings_text,
    moment_text,
    owner_text,
    panel,
    plural,
    value_text,
)
from muniment.results import Outcome

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType

    from muniment.records import Record
    from muniment.results import Candidate, Written

REMOVED, ADDED = "red strike", "green"
_UNSPACED = "\u2e80-\u9fff\uac00-\ud7a3\uf900-\ufaff"
_WORDS = re.compile(rf"\s+|[{_UNSPACED}]|[^\s{_UNSPACED}]+")

NO_CONFLICT = "Nothing contradicts an active record."


def word_diff(old: str, new: str) -> Text:
    """Return the new text with what went in [-…-] and what came in {+…+}, word by word.

    Hidden characters are escapes on both sides, so that a change of nothing else is seen.
    """
    before, after = _WORDS.findall(visible(old)), _WORDS.findall(visible(new))
    shown = Text()
    for change, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if change == "equal":
            shown.append("".join(before[i:j]))
            continue
        if i < j:
            shown.append(f"[-{''.join(before[i:j])}-]", REMOVED)
        if k < m:
            shown.append(f"{{+{''.join(after[k:m])}+}}", ADDED)
    return shown


def candidate_view(candidate: Candidate, replaced: Record | None) -> RenderableType:
    """Return everything that an approval of a candidate stands for, or its decision.

    Args:
        candidate: The candidate.
        replaced: The active record that approving it would replace, or None.
    """
    said = candidate.statement
    return panel(
        f"{candidate.candidate_id} · {candidate.status.value}",
        pairs(
            {
                "text": Words(said.text),
                "kind": Words(said.kind, NAME),
                "field": None if said.field is None else Words(said.field),
                "value": None if said.field is None else Words(value_text(said.value)),
                "scope": owner_text(candidate.scope),
                "source": Words(f"{said.source_id} ({candidate.path.value})"),
                "authority": f"{candidate.authority.label}, by {candidate.actor}",
                "proposed": moment_text(candidate.created_at),
                "valid from": _time(said.valid_from),
                "valid until": _time(said.valid_until),
                "expires": _time(said.expires_at) or "as its kind says",
                "metadata": Words(value_text(dict(said.metadata))) if said.metadata else None,
                "reference": said.reference,
                "evidence": ", ".join(candidate.evidence) or "none",
                "findings": Words(findings_text(candidate.findings) or "none"),
                **(_decision(candidate) or _replacement(candidate, replaced)),
                "version": str(candidate.version),
                "content hash": candidate.content_hash,
            }
        ),
    )


def _time(given: datetime | str | None) -> str | None:
    return given if given is None or isinstance(given, str) else moment_text(given)


def _replacement(candidate: Candidate, replaced: Record | None) -> dict[str, RenderableType | None]:
    if replaced is None:
        return {"replaces": candidate.contested or "nothing"}
    said = candidate.statement
    old, new = value_text(replaced.value), value_text(said.value)
    return {
        "replaces": f"{replaced.memory_id} ({replaced.authority.label}, by {replaced.actor})",
        "text changes": Words(word_diff(replaced.text, said.text)),
        "value changes": Words(word_diff(old, new)) if old != new else None,
    }


def _decision(candidate: Candidate) -> dict[str, RenderableType | None]:
    if candidate.decided_at is None:
        return {}
    return {
        "decided": f"{moment_text(candidate.decided_at)} by {candidate.decided_by}",
        "reason": candidate.reason,
        "became": candidate.memory_id,
    }


def candidates_table(candidates: Sequence[Candidate], nothing: str) -> RenderableType:
    """Return candidates one below the other: kind, statement, and what speaks against it.

    Args:
        candidates: What to show.
        nothing: What to say when there is none.
    """
    if not candidates:
        return Text(nothing, DIM)
    table = Table.grid(padding=(0, 2))
    table.add_column(style=NAME, no_wrap=True)
    table.add_column(ratio=1)
    for one in candidates:
        said = one.statement
        about = [plural(len(one.findings), "finding")] if one.findings else []
        facts = [
            *([f"{visible(said.field)}={value_text(said.value)}"] if said.field else []),
            owner_text(one.scope),
            visible(said.source_id),
            *about,
        ]
        table.add_row(Words(said.kind), Words(said.text))
        table.add_row("", Words(" · ".join(facts), DIM))
        table.add_row("", Text(one.candidate_id, DIM))
        if one.contested:
            table.add_row("", Text(f"contradicts {one.contested}", "yellow"))
    return table


def none_of(status: str) -> str:
    """Return what an empty list of candidates says."""
    return "Nothing waits for review." if status == "pending" else f"No candidate is {status}."


def written_view(written: Written, verb: str = "Remembered") -> RenderableType:
    """Return what a write did, on one line or two.

    Args:
        written: The result.
        verb: What was done with the statement when it is a record now.
    """
    if written.outcome is Outcome.CONTESTED:
        head = f"{written.memory_id} stands against it, so {written.candidate_id} waits for review."
        return Text.assemble(("! ", "yellow"), head)
    known = written.outcome is Outcome.REPEATED
    details = f"supersedes {written.superseded}" if written.superseded else ""
    verb = f"Already {verb[0].lower()}{verb[1:]}" if known else verb
    return done(f"{verb} as {written.memory_id}", details)
