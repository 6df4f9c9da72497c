"""Every way to write, on every surface, passes the same gate: refused, audited, or let through.

A new verb of the facade must be put into `ENTRY_POINTS` or `OTHERS`; one that takes or returns
what a write takes or returns must be put into `ENTRY_POINTS`.
"""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from muniment.aio import open_async
from muniment.cli import main
from muniment.errors import BatchError, MunimentError
from muniment.memory import Memory
from muniment.memory import open as open_memory
from muniment.records import Statement, WritePath
from muniment.results import Finding
from muniment.scope import Principal, Role, Scope
from muniment.scoped import Delegate, ReviewDesk, ScopedMemory
from tests.command_line import VERBS, WITHOUT, public

SCOPE = Scope("acme", "user_42", "helper")
REVIEWER = Principal("acme", "dana", frozenset({Role.REVIEWER}))
WHO = ["--tenant", "acme", "--embedder", "none", "--json"]
ME = [*WHO, "--user", "user_42", "--agent", "helper"]
DANA = [*WHO, "--principal", "dana"]

FORBIDDEN = {
    "hidden_characters": "Lives in Os\u202elo.",
    "ir_national_id": "کد ملی او ۰۰۱۳۵۴۲۴۱۹ است.",
    "payment_card": "Pays with 4111 1111 1111 1111.",
}
"""A text of each class that no write path may store."""
ALLOWED = "Lives in Oslo."


class Lenient:
    """Lets everything through, to prepare what a strict gate would not."""

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        return ()


@dataclass(frozen=True)
class Prepared:
    """A store in which there is something to correct, to revise and to approve.

    Attributes:
        store: Its file.
        text: What an entry point tries to write.
        record: An active record of another text.
        other: A pending candidate of another text.
        candidate: A pending candidate of that text.
        shown: Its version and content hash.
        export: An export of another store in which that text is a record.
    """

    store: Path
    text: str
    record: str
    other: str
    candidate: str
    shown: dict[str, Any]
    export: Path

    @property
    def mem0(self) -> Path:
        file = self.store.with_suffix(".json")
        item = {"id": "m1", "memory": self.text, "user_id": SCOPE.user_id}
        file.write_text(json.dumps({"results": [item]}), encoding="utf-8")
        return file

    @property
    def statement(self) -> Statement:
        return Statement(kind="insight", text=self.text, source_id="new")

    @property
    def lines(self) -> str:
        file = self.store.with_suffix(".jsonl")
        line = {"kind": "insight", "text": self.text, "source_id": "new"}
        file.write_text(json.dumps(line), encoding="utf-8")
        return str(file)

    @property
    def as_shown(self) -> list[str]:
        version, content_hash = str(self.shown["version"]), self.shown["content_hash"]
        return ["--version", version, "--content-hash", content_hash]


@dataclass(frozen=True)
class Call:
    """The arguments with which an entry point writes the text, and those of its command."""

    places: Sequence[object] = ()
    names: dict[str, Any] = field(default_factory=dict)
    options: Sequence[str] = ()


KIND = {"kind": "insight", "source_id": "new"}
KIND_OPTIONS = ("--kind", "insight", "--source-id", "new")

ENTRY_POINTS: dict[tuple[type, str], Callable[[Prepared], Call]] = {
    (ScopedMemory, "remember"): lambda at: Call(
        [at.text], {**KIND, "approved": True}, [at.text, *KIND_OPTIONS, "--approved"]
    ),
    (ScopedMemory, "remember_many"): lambda at: Call([[at.statement]], {"approved": True}),
    (ScopedMemory, "import_many"): lambda at: Call([[at.statement]], options=[at.lines]),
    (ScopedMemory, "record_outcome"): lambda at: Call(
        [at.text],
        {"source_id": "new", "succeeded": True, "actions": ["look"]},
        [at.text, "--source-id", "new", "--succeeded", "--action", "look"],
    ),
    (ScopedMemory, "propose"): lambda at: Call([at.text], KIND, [at.text, *KIND_OPTIONS]),
    (ScopedMemory, "correct"): lambda at: Call(
        [at.record], {"text": at.text}, [at.record, "--text", at.text]
    ),
    (ScopedMemory, "approve"): lambda at: Call(
        [at.candidate], at.shown, [at.candidate, *at.as_shown]
    ),
    (ScopedMemory, "import_export"): lambda at: Call(
        [at.export], options=[str(at.export), "--from", "export"]
    ),
    (ScopedMemory, "import_from"): lambda at: Call(
        ["mem0", at.mem0], options=[str(at.mem0), "--from", "mem0"]
    ),
    (Memory, "import_user"): lambda at: Call(
        [at.export],
        {"tenant_id": "acme", "user_id": "user_42"},
        [str(at.export), "--from", "export", "--all-agents"],
    ),
    (Memory, "import_from"): lambda at: Call(
        ["mem0", at.mem0],
        {"tenant_id": "acme", "agent_id": "helper"},
        [str(at.mem0), "--from", "mem0", "--all-users"],
    ),
    (ReviewDesk, "correct"): lambda at: Call(
        [SCOPE, at.record],
        {"text": at.text},
        [at.record, "--user", "user_42", "--agent", "helper", "--text", at.text],
    ),
    (ReviewDesk, "approve"): lambda at: Call(
        [SCOPE, at.candidate], at.shown, [at.candidate, *at.as_shown]
    ),
    (ReviewDesk, "revise"): lambda at: Call(
        [SCOPE, at.other], {"text": at.text}, [at.other, "--text", at.text]
    ),
    (Delegate, "remember"): lambda at: Call([at.text], {**KIND, "kind": "context"}),
}
"""Every verb that writes what somebody says, and how it is called."""

OTHERS: dict[type, set[str]] = {
    Memory: {
        "anchor",
        "clean_up",
        "close",
        "compact",
        "deduplicate",
        "deletions",
        "embed",
        "export_user",
        "forget_agent",
        "forget_space",
        "forget_tenant",
        "forget_user",
        "health",
        "maintain",
        "policy",
        "receipts",
        "reviewing",
        "rotate_keys",
        "scoped",
        "verify",
        "verify_receipt",
    },
    ScopedMemory: {
        "answer",
        "audit",
        "candidate",
        "candidates",
        "checkpoints",
        "cite",
        "conflicts",
        "counts",
        "delegate",
        "export",
        "forget",
        "forget_all",
        "forget_thread",
        "forget_where",
        "get",
        "history",
        "items",
        "list",
        "preview",
        "rate",
        "recall",
        "receipt",
        "receipts",
        "reject",
        "remake_summaries",
        "retract",
        "scope",
        "spaces",
        "stale_summaries",
        "thread",
        "threads",
        "unmerge",
        "usefulness",
        "verify_receipt",
        "with_spaces",
        "workflow",
    },
    ReviewDesk: {"candidate", "candidates", "conflicts", "find", "forget", "record", "reject"},
    Delegate: {"forget", "list", "named", "note_used", "refuse", "scope", "writes"},
}
"""The verbs that store nothing of what somebody says."""

SAYS = {"text", "statements", "source", "changes"}
WRITES = {"Written", "Batch", "ImportReport"}
SAYS_AND_WRITES_NOTHING = {(ScopedMemory, "preview")}


def mine(memory: Memory) -> ScopedMemory:
    return memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")


def prepare(store: Path, text: str) -> Prepared:
    elsewhere, export = store.with_name("elsewhere.db"), store.with_name("export.jsonl")
    with open_memory(elsewhere, embedder="none", screener=Lenient()) as memory:
        mine(memory).remember(text, kind="insight", source_id="e", approved=True)
        mine(memory).export(export)
    with open_memory(store, embedder="none", screener=Lenient()) as memory:
        me = mine(memory)
        record = me.remember("Lives in Rome.", kind="insight", source_id="r", approved=True)
        other = me.propose("Lives in Bonn.", kind="insight", source_id="o")
        seen = me.propose(text, kind="insight", source_id="c")
    return Prepared(
        store,
        text,
        record.memory_id,
        other.candidate_id,
        seen.candidate_id,
        {"version": seen.version, "content_hash": seen.content_hash},
        export,
    )


def codes_of(error: MunimentError) -> list[str]:
    if isinstance(error, BatchError):
        return [item.error.code for item in error.items]
    return [error.code]


def by_library(face: type, verb: str, at: Prepared) -> list[str]:
    call = ENTRY_POINTS[face, verb](at)
    with open_memory(at.store, embedder="none") as memory:
        faces: dict[type, object] = {
            ScopedMemory: mine(memory),
            ReviewDesk: memory.reviewing(REVIEWER),
            Delegate: mine(memory).delegate(writes="explicit"),
        }
        sync = faces.get(face, memory)
        try:
            getattr(sync, verb)(*call.places, **call.names)
        except MunimentError as error:
            return codes_of(error)
    return []


def by_aio(face: type, verb: str, at: Prepared) -> list[str]:
    call = ENTRY_POINTS[face, verb](at)

    async def work() -> list[str]:
        async with await open_async(at.store, embedder="none") as memory:
            me = memory.scoped(tenant_id="acme", user_id="user_42", agent_id="helper")
            faces: dict[type, object] = {
                ScopedMemory: me,
                ReviewDesk: memory.reviewing(REVIEWER),
                Delegate: me.delegate(writes="explicit"),
            }
            twin = faces.get(face, memory)
            try:
                await getattr(twin, verb)(*call.places, **call.names)
            except MunimentError as error:
                return codes_of(error)
        return []

    return asyncio.run(work())


def by_command(
    face: type, verb: str, at: Prepared, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    call = ENTRY_POINTS[face, verb](at)
    who = DANA if face is ReviewDesk else ME
    command = VERBS[face][verb].split()
    code = main([*command, *call.options, *who, "--store", str(at.store)])
    printed = json.loads(capsys.readouterr().out)
    assert (code == 0) is ("error" not in printed), printed
    error = printed.get("error", {})
    items = error.get("details", {}).get("items", [])
    return [item["code"] for item in items] or ([error["code"]] if error else [])


POINTS = [
    pytest.param(surface, face, verb, id=f"{surface}-{face.__name__}-{verb}")
    for face, verb in ENTRY_POINTS
    for surface in ("library", "aio", "command")
    if surface != "command" or (face, verb) not in WITHOUT
]


@pytest.fixture
def write(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, type, str, Prepared], list[str]]:
    monkeypatch.delenv("MUNIMENT_POLICY", raising=False)

    def call(surface: str, face: type, verb: str, at: Prepared) -> list[str]:
        if surface == "command":
            return by_command(face, verb, at, capsys)
        return (by_library if surface == "library" else by_aio)(face, verb, at)

    return call


Write = Callable[[str, type, str, Prepared], list[str]]


def stored(at: Prepared) -> tuple[set[str], list[str | None]]:
    """Return every text that is stored, but the prepared candidate's, and why writes failed."""
    with open_memory(at.store, embedder="none") as memory:
        me = mine(memory)
        texts = {record.text for record in me.list(superseded=True)}
        waiting = [one for one in me.candidates() if one.candidate_id != at.candidate]
        texts |= {one.statement.text for one in waiting}
        return texts, [entry.reason for entry in me.audit() if entry.action == "refused"]


@pytest.mark.promise("WRI-4", "OPE-1", "AUD-1")
@pytest.mark.parametrize("name", FORBIDDEN)
@pytest.mark.parametrize(("surface", "face", "verb"), POINTS)
def test_what_may_not_be_stored_is_refused_and_audited_at_every_entry_point(
    tmp_path: Path, write: Write, surface: str, face: type, verb: str, name: str
) -> None:
    at = prepare(tmp_path / "m.db", FORBIDDEN[name])

    assert write(surface, face, verb, at) == ["refused"]

    texts, refusals = stored(at)
    assert at.text not in texts
    assert len(refusals) == 1
    assert str(refusals[0]).endswith(f": {name}")


@pytest.mark.promise("WRI-4", "OPE-1")
@pytest.mark.parametrize(("surface", "face", "verb"), POINTS)
def test_what_may_be_stored_passes_every_entry_point(
    tmp_path: Path, write: Write, surface: str, face: type, verb: str
) -> None:
    at = prepare(tmp_path / "m.db", ALLOWED)

    assert write(surface, face, verb, at) == []

    texts, refusals = stored(at)
    assert at.text in texts
    assert refusals == []


@pytest.mark.parametrize("face", OTHERS)
def test_every_verb_of_the_facade_is_an_entry_point_or_none(face: type) -> None:
    writing = {verb for cls, verb in ENTRY_POINTS if cls is face}

    assert writing | OTHERS[face] == public(face)
    assert not writing & OTHERS[face]


@pytest.mark.parametrize("face", OTHERS)
def test_a_verb_that_looks_like_a_write_is_an_entry_point(face: type) -> None:
    for verb in OTHERS[face]:
        method = inspect.getattr_static(face, verb)
        if isinstance(method, property) or (face, verb) in SAYS_AND_WRITES_NOTHING:
            continue
        signature = inspect.signature(method)
        assert not SAYS & set(signature.parameters), verb
        assert signature.return_annotation not in WRITES, verb
