"""A token counter of the application's own: what it says is checked, since budgets rest on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import muniment
from muniment import ProviderError
from muniment.testing import FrozenClock
from muniment.trace import Recall
from tests.behaviour.conftest import said

SECRET = "The vault opens at nine."


def recalled(count: Callable[[str], Any], budget: int | None) -> Recall:
    options: dict[str, Any] = {"embedder": "none", "clock": FrozenClock(), "count_tokens": count}
    with muniment.open(":memory:", **options) as memory:
        me = memory.scoped(tenant_id="t1", user_id="u1", agent_id="a1")
        said(me, SECRET)
        return me.recall("vault", budget=budget)


def failing(text: str) -> int:
    raise LookupError(text)


@pytest.mark.promise("REC-3")
@pytest.mark.parametrize("budget", [None, 500])
@pytest.mark.parametrize(
    "count",
    [failing, lambda _: None, lambda _: "5", lambda _: 1.5, lambda _: float("nan"), lambda _: -5],
    ids=["raises", "None", "text", "fraction", "NaN", "negative"],
)
def test_what_is_no_number_of_tokens_is_an_error_of_ours(
    count: Callable[[str], Any], budget: int | None
) -> None:
    with pytest.raises(ProviderError, match="token counter") as caught:
        recalled(count, budget)
    assert "vault" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.promise("REC-3")
def test_a_whole_number_of_any_type_is_taken() -> None:
    found = recalled(lambda text: np.int64(len(text)), 1000)
    assert len(found) == 1
    assert (type(found.packet.tokens), found.packet.tokens) == (int, len(found.packet.text))
