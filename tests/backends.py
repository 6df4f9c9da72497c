"""The back ends that the behavioural suites run on, and what cannot run on one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.postgres.server import Fresh

BACKENDS = ["sqlite", "postgres"]
FILES = "looks into the files of SQLite, or copies them; PostgreSQL's lie on its server"
INSIDE = "stops or looks at SQLite's own connection, statement by statement"
SIZE = "a large deletion runs the statements of a small one, many times"
NOT_ON_POSTGRES = {
    "tests/faults/test_delete.py::test_vector_orphan": FILES,
    "tests/forgetting/test_bytes.py": FILES,
    "tests/forgetting/test_interruption.py": INSIDE,
    "tests/forgetting/test_large.py": SIZE,
    "tests/forgetting/test_lifetimes.py::TestArchival::test_an_archived_record": FILES,
    "tests/forgetting/test_lifetimes.py::TestDeletion::test_a_sweep_killed": INSIDE,
    "tests/forgetting/test_lifetimes.py::TestDeletion::test_what": INSIDE,
    "tests/forgetting/test_receipts.py::test_a_receipt_of_another_store_is_recognised": FILES,
    "tests/forgetting/test_receipts.py::test_a_receipt_that_was_taken_out_of_the_chain": INSIDE,
    "tests/forgetting/test_sealed.py": FILES,
}
"""Tests that run on SQLite alone, by the beginning of their node ids, each with its reason."""


def place_of(request: pytest.FixtureRequest, folder: Path) -> Iterator[Path | Fresh]:
    """Yield where a test's store is, on the back end that the fixture's parameter names."""
    if request.param == "sqlite":
        yield folder / "memory.db"
        return
    for beginning, reason in NOT_ON_POSTGRES.items():
        if request.node.nodeid.startswith(beginning):
            pytest.skip(reason)
    if "embedder" in request.fixturenames and request.getfixturevalue("embedder") is None:
        pytest.skip("without vectors the database does nothing else than with them")
    with request.getfixturevalue("server").fresh(folder) as database:
        yield database
