"""Runs the command in this process, as a terminal or a program would, and keeps what it prints."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from muniment.cli import main

ENVIRONMENT = {
    "MUNIMENT_TENANT": "acme",
    "MUNIMENT_USER": "user_42",
    "MUNIMENT_AGENT": "helper",
    "MUNIMENT_EMBEDDER": "none",
    "MUNIMENT_STORE": "",
    "MUNIMENT_MODEL": "",
    "MUNIMENT_DEBUG": "",
}
PERSIAN = "کاربر می‌خواهد گزارش‌ها به زبان فارسی باشند."
STATEMENT = {"kind": "preference", "text": "Prefers the eu-west region.", "source_id": "p1"}


@dataclass(frozen=True)
class Result:
    """What a command printed and returned."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


Command = Callable[..., Result]


def command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> Command:
    """Return the command, run in a folder where `init` was run, with a scope in the environment."""
    monkeypatch.chdir(folder)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)

    def run(*arguments: str) -> Result:
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    assert run("init").code == 0
    return run


def remember(cli: Command, text: str, source_id: str, *more: str) -> str:
    given = ("--kind", "preference", "--source-id", source_id, "--approved", "--json", *more)
    result = cli("remember", text, *given)
    assert (result.code, result.err) == (0, ""), result
    return str(result.json["memory_id"])


def write_lines(*lines: object) -> str:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    Path("in.jsonl").write_text("\n".join(texts), encoding="utf-8")
    return "in.jsonl"
