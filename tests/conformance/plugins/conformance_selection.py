"""Runs of a suite what `runner.py` asks for; see there."""

from __future__ import annotations

import json
import os

import pytest


def _plain_id(item: pytest.Item) -> str:
    return item.nodeid.partition("[")[0]


def _wanted(item: pytest.Item, fixtures: set[str]) -> bool:
    return not fixtures or not fixtures.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop what is deselected, and what uses none of the selected fixtures."""
    listed = set(json.loads(os.environ["CONFORMANCE_DESELECTED"]))
    fixtures = set(json.loads(os.environ["CONFORMANCE_SELECTED"]))
    unknown = listed - {_plain_id(item) for item in items}
    if unknown:
        raise pytest.UsageError(f"deselected.toml names tests that do not exist: {unknown}")
    kept = [item for item in items if _plain_id(item) not in listed and _wanted(item, fixtures)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
