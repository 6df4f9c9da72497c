"""Words for a time, in English and Persian, against a present that is given."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.clock import from_instant, to_instant
from muniment.rules.dates import gregorian, interval
from muniment.rules.text import normalise

NOW = to_instant("now", "2026-11-30T12:00:00Z")

CASES = [
    ("What did I say yesterday?", "2026-11-29", "2026-11-30"),
    ("What is planned today?", "2026-11-30", "2026-12-01"),
    ("Where were we last May?", "2026-05-01", "2026-06-01"),
    ("What happened in December?", "2025-12-01", "2026-01-01"),
    ("mid-January", "2026-01-01", "2026-02-01"),
    ("the trip of June 2023", "2023-06-01", "2023-07-01"),
    ("December, 2024", "2024-12-01", "2025-01-01"),
    ("everything in 2023", "2023-01-01", "2024-01-01"),
    ("on 2025-12-08", "2025-12-08", "2025-12-09"),
    ("three days ago", "2026-11-27", "2026-11-28"),
    ("two weeks ago", "2026-11-13", "2026-11-20"),
    ("a month ago", "2026-10-16", "2026-11-16"),
    ("last week", "2026-11-20", "2026-11-27"),
    ("دیروز چه گفتم؟", "2026-11-29", "2026-11-30"),
    ("پریروز", "2026-11-28", "2026-11-29"),
    ("هفته پیش کجا بودم؟", "2026-11-20", "2026-11-27"),
    ("هفتهٔ گذشته", "2026-11-20", "2026-11-27"),
    ("ماه گذشته", "2026-10-16", "2026-11-16"),
    ("۳ روز پیش", "2026-11-27", "2026-11-28"),
    ("دو هفته قبل", "2026-11-13", "2026-11-20"),
    ("سفر اردیبهشت ۱۴۰۲", "2023-04-21", "2023-05-22"),
    ("در آذر ماه", "2026-11-22", "2026-12-22"),
    ("سال ۱۴۰۲", "2023-03-21", "2024-03-20"),
    ("پارسال", "2025-03-21", "2026-03-21"),
    ("۱۴۰۲/۰۲/۱۵", "2023-05-05", "2023-05-06"),
]


@pytest.mark.promise("REC-14")
@pytest.mark.parametrize(("text", "first", "after"), CASES)
def test_a_word_for_a_time_is_resolved(text: str, first: str, after: str) -> None:
    found = interval(normalise(text), NOW)
    assert found is not None
    assert [from_instant(at).isoformat() for at in found] == [
        f"{first}T00:00:00+00:00",
        f"{after}T00:00:00+00:00",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "May I ask you something?",
        "Can she march on?",
        "Room 2023",
        "POL-2023-11",
        "2025-13-45",
        "9999-12-31",
        "the last one",
        "a week of rain",
        "چه می‌دانی؟",
        "شما",
        "",
    ],
)
def test_what_names_no_time_is_left_alone(text: str) -> None:
    assert interval(normalise(text), NOW) is None


@pytest.mark.parametrize(
    ("persian", "expected"),
    [
        ((1400, 1, 1), date(2021, 3, 21)),
        ((1403, 12, 30), date(2025, 3, 20)),
        ((1404, 1, 1), date(2025, 3, 21)),
        ((1357, 11, 22), date(1979, 2, 11)),
        ((1405, 9, 9), date(2026, 11, 30)),
    ],
)
def test_a_persian_date_is_the_gregorian_one_of_the_same_day(
    persian: tuple[int, int, int], expected: date
) -> None:
    assert gregorian(*persian) == expected


_PIECES = st.sampled_from([word for text, *_ in CASES for word in text.split()])


@given(
    st.lists(_PIECES | st.text(max_size=6), max_size=6).map(" ".join),
    st.integers(-62_135_596_800_000_000, 253_402_300_799_000_000),
)
def test_any_text_at_any_time_gives_an_interval_or_nothing(text: str, now: int) -> None:
    found = interval(normalise(text), now)
    assert found is None or found[0] < found[1]
