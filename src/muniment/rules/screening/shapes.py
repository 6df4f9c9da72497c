"""Raw transcripts and tool output, by their shape and length."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from muniment.results import Finding
from muniment.rules.screening.folding import Folded

LONGEST_STATEMENT = 4000
"""Characters of a statement that a model may propose."""

MOST_TURNS = 3
MOST_LINES = 3
MOST_TAGS = 6
LEAST_DUMP = 160
"""Characters below which structured text is a value, not a dump."""

_ROLES = (
    "user|assistant|system|human|ai|bot|agent|tool|function|customer|caller|support|me|you|model|"
    "interviewer|q|a|speaker \\d+|کاربر|دستیار|سیستم|ربات|مشتری|پشتیبان|پشتیبانی|من|شما"
    "|عامل|ابزار"
)
_FORMS = {
    "turn": rf"(?im)^[ \t>*\-\[\d:\].]{{0,24}}(?:{_ROLES})\W{{0,4}}[:：]",
    "named": (
        r"(?m)^[ \t>*]{0,4}(?:\[[^\]\n]{3,24}\]\s?)?[A-Z][\w.'-]{0,24}"
        r"(?: [A-Z][\w.'-]{0,24})?: \S"
    ),
    "chatml": (
        r"<\|?(?:im_start|start_header_id|user|assistant|system)\|?>|\[/?INST\]"
        r"|\"role\"\s?:\s?\""
    ),
    "trace": (
        r"Traceback \(most recent call last\)|(?m:^\s{1,8}at [\w.$<>/ ]{2,80}[(:])"
        r"|(?m:^\s{1,8}File \"[^\"\n]{1,200}\", line \d)|Exception in thread|(?m:^goroutine \d)"
    ),
    "log": (
        r"(?m)^[^\w\n]{0,3}(?:\d{4}-\d\d-\d\d|\d\d[:/]\d\d[:/]\d\d"
        r"|\w{3} {1,2}\d{1,2} \d\d:)[^\n]{0,60}?"
        r"(?:\b(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|TRACE|NOTICE)\b|\w+\[\d+\]:|HTTP/\d"
        r"|\bGET |\bPOST )"
        r"|(?m:^\S{1,40} \S{1,20} \S{1,20} \[\d\d/\w{3}/\d{4}[^\n]{0,40}\] \")"
        r"|(?m:^[^\w\n]{0,2}(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b)"
    ),
    "tag": r"</?[a-zA-Z][\w-]{0,20}(?:\s[^<>\n]{0,200})?/?>",
    "pair": r"[\"'][\w $.@-]{1,60}[\"']\s?:\s?(?:[\"'\d\[{-]|true|false|null|None|True|False)",
    "row": r"(?m)^[^\n,|\t]{0,60}(?:[,|\t][^\n,|\t]{0,60}){3,}$",
}


@cache
def _form(name: str) -> re.Pattern[str]:
    return re.compile(_FORMS[name])


def _count(name: str, text: str, most: int) -> int:
    """Return how often a form occurs, counting no further than `most`."""
    found = _form(name).finditer(text)
    return sum(1 for _ in zip(range(most), found, strict=False))


def may_occur(folded: Folded) -> bool:
    """Tell whether a text is long, of several lines or holds a tag."""
    text = folded.source
    return len(text) >= LEAST_DUMP or "\n" in text or "<" in text


def shapes(folded: Folded) -> Iterator[Finding]:
    """Yield what the shape of a text as a whole says: its findings cover all of it."""
    text = folded.source
    name = _shape(text)
    if name is not None:
        yield Finding(name, 0, len(text), True)


def _shape(text: str) -> str | None:
    if _count("turn", text, MOST_TURNS) >= MOST_TURNS or _count("chatml", text, 2) >= 2:
        return "raw_transcript"
    if _dumped(text):
        return "tool_dump"
    if _count("named", text, MOST_TURNS + 1) > MOST_TURNS and _alternates(text):
        return "raw_transcript"
    return "overlong_text" if len(text) > LONGEST_STATEMENT else None


def _dumped(text: str) -> bool:
    if _count("trace", text, 2) >= 2 or _count("log", text, MOST_LINES) >= MOST_LINES:
        return True
    if len(text) < LEAST_DUMP:
        return False
    return (
        _count("tag", text, MOST_TAGS) >= MOST_TAGS
        or _count("pair", text, MOST_TAGS) >= MOST_TAGS
        or _count("row", text, 2 * MOST_LINES) >= 2 * MOST_LINES
    )


def _alternates(text: str) -> bool:
    """Tell whether few names open many lines, as the speakers of a conversation do."""
    lines = [found[0].partition(":")[0].strip() for found in _form("named").finditer(text)]
    return len(set(lines)) <= len(lines) // 2
