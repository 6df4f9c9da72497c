"""Text that looks like an instruction to a model: a hint for the reviewer, not a defence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from muniment.results import Finding
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.seen import has_any

_FORMS: tuple[tuple[str, str], ...] = (
    (
        "ignore|disregard|forget|override|bypass",
        (
            r"(?:ignore|disregard|forget|override|bypass)\b[^.\n]{0,40}\b(?:previous|prior|above"
            r"|earlier|all|any|"
            r"your|the)\b[^.\n]{0,30}\b(?:instruction|rule|prompt|polic|guideline|direction"
            r"|restriction|"
            r"filter)\w*"
        ),
    ),
    (
        "instruction|system prompt",
        (
            r"(?:new|updated|real|hidden|secret|important) (?:system )?instructions?\b"
            r"|system prompt\b"
        ),
    ),
    (
        "you are now|from now on|pretend|act as|developer mode|jailbreak",
        (
            r"(?:you are now\b|from now on,? (?:you|always|never)\b|pretend (?:to be|that you)\b"
            r"|act as (?:a|an|if|the)\b|developer mode\b|jailbreak\w*)"
        ),
    ),
    (
        "tell|inform|mention|reveal|show|notify|asking",
        (
            r"(?:(?:do not|don't|never) (?:tell|inform|mention|reveal|show"
            r"|notify)\b[^.\n]{0,30}\b(?:user|human"
            r"|them|anyone|owner|this)|without (?:telling|asking|informing|notifying))\b"
        ),
    ),
    (
        "source|always |pre-approved|preapproved",
        (
            r"(?:(?:trusted|authoritative|reliable) source|always (?:recommend|prefer|choose"
            r"|trust)"
            r"|pre-?approved)\b"
        ),
    ),
    (
        "you must|secretly|be sure to|send all|forward all",
        (
            r"(?:you must|secretly|be sure to)\b[^.\n]{0,40}\b(?:send|forward|email|post|upload"
            r"|transfer|delete|"
            r"run|execute|reveal|recommend|call|click|visit)\b|(?:send|forward) all\b"
        ),
    ),
    (
        "run the|execute the|rm -rf|curl",
        (
            r"(?:run|execute) the (?:following|command|tool|code)\b|rm -rf\b"
            r"|curl\b[^\n]{0,60}\|\s?(?:ba)?sh\b"
        ),
    ),
    (
        "system|assistant|human|instruction|memory|context|tool_result|]]>",
        (
            r"\n\s{0,4}(?:#{1,4}\s{0,3})?(?:new )?(?:system|assistant|human|instructions?)\s?(?::"
            r"|\n)"
            r"|<(?:\|?(?:im_start|system)\b|/?(?:system|memory|instructions?|context"
            r"|tool_result)[\w-]{0,12}>)"
            r"|\]\]>"
        ),
    ),
    (
        "نادیده|فراموش|لغو|کنار بگذار",
        (
            r"(?:دستور|قوانین|پرامپت|راهنما)\S{0,10}\s?[^.\n]{0,30}(?:نادیده|فراموش|کنار بگذار"
            r"|لغو)"
            r"|نادیده\s?بگیر|فراموش\s?کن"
        ),
    ),
    (
        "از این|وانمود|تو اکنون|پرامپت",
        (
            r"از این (?:پس|به بعد)\b[^.\n]{0,40}(?:باید|همیشه|هرگز|تو|فقط)|وانمود\s?کن|تو اکنون"
            r"|پرامپت سیستم"
        ),
    ),
    (
        "به کاربر|بدون|همیشه|فقط|منبع|اجرا",
        (
            r"به کاربر (?:نگو|اطلاع نده|چیزی نگو)|بدون (?:اطلاع|اجازه) کاربر|(?:همیشه"
            r"|فقط)[^.\n]{0,30}"
            r"(?:توصیه|پیشنهاد)\s?کن|(?:مورد اعتمادترین|معتبرترین) منبع|دستور\s?(?:زیر"
            r"|بعدی)[^.\n]{0,20}اجرا"
        ),
    ),
)
"""Words of which one must occur, and the pattern that is then looked for."""


@cache
def _patterns() -> tuple[tuple[tuple[str, ...], re.Pattern[str]], ...]:
    return tuple((tuple(stems.split("|")), re.compile(form)) for stems, form in _FORMS)


@cache
def _stems() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the words of all forms, and those of them that are written in Latin letters."""
    every = tuple(stem for stems, _ in _FORMS for stem in stems.split("|"))
    return every, tuple(stem for stem in every if stem.isascii())


def may_occur(folded: Folded) -> bool:
    """Tell whether a text has one of the words that the forms need."""
    return has_any(folded.text, _stems()[folded.text.isascii()])


def instructions(folded: Folded) -> Iterator[Finding]:
    """Yield what looks like an instruction. It never refuses a text."""
    for stems, pattern in _patterns():
        if has_any(folded.text, stems):
            for found in pattern.finditer(folded.text):
                yield Finding("instruction_like", *folded.span(*found.span()), False)
