"""Helpers that several screeners share: what was seen, and in which order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from muniment.results import Finding
from muniment.rules.screening.folding import Folded

BEFORE = 80
AFTER = 40


def seen(folded: Folded, name: str, start: int, end: int) -> Finding:
    """Return a finding that refuses the text, from a place in its folded form."""
    return Finding(name, *folded.span(start, end), True)


def has_any(text: str, stems: Iterable[str]) -> bool:
    """Tell whether any of the stems occurs in a text."""
    for stem in stems:  # noqa: SIM110 - a generator costs more than most of the looks
        if stem in text:
            return True
    return False


def merged(findings: Iterable[Finding]) -> Sequence[Finding]:
    """Return findings in order of position, those of one class that overlap made one."""
    latest: dict[str, Finding] = {}
    done: list[Finding] = []
    for one in sorted(findings, key=lambda found: (found.start, found.end)):
        before = latest.get(one.name)
        if before is not None and one.start < before.end:
            end, refuses = max(before.end, one.end), before.refuses or one.refuses
            latest[one.name] = Finding(one.name, before.start, end, refuses)
            continue
        if before is not None:
            done.append(before)
        latest[one.name] = one
    return sorted((*done, *latest.values()), key=lambda found: (found.start, found.end))
