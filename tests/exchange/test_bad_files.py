"""A file that is not whole or not well-formed is one clear error, and nothing is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from muniment import BatchError, InvalidInputError
from muniment.errors import ImportFileError
from muniment.testing import FrozenClock
from tests.exchange.world import (
    edited,
    exported,
    items_of,
    lines_of,
    lived,
    mine,
    opened,
    resealed,
    taken,
)


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def text(clock: FrozenClock) -> str:
    me = mine(opened(clock))
    lived(me, clock)
    return exported(me)


@pytest.mark.promise("EXP-1")
def test_a_bad_line_anywhere_means_that_nothing_is_written(text: str) -> None:
    lines = text.splitlines()
    for place in range(len(lines)):
        for spoiled in ("{", "[1]", '{"type":"fact"}', lines[place][:-2], "\ud800"):
            memory = opened(embedder="none")
            broken = [*lines[:place], spoiled, *lines[place + 1 :]]
            with pytest.raises(ImportFileError) as caught:
                taken(mine(memory), "\n".join(broken))
            assert 1 <= caught.value.line <= len(lines)
            assert str(caught.value).startswith(f"Line {caught.value.line}: ")
            assert memory.health().scopes == 0


def test_a_missing_or_changed_line_is_seen(text: str) -> None:
    lines = text.splitlines()
    for place in range(len(lines)):
        without = [*lines[:place], *lines[place + 1 :]]
        with pytest.raises(ImportFileError):
            taken(mine(opened(embedder="none")), "\n".join(without))
    changed = text.replace("Lives in Rome.", "Lives in Bari.")
    with pytest.raises(ImportFileError, match="changed"):
        taken(mine(opened(embedder="none")), changed)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("record", {"memory_id": "Lives in Rome."}),
        ("record", {"text": None}),
        ("record", {"authority": "root"}),
        ("record", {"status": "forgotten", "extra": 1}),
        ("record", {"created_at": "2030-01-01T00:00:00"}),
        ("record", {"created_at": 5}),
        ("record", {"evidence": "evt"}),
        ("record", {"metadata": []}),
        ("record", {"source": {"source_id": "s"}}),
        ("record", {"scope": {"tenant_id": "acme", "user_id": "*", "agent_id": "a"}}),
        ("record", {"scope": {"tenant_id": "acme", "user_id": "other", "agent_id": "helper"}}),
        ("candidate", {"version": True}),
        ("candidate", {"content_hash": "xyz"}),
        ("candidate", {"findings": [{"name": "x"}]}),
        ("tombstone", {"reason": "bored"}),
        ("receipt", {"receipt_id": "rcp_other"}),
        ("audit", {"number": -1}),
    ],
)
def test_a_malformed_member_is_named_with_its_line(
    text: str, kind: str, changes: dict[str, Any]
) -> None:
    memory = opened(embedder="none")

    with pytest.raises(ImportFileError) as caught:
        taken(mine(memory), edited(text, kind, **changes))

    kinds = [line["type"] for line in lines_of(text)]
    assert caught.value.line == kinds.index(kind) + 1
    assert "Rome" not in str(caught.value)
    assert memory.health().scopes == 0


@pytest.mark.parametrize("number", ["NaN", "1e999999999", "9" * 5000])
def test_a_number_that_json_cannot_carry_is_refused(text: str, number: str) -> None:
    lines = text.splitlines()
    lines[1] = lines[1].replace('"value":"Rome"', f'"value":{number}')

    with pytest.raises((ImportFileError, BatchError)):
        taken(mine(opened(embedder="none")), resealed(lines))


def test_a_missing_file_and_unknown_arguments_are_clear_errors(tmp_path: Path, text: str) -> None:
    me = mine(opened(embedder="none"))

    with pytest.raises(InvalidInputError, match="path"):
        me.import_export(tmp_path / "none.jsonl")
    with pytest.raises(InvalidInputError, match="mode"):
        taken(me, text, mode="force")
    with pytest.raises(InvalidInputError, match="trust"):
        taken(me, text, trust="me")


def test_a_file_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "me.jsonl"
    first, second, *rest = text.encode().split(b"\n")
    file.write_bytes(b"\n".join([first, b"\xff" + second, *rest]))

    with pytest.raises(ImportFileError, match="Line 2: The line is not UTF-8"):
        mine(opened(embedder="none")).import_export(file)


def test_a_file_with_a_byte_order_mark_and_dos_line_ends_is_read(
    tmp_path: Path, clock: FrozenClock, text: str
) -> None:
    file = tmp_path / "me.jsonl"
    file.write_bytes(b"\xef\xbb\xbf" + text.encode())

    assert mine(opened(clock)).import_export(file).saved == len(items_of(text))
