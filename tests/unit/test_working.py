"""Working state lives in memory, and nowhere else by accident."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from muniment.errors import InvalidInputError
from muniment.working import WorkingState


@dataclass
class Plan:
    """What one run is about."""

    goal: str
    retries: int = 0
    ids: list[str] = field(default_factory=list)


@pytest.mark.promise("THR-1")
def test_it_holds_a_value_of_its_type() -> None:
    state = WorkingState(Plan("book a flight"))
    state.value.retries += 1
    state.value.ids.append("offer-1")
    assert state.value == Plan("book a flight", 1, ["offer-1"])


@pytest.mark.promise("THR-1")
@pytest.mark.parametrize("persist", [pickle.dumps, copy.copy, copy.deepcopy])
def test_it_is_neither_pickled_nor_copied(persist: Callable[[object], object]) -> None:
    with pytest.raises(InvalidInputError, match="memory only"):
        persist(WorkingState(Plan("book a flight")))


@pytest.mark.promise("THR-1")
def test_it_is_no_json_and_shows_nothing() -> None:
    state = WorkingState(Plan("book a flight"))
    with pytest.raises(TypeError):
        json.dumps(state)
    assert repr(state) == str(state) == "WorkingState(Plan)"
    assert not hasattr(state, "__dict__")
