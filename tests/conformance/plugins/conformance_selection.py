"""Runs of a suite what `runner.py` asks for; see there."""

from __future__ import annotations

import json
import os

import pytest


def _is_named(item: pytest.Item, key: str) -> bool:
    name, _, case = key.removesuffix("]").partition("[")
    plain, _, cases = item.nodeid.removesuffix("]").partition("[")
    return name in ("", plain) and (not case or f"-{case}-" in f"-{cases}-")


def _wanted(item: pytest.Item, fixtures: set[str]) -> bool:
    return not fixtures or not fixtures.isdisjoint(getattr(item, "fixturenames", ()))


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Drop what is deselected, and what uses none of the selected fixtures."""
    listed = set(json.loads(os.environ["CONFORMANCE_DESELECTED"]))
    fixtures = set(json.loads(os.environ["CONFORMANCE_SELECTED"]))
    dropped = {key: [item for item in items if _is_named(item, key)] for key in listed}
    unknown = [key for key, found in dropped.items() if not found]
    if unknown:
        raise pytest.UsageError(f"deselected.toml names tests that do not exist: {unknown}")
    names = {item.nodeid for found in dropped.values() for item in found}
    kept = [item for item in items if item.nodeid not in names and _wanted(item, fixtures)]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept
