"""The back ends that the behavioural suites run on, and what cannot run on one of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muniment.storage import open_store

if TYPE_CHECKING:
    from tests.postgres.server import Fresh

BACKENDS = ["sqlite", "sealed", "postgres", "sealed-postgres"]
FILES = "looks into the files of SQLite, or copies them; PostgreSQL's lie on its server"
INSIDE = "looks at SQLite's own connection, and how it plans a statement or what it holds"
NEVER = "looks for text that was there before; a sealed file never held it"
SIZE = "a large deletion runs the statements of a small one, many times"
NOT_ON = {
    "postgres": {
        "tests/faults/test_delete.py::test_plaintext_left_on_disk": FILES,
        "tests/faults/test_delete.py::test_vector_orphan": FILES,
        "tests/faults/test_durability.py::test_a_missing_file": FILES,
        "tests/forgetting/test_bytes.py": FILES,
        "tests/forgetting/test_interruption.py::TestAnOpenReader": FILES,
        "tests/forgetting/test_interruption.py::test_a_process_killed": FILES,
        "tests/forgetting/test_large.py": SIZE,
        "tests/forgetting/test_lifetimes.py::TestArchival::test_an_archived_record": FILES,
        "tests/forgetting/test_lifetimes.py::TestDeletion::test_what_it_takes": FILES,
        "tests/forgetting/test_lifetimes.py::TestDeletion::test_what_lives_on": INSIDE,
        "tests/forgetting/test_receipts.py::test_a_receipt_of_another_store": FILES,
        "tests/forgetting/test_receipts.py::test_a_receipt_that_was_taken_out": INSIDE,
        "tests/forgetting/test_sealed.py::test_an_erased_user_is_unreadable": FILES,
        "tests/forgetting/test_sealed.py::test_no_byte": FILES,
        "tests/threads/test_items.py::test_a_deleted_item_leaves_the_mark": FILES,
    },
    "sealed": {
        "tests/faults/test_delete.py::test_plaintext_left_on_disk": NEVER,
        "tests/forgetting/test_bytes.py": NEVER,
        "tests/forgetting/test_large.py": SIZE,
    },
}
"""Tests that cannot run on a sort of back end, by the beginning of their node ids, with reasons."""


def place_of(request: pytest.FixtureRequest, folder: Path) -> Iterator[Path | Fresh]:
    """Yield where a test's store is, on the back end that the fixture's parameter names."""
    sorts = request.param.split("-")
    for sort in sorts:
        for beginning, reason in NOT_ON.get(sort, {}).items():
            if request.node.nodeid.startswith(beginning):
                pytest.skip(reason)
    if sorts != ["sqlite"] and _has_twin(request):
        pytest.skip("without vectors the database does nothing else than with them")
    if "postgres" in sorts:
        with request.getfixturevalue("server").fresh(folder, sealed="sealed" in sorts) as database:
            yield database
        return
    path = folder / "memory.db"
    if "sealed" in sorts:
        open_store(path, sealed=True).close()
    yield path


def _has_twin(request: pytest.FixtureRequest) -> bool:
    """Return whether a test has no vectors and also runs with them."""
    if "embedder" not in request.fixturenames or request.getfixturevalue("embedder"):
        return False
    marks = request.node.iter_markers("parametrize")
    return not any(mark.args[0] == "embedder" for mark in marks)
