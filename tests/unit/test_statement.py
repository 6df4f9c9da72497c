"""Statements: what is well formed, and when two of them are the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muniment.rules
from muniment.errors import InvalidInputError
from muniment.records import JSONValue, Statement
from muniment.rules.fingerprints import fingerprints
from muniment.rules.kinds import parse_policy
from muniment.rules.statement import (
    MAX_METADATA,
    MAX_TEXT,
    MAX_VALUE,
    Checked,
    check,
    field_key,
)

POLICY = parse_policy(
    Path(muniment.rules.__file__).with_name("policy.toml").read_text(encoding="utf-8")
)
NOW = 1_893_456_000_000_000
DAY = 86_400_000_000


def checked(**changes: object) -> Checked:
    parts: dict[str, Any] = {"kind": "preference", "text": "Likes tea.", "source_id": "s1"}
    parts.update(changes)
    return check(Statement(**parts), POLICY, NOW)


def nested(depth: int) -> JSONValue:
    value: JSONValue = "x"
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.promise("WRI-1")
def test_white_space_around_text_source_and_field_goes() -> None:
    one = checked(text="\n Likes  tea.\t", source_id=" s1 ", field=" drink ", value=" tea ")
    assert (one.text, one.source_id, one.field, one.value) == (
        "Likes  tea.",
        "s1",
        "drink",
        " tea ",
    )


@pytest.mark.promise("WRI-1")
@pytest.mark.parametrize("part", ["text", "source_id", "field"])
@pytest.mark.parametrize(
    "value",
    ["", " ", "\n\t", "\u2003", "\u200c", "\u200d\u200c", 0, b"x", ["x"], True, "\x00", "\ud800"],
)
def test_a_blank_or_unwritable_part_is_refused(part: str, value: object) -> None:
    changes: dict[str, object] = {"field": "f", part: value}
    with pytest.raises(InvalidInputError, match=part):
        checked(**changes)


@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b", "\udfff"])
@pytest.mark.parametrize("part", ["text", "source_id", "field", "value", "metadata", "key"])
def test_what_no_database_can_carry_is_refused_everywhere(part: str, bad: str) -> None:
    nested_parts: dict[str, dict[str, Any]] = {
        "value": {"field": "f", "value": [{"k": bad}]},
        "metadata": {"metadata": {"k": [bad]}},
        "key": {"metadata": {bad: 1}},
    }
    changes = nested_parts.get(part, {part: bad})
    with pytest.raises(InvalidInputError) as caught:
        checked(**changes)
    assert bad not in str(caught.value)


def test_text_that_only_looks_like_an_escape_stays() -> None:
    assert checked(text=r"a literal \u0000 stays").text == r"a literal \u0000 stays"


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "x" * (MAX_TEXT + 1)},
        {"source_id": "x" * 257},
        {"field": "x" * 257},
        {"field": "f", "value": "x" * MAX_VALUE},
        {"field": "f", "value": 10**400},
        {"field": "f", "value": nested(40)},
        {"field": "f", "value": {"k": {1, 2}}},
        {"field": "f", "value": {1: "x"}},
        {"field": "f", "value": float("nan")},
        {"field": "f", "value": [float("inf")]},
        {"value": "aisle"},
        {"metadata": {"k": "x" * MAX_METADATA}},
        {"metadata": {"k": 10**5000}},
        {"metadata": {"k": nested(40)}},
        {"metadata": {"k": object()}},
        {"metadata": {"": 1}},
        {"metadata": {3: 1}},
        {"metadata": {"a": 1, " a": 2}},
        {"metadata": ["a"]},
        {"metadata": "a"},
    ],
)
def test_what_is_too_long_or_not_json_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        checked(**changes)


def test_the_longest_allowed_text_passes() -> None:
    assert len(checked(text="x" * MAX_TEXT + "  ").text) == MAX_TEXT


@pytest.mark.promise("TIM-1")
@pytest.mark.parametrize("part", ["expires_at", "valid_from", "valid_until"])
@pytest.mark.parametrize(
    "value",
    ["2030-06-01T00:00:00", "2030-06-01", "20300601", "2030-W22-6", "tomorrow", "", 5, 5.0, True],
)
def test_a_time_without_a_zone_is_refused_by_name(part: str, value: object) -> None:
    with pytest.raises(InvalidInputError, match=part):
        checked(**{part: value})


@pytest.mark.promise("TIM-1")
def test_two_spellings_of_an_instant_are_one() -> None:
    spellings = ["2030-06-01T02:00:00+14:00", "2030-05-31T12:00:00Z", "2030-05-31T08:30:00-03:30"]
    found = [checked(expires_at=spelling) for spelling in spellings]
    assert len({(one.expires_at, one.payload) for one in found}) == 1


@pytest.mark.parametrize("until", ["2030-01-01T00:00:00Z", "2029-12-31T23:59:59.999999Z"])
def test_a_truth_that_ends_before_it_begins_is_refused(until: str) -> None:
    with pytest.raises(InvalidInputError, match="valid_until must lie after"):
        checked(valid_from="2030-01-01T00:00:00Z", valid_until=until)


@pytest.mark.promise("TIM-2")
def test_a_kind_brings_its_lifetime_and_its_maximum() -> None:
    assert checked().expires_at is None
    assert checked(kind="context").expires_at == NOW + 90 * DAY
    given_time = checked(kind="context", expires_at="2030-12-31T00:00:00Z")
    assert given_time.expires_at == NOW + 364 * DAY
    with pytest.raises(InvalidInputError, match="365 days at most"):
        checked(kind="context", expires_at="2031-01-01T00:00:00.000001Z")


@pytest.mark.promise("WRI-12")
@pytest.mark.parametrize(
    ("kind", "changes", "missing"),
    [
        ("constraint", {"metadata": {"owner": "ops"}}, "expires_at"),
        ("constraint", {"expires_at": "2030-06-01T00:00:00Z"}, "owner"),
        ("outcome", {"metadata": {"succeeded": True}}, "actions"),
        ("outcome", {"metadata": {"actions": ["deploy"]}}, "succeeded"),
    ],
)
def test_a_kind_says_what_it_needs(kind: str, changes: dict[str, Any], missing: str) -> None:
    with pytest.raises(InvalidInputError, match=missing):
        checked(kind=kind, **changes)


@pytest.mark.promise("WRI-2")
def test_the_payload_is_what_the_caller_gave_and_nothing_derived() -> None:
    given_all = {"field": "f", "value": {"a": 1, "b": 2}, "metadata": {"x": 1, "y": 2}}
    same = {"field": "f", "value": {"b": 2, "a": 1}, "metadata": {"y": 2, "x": 1}}
    assert checked(**given_all).payload == checked(**same).payload
    later = check(Statement("context", "Works.", "s1"), POLICY, NOW + 1)
    assert later.payload == checked(kind="context", text="Works.").payload
    payloads = [
        checked(),
        checked(text="Likes Tea."),
        checked(kind="verified_fact"),
        checked(field="f"),
        checked(field="f", value=True),
        checked(field="f", value=1),
        checked(metadata={"a": 1}),
        checked(expires_at="2030-06-01T00:00:00Z"),
        checked(valid_from="2030-06-01T00:00:00Z"),
        checked(valid_until="2030-06-01T00:00:00Z"),
    ]
    assert len({one.payload for one in payloads}) == len(payloads)


@pytest.mark.promise("WRI-9")
@pytest.mark.parametrize("spelling", ["seat_preference", "Seat Preference", "SEAT-preference "])
def test_spellings_of_a_field_name_one_field(spelling: str) -> None:
    assert checked(field=spelling).field_key == "seat preference"


@pytest.mark.promise("CON-6")
def test_neighbouring_fields_stay_apart() -> None:
    names = ["grade B", "grade B-", "grade B+", "c", "c++", "c#", "v1.1", "v1.10", "-", "_", "ء"]
    assert len({field_key(name) for name in names}) == len(names)


def test_a_kind_with_many_records_a_field_has_no_key() -> None:
    assert checked(kind="feedback", field="f").field_key is None


SAME = [
    ("Likes  Green tea", "likes green\u00a0TEA "),
    ("کتاب", "كتاب"),
    ("یاد", "ياد"),
    ("می\u200cخواهم", "می خواهم"),
    ("می\u200cخواهم", "میخواهم"),
    ("۱۲۳", "123"),
    ("café", "cafe\u0301"),
    ("pay\u200bment", "payment"),
    ("ＡＢＣ", "abc"),
]
APART = ["C", "C++", "C#", "1.10", "1.1", "1.0", "-1", "not 1", "a b", "ab", "#1", "1 10", "110"]


@pytest.mark.promise("CON-5")
@pytest.mark.parametrize(("one", "other"), SAME)
def test_a_disguised_statement_leaves_the_same_print(one: str, other: str) -> None:
    assert fingerprints(None, None, one) == fingerprints(None, None, other)
    named = [fingerprints("f", value, "any") for value in (one, other)]
    assert named[0] == named[1]


@pytest.mark.promise("CON-5", "CON-6")
def test_neighbouring_values_leave_prints_of_their_own() -> None:
    assert len({fingerprints("f", value, "x") for value in APART}) == len(APART)
    assert len({fingerprints(None, None, text) for text in APART}) == len(APART)


@given(st.text(st.characters(), max_size=30))
def test_any_text_leaves_a_print_that_space_and_case_of_letters_do_not_change(text: str) -> None:
    once = fingerprints(None, None, text)
    assert once == fingerprints(None, None, f"  {text}\n")


NUMBERS = st.integers(-(10**15), 10**15)
LEAVES = NUMBERS | st.booleans() | st.floats(-1e6, 1e6) | st.text("abC 1.", min_size=1, max_size=4)
SEPARATORS = st.sampled_from([".", "/", "-", "_", " ", ":", "__", " - "])
WORDS = st.lists(st.text("abcxyz", min_size=1, max_size=4), min_size=2, max_size=4)


def spelled(words: list[str], separator: str) -> str:
    return separator.join(words)


def camel(words: list[str]) -> str:
    return words[0] + "".join(word.capitalize() for word in words[1:])


def share(one: JSONValue, other: JSONValue, *, field: str = "f", again: str = "f") -> bool:
    prints = set(fingerprints(field, one, "one text"))
    return not prints.isdisjoint(fingerprints(again, other, "another text"))


@pytest.mark.promise("CON-5")
@given(NUMBERS)
def test_a_number_is_one_value_however_it_is_typed(number: int) -> None:
    ways: list[JSONValue] = [number, float(number), str(number), f"{number}.0"]
    for one in ways[:2]:
        for other in ways:
            assert share(one, other)
            assert share({"a": [one]}, {"a": [other]}) or other == ways[3]


@pytest.mark.promise("CON-5")
@pytest.mark.parametrize(("yes", "one"), [(True, 1), (False, 0)])
def test_a_truth_value_is_the_number_it_equals(yes: bool, one: int) -> None:
    same: list[JSONValue] = [yes, one, float(one), str(one), str(yes), str(yes).lower()]
    assert all(share(yes, other) for other in same)
    assert not share(yes, 1 - one)
    assert not share(yes, not yes)


@pytest.mark.promise("CON-5", "CON-6")
@given(NUMBERS, NUMBERS)
def test_other_numbers_share_no_print(one: int, other: int) -> None:
    pairs: list[tuple[JSONValue, JSONValue]] = [
        (one, other),
        (one, float(other)),
        (str(one), other),
    ]
    pairs.append(([one], [other]))
    for left, right in pairs:
        assert share(left, right) is (one == other)
    assert not share(one, one + 0.5)


@pytest.mark.promise("CON-5")
@given(WORDS, SEPARATORS, SEPARATORS, LEAVES)
def test_a_field_is_one_however_its_words_are_parted(
    words: list[str], one: str, other: str, value: JSONValue
) -> None:
    for again in (spelled(words, other), camel(words), spelled(words, other).upper()):
        assert share(value, value, field=spelled(words, one), again=again)
        assert share({spelled(words, one): value}, {again: value})


@pytest.mark.promise("CON-5", "CON-6")
@given(WORDS, WORDS, SEPARATORS, LEAVES)
def test_fields_of_other_words_share_no_print(
    words: list[str], others: list[str], separator: str, value: JSONValue
) -> None:
    same = "".join(words) == "".join(others)
    one, other = spelled(words, separator), spelled(others, separator)
    assert share(value, value, field=one, again=other) is same


@pytest.mark.promise("CON-6")
def test_neighbouring_fields_and_versions_share_no_print() -> None:
    names = ["grade B", "grade B-", "grade B+", "c", "c++", "c#", "v1.1", "v1.10", "v11", "-", "_"]
    assert len({fingerprints(name, "x", "")[1] for name in names}) == len(names)
    assert not share("1.1", "1.10")
    assert not share("3.0", "3")
    assert not share({"a": 1, "b": 2}, {"a": 2, "b": 1})
