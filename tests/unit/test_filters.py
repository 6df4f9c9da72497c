"""Filters: a closed set of names and operators, and what each admits."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import reduce
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muniment.errors import FilterError
from muniment.rules.filters import FIELDS, Condition, Facts, parse_filters, passes

DEEP: list[Any] = reduce(lambda inner, _: [inner], range(100_000), [])
JUNE = 1_906_502_400_000_000
FACTS: Facts = {
    "kind": "preference",
    "field": "seat",
    "value": "aisle",
    "source_id": "s1",
    "actor": "subject",
    "created_at": JUNE,
    "valid_from": None,
    "valid_until": None,
    "expires_at": None,
    "metadata": {"name": "O'Brien", "tags": ["x", "y"], "n": 3, "on": True, "a.b": "dotted"},
}
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=5,
)


def admits(filters: dict[str, Any]) -> bool:
    return passes(FACTS, parse_filters(filters))


@pytest.mark.promise("REC-9")
@pytest.mark.parametrize(
    ("filters", "admitted"),
    [
        ({}, True),
        ({"kind": "preference"}, True),
        ({"kind": "decision"}, False),
        ({"kind": "preference", "metadata.n": 4}, False),
        ({"metadata.name": "O'Brien"}, True),
        ({"metadata.name": {"eq": "O'Brien"}}, True),
        ({"metadata.name": {"ne": "O'Brien"}}, False),
        ({"metadata.nothing": {"ne": "x"}}, True),
        ({"metadata.a.b": "dotted"}, True),
        ({"metadata.n": {"gt": 2, "lte": 3}}, True),
        ({"metadata.n": {"gt": 2, "lt": 3}}, False),
        ({"metadata.n": {"gte": 3.0}}, True),
        ({"metadata.n": {"lt": "4"}}, False),
        ({"metadata.n": 3.0}, True),
        ({"metadata.on": True}, True),
        ({"metadata.on": 1}, False),
        ({"metadata.on": {"gt": 0}}, False),
        ({"metadata.name": {"lt": "P"}}, True),
        ({"metadata.name": {"in": ["abc", "O'Brien"]}}, True),
        ({"metadata.name": {"in": ("x') OR 1=1 --",)}}, False),
        ({"metadata.name": {"in": []}}, False),
        ({"metadata.name": {"not_in": []}}, True),
        ({"metadata.name": {"not_in": ["O'Brien"]}}, False),
        ({"metadata.name": {"in": {"O'Brien"}}}, True),
        ({"metadata.tags": {"any": ["z", "x"]}}, True),
        ({"metadata.tags": {"any": ["z"]}}, False),
        ({"metadata.tags": {"any": []}}, False),
        ({"metadata.tags": {"all": ["x", "y"]}}, True),
        ({"metadata.tags": {"all": ["x", "z"]}}, False),
        ({"metadata.tags": ["x", "y"]}, True),
        ({"metadata.name": {"any": ["O"]}}, False),
        ({"metadata.name": {"exists": True}}, True),
        ({"metadata.nothing": {"exists": False}}, True),
        ({"metadata.nothing": {"exists": True}}, False),
        ({"valid_from": {"exists": False}}, True),
        ({"valid_from": {"lt": "2031-01-01T00:00:00Z"}}, False),
        ({"created_at": "2030-06-01T14:00:00+14:00"}, True),
        ({"created_at": {"gt": "2030-05-31T23:59:59.999999Z"}}, True),
        ({"created_at": {"gt": "2030-06-01T00:00:00Z"}}, False),
        ({"source_id": "s1", "actor": "subject", "field": "seat", "value": "aisle"}, True),
    ],
)
def test_an_operator_admits_what_the_table_says(filters: dict[str, Any], admitted: bool) -> None:
    assert admits(filters) is admitted


@pytest.mark.promise("REC-9")
@pytest.mark.parametrize(
    "filters",
    [
        {"color": "red"},
        {"text": "x"},
        {"metadata": "x"},
        {"metadata.": "x"},
        {"tenant_id": "t2"},
        {"x') OR '1'='1": "d"},
        {"kind": {}},
        {"kind": {"$gt') OR 1=1 --": 1}},
        {"kind": {"like": "%"}},
        {"kind": {3: 1}},
        {3: "x"},
        {None: "x"},
        {"metadata.name": {"in": "abc"}},
        {"metadata.name": {"not_in": 3}},
        {"metadata.tags": {"any": "x"}},
        {"metadata.tags": {"all": {"x": 1}}},
        {"metadata.name": {"exists": 1}},
        {"created_at": "2030-06-01"},
        {"created_at": {"gt": "2030-06-01T00:00:00"}},
        {"created_at": {"in": [5]}},
        {"metadata.name": np.array([1, 2])},
        {"metadata.name": {"in": [np.int64(1)]}},
        {"value": float("nan")},
        {"value": 10**400},
        {"value": b"x"},
        {"value": "\ud800"},
        {"value": {1: 2}},
        {"metadata.name": {"lt": datetime(2030, 1, 1, tzinfo=UTC)}},
        {"metadata.name": {"any": [object()]}},
        {"value": DEEP},
    ],
)
def test_what_is_not_in_the_table_is_refused(filters: dict[Any, Any]) -> None:
    with pytest.raises(FilterError):
        parse_filters(filters)


@pytest.mark.parametrize("filters", ["kind", ["kind"], 3, [("kind", "preference")]])
def test_filters_that_are_no_mapping_are_refused(filters: object) -> None:
    with pytest.raises(FilterError, match="must be a mapping"):
        parse_filters(cast("dict[str, object]", filters))


@pytest.mark.promise("REC-9")
@given(st.text(max_size=20))
def test_a_name_is_a_field_or_labelled_metadata_or_an_error(name: str) -> None:
    labelled = name.startswith("metadata.") and name != "metadata."
    if name in FIELDS or labelled:
        return
    with pytest.raises(FilterError):
        parse_filters({name: "x"})
    assert not admits({f"metadata.?{name}": {"exists": True}})


@pytest.mark.promise("REC-9")
@given(st.sampled_from(["eq", "in", "lt", "lte", "gt", "gte", "any", "all"]), JSON)
def test_a_missing_value_passes_no_positive_test(operator: str, operand: object) -> None:
    given_operand = [operand] if operator in {"in", "any", "all"} else operand
    assert not admits({"metadata.nothing": {operator: given_operand}})


@given(JSON, st.lists(JSON, max_size=4))
def test_in_and_not_in_are_opposites(value: object, operand: list[object]) -> None:
    facts = {**FACTS, "metadata": {"k": value}}
    found = passes(facts, (Condition("metadata.k", "in", operand),))
    missed = passes(facts, (Condition("metadata.k", "not_in", operand),))
    assert found is not missed or value is None


def test_the_order_of_a_set_changes_nothing() -> None:
    names = {f"name {number}" for number in range(20)}
    (one,) = parse_filters({"metadata.name": {"in": names}})
    (other,) = parse_filters({"metadata.name": {"in": frozenset(names)}})
    assert one == other
    assert one.operand == sorted(names)
