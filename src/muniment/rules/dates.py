"""Words for a time in a question, in English and Persian, resolved against the present."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from muniment.clock import from_instant
from muniment.rules import words
from muniment.rules.text import normalise

_Found = re.Match[str]

_UNITS = {"day": 1, "week": 7, "month": 30, "year": 365}
_PERSIAN_UNITS = dict(zip(("روز", "هفته", "ماه", "سال"), _UNITS, strict=True))
_COUNTS = "one two three four five six seven eight nine ten eleven twelve"
_PERSIAN_COUNTS = "یک دو سه چهار پنج شش هفت هشت نه ده یازده دوازده"
_NUMBERS = {
    **{name: n for n, name in enumerate(_COUNTS.split(), start=1)},
    **{name: n for n, name in enumerate(_PERSIAN_COUNTS.split(), start=1)},
    "a": 1,
    "an": 1,
}
_MONTHS = {name: n for n, name in enumerate(words.MONTHS, start=1)}
_JALALI = {normalise(name): n for n, name in enumerate(words.PERSIAN_MONTHS, start=1)}
_DAYS = {"today": 0, "yesterday": 1, "امروز": 0, "دیروز": 1, "پریروز": 2}
_YEARS = {"امسال": 0, "پارسال": 1}
_COUNT = "|".join((*_NUMBERS, r"\d{1,3}"))
_NAMES = "|".join(_MONTHS)
_PERSIAN_NAMES = "|".join(_JALALI)
_BEFORE = "in|last|since|during|of|early|mid|late"
_AGO = "پیش|قبل|گذشته"
_BACK = "last|previous|past"
_DIGIT = r"\d"
_HAS_DIGIT = re.compile(_DIGIT)


def gregorian(year: int, month: int, day: int) -> date:
    """Return the Gregorian date of a date of the Persian calendar, years 1178 to 1633.

    Raises:
        ValueError: There is no such day.

    Source: the 33-year cycle of leap years, as in the public `jalali` algorithms.
    """
    if not (1 <= month <= 12 and 1 <= day <= 31):
        raise ValueError("no such day")
    years = year + 1595
    before = (month - 1) * 31 if month < 7 else (month - 7) * 30 + 186
    days = 365 * years + years // 33 * 8 + (years % 33 + 3) // 4 + before + day
    return date.fromordinal(days - 356_033)


def _jalali_year(today: date) -> int:
    year = today.year - 621
    return year if today >= gregorian(year, 1, 1) else year - 1


def interval(asked: str, now: int) -> tuple[int, int] | None:
    """Return the time that a question names, or None: its first instant and the first after it.

    Days, months and years are those of UTC. A month without a year is the last one that has begun.

    Args:
        asked: The question in its search form.
        now: The present instant, microseconds since 1970, UTC.

    Returns:
        Two instants, microseconds since 1970, UTC.
    """
    signs = [sign for sign in _SIGNS if sign in asked]
    if _HAS_DIGIT.search(asked):
        signs.append(_DIGIT)
    if not signs:
        return None
    today = from_instant(now).date()
    for rule in _RULES:
        if rule.signs.isdisjoint(signs):
            continue
        for found in rule.pattern.finditer(asked):
            try:
                first, after = rule.resolve(found, today)
                return _instant(first), _instant(after)
            except (ValueError, OverflowError):
                continue
    return None


def _instant(day: date) -> int:
    since = datetime(day.year, day.month, day.day, tzinfo=UTC) - from_instant(0)
    return since // timedelta(microseconds=1)


Span = tuple[date, date]


class _Rule(NamedTuple):
    """A form of words, of which every text has one of the signs, and the time that it names."""

    signs: frozenset[str]
    pattern: re.Pattern[str]
    resolve: Callable[[_Found, date], Span]


def _rule(signs: str, pattern: str, resolve: Callable[[_Found, date], Span]) -> _Rule:
    whole = re.compile(rf"(?<!\w)(?:{pattern})(?!\w)")
    return _Rule(frozenset(signs.split("|")), whole, resolve)


def _month(year: int, month: int) -> Span:
    return date(year, month, 1), date(year + month // 12, month % 12 + 1, 1)


def _jalali_month(year: int, month: int) -> Span:
    return gregorian(year, month, 1), gregorian(year + month // 12, month % 12 + 1, 1)


def _iso(found: _Found, _today: date) -> Span:
    year, month, day = map(int, found.groups())
    first = date(year, month, day) if year >= 1900 else gregorian(year, month, day)
    return first, first + timedelta(days=1)


def _named_month(found: _Found, today: date) -> Span:
    month, year = _MONTHS[found["month"]], found["year"]
    if year:
        return _month(int(year), month)
    return _month(today.year - (month > today.month), month)


def _persian_month(found: _Found, today: date) -> Span:
    month, year = _JALALI[found["month"]], found["year"]
    if year:
        return _jalali_month(int(year), month)
    this = _jalali_year(today)
    return _jalali_month(this - (gregorian(this, month, 1) > today), month)


def _year(found: _Found, _today: date) -> Span:
    year = int(found["year"])
    if year < 1900:
        return gregorian(year, 1, 1), gregorian(year + 1, 1, 1)
    return date(year, 1, 1), date(year + 1, 1, 1)


def _ago(found: _Found, today: date) -> Span:
    named, count = found["unit"], found["count"]
    unit = _PERSIAN_UNITS.get(named, named)
    return _back(unit, _NUMBERS.get(count) or int(count), today)


def _last(found: _Found, today: date) -> Span:
    unit = _PERSIAN_UNITS.get(found["unit"], found["unit"])
    return _back(unit, 1, today)


def _back(unit: str, count: int, today: date) -> Span:
    """Return the day that lies so far back, with half a week, month or year on both sides."""
    days = _UNITS[unit]
    middle = today - timedelta(days=days * count)
    slack = timedelta(days=days // 2)
    return middle - slack, middle + slack + timedelta(days=1)


def _day(found: _Found, today: date) -> Span:
    first = today - timedelta(days=_DAYS[found[0]])
    return first, first + timedelta(days=1)


def _this_year(found: _Found, today: date) -> Span:
    year = _jalali_year(today) - _YEARS[found[0]]
    return gregorian(year, 1, 1), gregorian(year + 1, 1, 1)


_UNIT = "|".join(_UNITS)
_PERSIAN_UNIT = "|".join(_PERSIAN_UNITS)
_DAY_NAMES = "|".join(_DAYS)
_YEAR_NAMES = "|".join(_YEARS)
_RULES: Sequence[_Rule] = (
    _rule(_DIGIT, r"(\d{4})[-/](\d{1,2})[-/](\d{1,2})", _iso),
    _rule(_DIGIT, rf"(?P<month>{_NAMES}),? (?P<year>(?:19|20)\d\d)", _named_month),
    _rule(_NAMES, rf"(?:{_BEFORE})[ -](?P<month>{_NAMES})(?P<year>)", _named_month),
    _rule(
        _DIGIT,
        rf"(?P<month>{_PERSIAN_NAMES})(?: ماه)?(?: سال)? (?P<year>1[34]\d\d)",
        _persian_month,
    ),
    _rule("ماه|گذشته", rf"(?P<month>{_PERSIAN_NAMES})(?P<year>) (?:ماه|گذشته)", _persian_month),
    _rule("ago", rf"(?P<count>{_COUNT}) (?P<unit>{_UNIT})s? ago", _ago),
    _rule(_AGO, rf"(?P<count>{_COUNT}) (?P<unit>{_PERSIAN_UNIT}) (?:{_AGO})", _ago),
    _rule(_BACK, rf"(?:{_BACK}) (?P<unit>{_UNIT})", _last),
    _rule(_AGO, rf"(?P<unit>{_PERSIAN_UNIT})[ ‌]?(?:ی )?(?:{_AGO})", _last),
    _rule(_DAY_NAMES, _DAY_NAMES, _day),
    _rule(_YEAR_NAMES, _YEAR_NAMES, _this_year),
    _rule(_DIGIT, r"(?:in|during|since|سال) (?P<year>1[34]\d\d|(?:19|20)\d\d)", _year),
)
_SIGNS = tuple(sorted(frozenset[str]().union(*(rule.signs for rule in _RULES)) - {_DIGIT}))
