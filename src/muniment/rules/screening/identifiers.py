"""Payment cards, government ids and bank accounts: by form, checksum and the words nearby."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from muniment.results import Finding
from muniment.rules.screening.cards import LENGTHS, issued, needs_context
from muniment.rules.screening.checksums import mod97
from muniment.rules.screening.countries import (
    CODES,
    IBAN_LENGTHS,
    KEPT_SIGNS,
    PHRASES,
    Identifier,
    by_length,
    generic_words,
    heads_by_length,
)
from muniment.rules.screening.folding import Folded
from muniment.rules.screening.numbers import Number, numbers
from muniment.rules.screening.seen import AFTER, BEFORE, has_any, seen
from muniment.rules.screening.vocabulary import vocabulary

_DIGITS = re.compile(r"\d[\s.\-_/:,a-z]{0,3}\d[\s.\-_/:,a-z]{0,3}\d")
_MANY_DIGITS = re.compile(r"(?:\d[^\d\n]{0,3}\n?){7}")
MOST_NUMBERS = 1000
"""Long numbers of one text that are looked at; a text with more is refused as a whole."""

_SIGNS = re.compile(r"[\s.\-/]+")
_IBAN = re.compile(r"\d(?<!\d\d)[\s.\-]{0,2}\d(?=[\s.\-]{0,2}[0-9a-z])")
_COUNTRY = re.compile(r"(?<![0-9a-z])[a-z]{2}[\s.\-]{0,2}\Z")
_DAY = re.compile(
    r"(?:19|20)\d\d(?:[ .\-/](?:0?[1-9]|1[0-2])[ .\-/](?:0?[1-9]|[12]\d|3[01])|(?:0[1-9]"
    r"|1[0-2])[0-3]\d$)"
    r"|(?:0?[1-9]|[12]\d|3[01])[ .\-/](?:0?[1-9]|[12]\d|3[01])[ .\-/](?:19|20)\d\d"
)
_CARD_WORDS = (
    "card|credit|debit|visa|mastercard|master card|amex|american express|maestro|diners|cc"
    "|atm|کارت*|ویزا*|مسترکارت*|عابر*"
)


def may_occur(folded: Folded) -> bool:
    """Tell whether a text has three digits close together, as every number here does."""
    return _DIGITS.search(folded.text) is not None


def identifiers(folded: Folded) -> Iterator[Finding]:
    """Yield the cards, ids and accounts of a text."""
    text = folded.text
    if _MANY_DIGITS.search(text) is not None:
        yield from _numbers(folded)
        yield from _ibans(folded)
        yield from _announced(folded)
    yield from _codes(folded)


def _numbers(folded: Folded) -> Iterator[Finding]:
    text = folded.text
    active: dict[int, tuple[Identifier, ...]] = {}
    for count, number in enumerate(numbers(text)):
        if count >= MOST_NUMBERS:
            yield seen(folded, "number_table", number.start, number.end)
            return
        size = len(number.digits)
        card = size in LENGTHS and issued(number.digits)
        if card and not needs_context(number.digits):
            yield seen(folded, "payment_card", number.start, number.end)
            continue
        if size not in active:
            active[size] = _active(folded, size)
        if text[number.start - 1 : number.start] != "+":
            named = _named(text, number, active[size]) if active[size] else None
            name = named or _free(text, number)
            if name is not None:
                yield seen(folded, name, number.start, number.end)
                continue
        if card and _near_card_word(text, number):
            yield seen(folded, "payment_card", number.start, number.end)


def _near_card_word(text: str, number: Number) -> bool:
    return vocabulary(_CARD_WORDS).within(text, number.start - BEFORE, number.end + AFTER)


def _active(folded: Folded, size: int) -> tuple[Identifier, ...]:
    """Return the ids of a length that some word of a text may announce."""
    generic = generic_words().may_occur(folded.heads)
    if folded.text.isascii() and not generic and folded.heads.isdisjoint(heads_by_length(size)):
        return ()
    return tuple(one for one in by_length().get(size, ()) if _may_announce(folded, one))


def _may_announce(folded: Folded, one: Identifier) -> bool:
    if one.announced.may_occur(folded.heads):
        return True
    return one.generic and generic_words().may_occur(folded.heads)


def _named(text: str, number: Number, known: tuple[Identifier, ...]) -> str | None:
    """Return the class of a number that is announced by its own words or by any id's."""
    around = (number.start - BEFORE, number.end + AFTER)
    valid = [one for one in known if one.check(number.digits)]
    for one in valid:
        if one.announced.within(text, *around):
            return one.name
    for one in valid:
        if one.generic and generic_words().within(text, *around):
            return one.name
    return None


def _free(text: str, number: Number) -> str | None:
    """Return the class of a number whose form alone says what it is."""
    written = text[number.start : number.end]
    for one in by_length().get(len(number.digits), ()):
        if one.free and one.freely.fullmatch(written) and one.check(number.digits):
            return one.name
    return None


_LONGEST_LEAD = 20
_FIRST = r"\d(?<!\d\d)(?<!\d[\s.\-/]\d)"


@cache
def _code_forms() -> tuple[tuple[Identifier, re.Pattern[str], re.Pattern[str]], ...]:
    return tuple(
        (
            one,
            re.compile(rf"{_FIRST}(?:{one.form})(?![0-9a-z_])"),
            re.compile(rf"(?<![0-9a-z_]){one.lead}\Z"),
        )
        for one in CODES
    )


@cache
def _any_code() -> re.Pattern[str]:
    return re.compile(f"{_FIRST}(?:{'|'.join(one.form for one in CODES)})(?![0-9a-z_])")


def _codes(folded: Folded) -> Iterator[Finding]:
    text = folded.text
    for core in _any_code().finditer(text):
        if _DAY.fullmatch(core[0]):
            continue
        for one, form, lead in _code_forms():
            found = form.match(text, core.start())
            if found is None or not (one.free or _may_announce(folded, one)):
                continue
            before = lead.search(text, max(0, core.start() - _LONGEST_LEAD), core.start())
            if before is not None and _is_code(text, one, before.start(), found.end()):
                yield seen(folded, one.name, before.start(), found.end())


def _is_code(text: str, one: Identifier, start: int, end: int) -> bool:
    written = text[start:end]
    if not one.check(written if one.name in KEPT_SIGNS else _SIGNS.sub("", written)):
        return False
    if one.freely.fullmatch(written) or one.announced.within(text, start - BEFORE, end + AFTER):
        return True
    return generic_words().within(text, start - BEFORE, end + AFTER)


@cache
def _account_form(length: int) -> re.Pattern[str]:
    return re.compile(rf"(?:[\s.\-]{{0,2}}[0-9a-z]){{{length}}}(?![0-9a-z])")


def _ibans(folded: Folded) -> Iterator[Finding]:
    text = folded.text
    for count, found in enumerate(_accounts(text)):
        if count >= MOST_NUMBERS:
            yield seen(folded, "number_table", *found.span())
            return
        code = _SIGNS.sub("", found[0])
        if 2 * sum(map(str.isdigit, code)) >= len(code) and mod97(code):
            yield seen(folded, "iban", *found.span())


def _accounts(text: str) -> Iterator[re.Match[str]]:
    """Yield what has the length and the beginning of a country's account number."""
    for digits in _IBAN.finditer(text):
        start = digits.start()
        if text[max(0, start - 4) : start].rstrip(" .-\n\t")[-2:] not in IBAN_LENGTHS:
            continue
        country = _COUNTRY.search(text, max(0, start - 5), start)
        if country is not None:
            length = IBAN_LENGTHS[country[0][:2]]
            whole = _account_form(length).match(text, country.start())
            if whole is not None:
                yield whole


@cache
def _phrases() -> tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...]:
    return tuple((one.name, one.stems, re.compile(one.pattern)) for one in PHRASES)


def _announced(folded: Folded) -> Iterator[Finding]:
    for name, stems, pattern in _phrases():
        if has_any(folded.text, stems):
            for found in pattern.finditer(folded.text):
                group = found.lastindex or 1
                if _DAY.match(found[group]) is None and sum(map(str.isdigit, found[group])) > 4:
                    yield seen(folded, name, *found.span(group))
