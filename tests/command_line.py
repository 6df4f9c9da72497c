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
from muniment.memory import Memory
from muniment.scoped import Delegate, ReviewDesk, ScopedMemory
from muniment.tools import ToolName

ENVIRONMENT = {
    "MUNIMENT_TENANT": "acme",
    "MUNIMENT_USER": "user_42",
    "MUNIMENT_AGENT": "helper",
    "MUNIMENT_EMBEDDER": "none",
    "MUNIMENT_STORE": "",
    "MUNIMENT_MODEL": "",
    "MUNIMENT_RERANKER": "",
    "MUNIMENT_FILE_KEY": "",
    "MUNIMENT_KEY": "",
    "MUNIMENT_POLICY": "",
    "MUNIMENT_PRINCIPAL": "",
    "MUNIMENT_DEBUG": "",
}
PERSIAN = "کاربر می‌خواهد گزارش‌ها به زبان فارسی باشند."
STATEMENT = {"kind": "preference", "text": "Prefers the eu-west region.", "source_id": "p1"}

VERBS: dict[type, dict[str, str]] = {
    Memory: {
        "anchor": "audit anchor",
        "compact": "maintain compact",
        "deletions": "maintain deletions",
        "embed": "maintain embed",
        "export_user": "export",
        "forget_agent": "forget",
        "forget_space": "forget",
        "forget_tenant": "forget",
        "forget_user": "forget",
        "health": "doctor",
        "import_from": "import",
        "import_user": "import",
        "maintain": "maintain run",
        "clean_up": "maintain clean-up",
        "deduplicate": "maintain deduplicate",
        "policy": "policy show",
        "receipts": "receipt list",
        "rotate_keys": "keys rotate",
        "verify": "audit verify",
        "verify_receipt": "receipt verify",
    },
    ScopedMemory: {
        "answer": "answer",
        "approve": "approve",
        "audit": "audit show",
        "candidate": "candidate",
        "candidates": "candidates",
        "cite": "cite",
        "conflicts": "conflicts",
        "correct": "correct",
        "export": "export",
        "forget": "forget",
        "forget_all": "forget",
        "forget_where": "forget",
        "retract": "retract",
        "get": "show",
        "history": "history",
        "import_export": "import",
        "import_from": "import",
        "import_many": "import",
        "list": "list",
        "preview": "preview",
        "propose": "propose",
        "rate": "rate",
        "recall": "recall",
        "receipt": "receipt show",
        "receipts": "receipt list",
        "record_outcome": "record-outcome",
        "reject": "reject",
        "remember": "remember",
        "forget_thread": "thread forget",
        "thread": "thread show",
        "threads": "thread list",
        "unmerge": "unmerge",
        "usefulness": "usefulness",
    },
    ReviewDesk: {
        "approve": "review approve",
        "candidates": "review list",
        "conflicts": "review conflicts",
        "correct": "review correct",
        "find": "review show",
        "forget": "review forget",
        "reject": "review reject",
        "revise": "review revise",
    },
    Delegate: {},
}
"""The command of each verb of the facade."""

WITHOUT: dict[tuple[type, str], str] = {
    (Memory, "close"): "a command closes what it opened",
    (Memory, "reviewing"): "--tenant and --principal make the desk",
    (Memory, "scoped"): "--tenant, --user and --agent make the scope",
    (ScopedMemory, "counts"): "`doctor` counts; a scope's list says what it holds",
    (ScopedMemory, "delegate"): "a person at a terminal speaks for themselves; agents have tools",
    (ScopedMemory, "remember_many"): "`import` is the command for many; it never revives a value",
    (ScopedMemory, "checkpoints"): "a framework keeps them; `thread list` and `forget` see them",
    (ScopedMemory, "items"): "a framework keeps them; `thread list` and `forget` see them",
    (ScopedMemory, "remake_summaries"): "an application brings what summarises",
    (ScopedMemory, "stale_summaries"): "an application makes them anew",
    (ScopedMemory, "workflow"): "an application runs it; `thread list` and `forget` see it",
    (ScopedMemory, "scope"): "it is what the caller gave",
    (ScopedMemory, "spaces"): "they are what the caller gave",
    (ScopedMemory, "with_spaces"): "--space names them",
    (ScopedMemory, "verify_receipt"): "`receipt verify` asks the tenant's whole chain",
    (ReviewDesk, "candidate"): "`review show` needs the id alone, through `find`",
    (ReviewDesk, "record"): "`review show` shows the record that a candidate would replace",
    (Delegate, "forget"): "it is the tool `forget_fact`",
    (Delegate, "list"): "it is the tool `list_facts`",
    (Delegate, "named"): "it is the tool `recall_fact`",
    (Delegate, "note_used"): "only an adapter puts a packet before a model",
    (Delegate, "refuse"): "only a tool refuses what a model asks",
    (Delegate, "remember"): "it is the tool `remember_fact`",
    (Delegate, "scope"): "it is what the caller gave",
    (Delegate, "writes"): "it is what the caller gave",
}
"""The verbs without a command of their own, and why."""

TOOLS: dict[ToolName, tuple[type, str, str]] = {
    ToolName.REMEMBER: (Delegate, "remember", "remember"),
    ToolName.RECALL: (Delegate, "named", "recall"),
    ToolName.LIST: (Delegate, "list", "list"),
    ToolName.FORGET: (Delegate, "forget", "forget"),
    ToolName.SEARCH: (ScopedMemory, "recall", "recall"),
}
"""The verb of the facade behind each tool, and the command by which a person does the same."""


def public(cls: type) -> set[str]:
    """Return the names that a class of the facade shows."""
    return {name for name in dir(cls) if not name.startswith("_")}


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
