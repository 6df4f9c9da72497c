"""Every class is found in natural English and Persian, however its numbers are written."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.records import WritePath
from muniment.rules.screening import DefaultScreener
from tests.screening.cases import CASES, IDS
from tests.screening.generate import VARIANTS, Case, parted
from tests.screening.inferred import INFERRED
from tests.screening.paths import PROPOSE

SCREENER = DefaultScreener()
UNPARTED = {"in_pan", "fi_personal_id"}
"""Ids that are never written in groups: one has no checksum, one needs its sign."""

REGROUPED = {"spaces", "no-break spaces", "dashes", "thin spaces", "line breaks"}


def refused(text: str, path: WritePath = WritePath.REMEMBER) -> set[str]:
    return {found.name for found in SCREENER.screen(text, path) if found.refuses}


def name_of(case: Case) -> str:
    return f"{case.name}-{getattr(case.make, '__name__', '')}"


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_class_is_found_in_english_and_persian_sentences(case: Case) -> None:
    texts = [text for _, text in case.sentences(Random(11), 100)]
    found = sum(bool(refused(text) & {case.name, *case.also}) for text in texts)
    assert found >= 0.95 * len(texts)


@pytest.mark.parametrize("case", INFERRED, ids=name_of)
def test_an_inferred_class_is_found_on_the_inferred_path_alone(case: Case) -> None:
    texts = [text for _, text in case.sentences(Random(12), 100)]
    assert sum(case.name in refused(text, PROPOSE) for text in texts) >= 95
    assert not any(case.name in refused(text) for text in texts)


@pytest.mark.parametrize(
    ("case", "variant"),
    [
        pytest.param(case, variant, id=f"{case.name}-{variant}")
        for case in IDS
        for variant in VARIANTS
        if not (variant in REGROUPED and case.name in UNPARTED)
    ],
)
def test_another_way_to_write_a_number_does_not_hide_it(case: Case, variant: str) -> None:
    rng = Random(13)
    texts = [
        rng.choice(case.persian if turn % 2 else case.english).replace(
            "{}", VARIANTS[variant](case.make(rng))
        )
        for turn in range(30)
    ]
    found = sum(bool(refused(text) - {"hidden_characters"}) for text in texts)
    assert found >= 0.9 * len(texts)


@given(st.integers(0, 10**9), st.sampled_from(CASES))
def test_a_finding_lies_on_the_secret(seed: int, case: Case) -> None:
    for value, text in case.sentences(Random(seed), 2):
        begin = text.find(value)
        for found in SCREENER.screen(text, WritePath.REMEMBER):
            if found.name == case.name:
                assert found.start < begin + len(value)
                assert found.end > begin


def test_positions_are_those_of_the_text_that_was_given() -> None:
    number = next(case for case in IDS if case.name == "payment_card").make(Random(4))
    hidden = "\u200c".join(parted(number, "\u00a0"))
    text = f"نمی\u200cدانم، شماره کارت {hidden} است"
    (found,) = (f for f in SCREENER.screen(text, WritePath.REMEMBER) if f.name == "payment_card")
    assert text[found.start : found.end] == hidden
