"""One vocabulary: every verb of the facade has a command or a reason, and every command a verb."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from muniment.cli import app
from muniment.scoped import ScopedMemory
from muniment.tools import ToolName
from tests.command_line import TOOLS, VERBS, WITHOUT, public

OWN = {
    "demo": "shows; calls the facade many times",
    "keys show": "what `health` says of the store's key",
    "copy": "it works on two stores, and opens neither as a memory",
    "init": "`open` with `create`",
    "policy check": "`open` with `policy`",
    "tenants list": "it asks the map of servers, and opens no memory",
    "tenants move": "it works on two servers, and opens no memory",
    "tenants prepare": "it makes stores with the owner's role, and opens none",
}
"""The commands that no verb has, and why."""

MEASURING = ("bench", "eval")
"""The groups whose commands measure: they call the facade many times."""


def commands(group: TyperGroup, path: tuple[str, ...] = ()) -> Iterator[str]:
    for name, one in group.commands.items():
        if name in MEASURING:
            continue
        if isinstance(one, TyperGroup):
            yield from commands(one, (*path, name))
        elif isinstance(one, TyperCommand):
            yield " ".join((*path, name))


@pytest.mark.promise("OPE-1")
@pytest.mark.parametrize("face", VERBS)
def test_every_verb_of_the_facade_has_a_command_or_a_reason(face: type) -> None:
    excused = {verb for cls, verb in WITHOUT if cls is face}

    assert set(VERBS[face]) | excused == public(face)
    assert not set(VERBS[face]) & excused


@pytest.mark.promise("OPE-1")
def test_every_command_is_that_of_a_verb_or_has_a_reason() -> None:
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    named = {command for verbs in VERBS.values() for command in verbs.values()}

    assert named | set(OWN) == set(commands(group))
    assert not named & set(OWN)


@pytest.mark.promise("OPE-1", "TOO-1")
@pytest.mark.parametrize("tool", ToolName)
def test_every_tool_is_that_of_a_verb_and_a_person_has_a_command_for_it(tool: ToolName) -> None:
    face, verb, command = TOOLS[tool]

    assert verb in public(face)
    assert command in VERBS[ScopedMemory].values()
