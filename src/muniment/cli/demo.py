"""`demo`: the main job from end to end, with every claim checked as it is shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding
from rich.text import Text

from muniment.cli.options import Run, command
from muniment.cli.output import DIM, Out, Words
from muniment.cli.views import receipt_view, records_table
from muniment.errors import ConflictError, InvalidInputError

if TYPE_CHECKING:
    from muniment.memory import Memory
    from muniment.results import Written
    from muniment.scoped import ScopedMemory

app = typer.Typer()

SCOPE: Mapping[str, Any] = {
    "tenant_id": "acme",
    "user_id": "user_42",
    "agent_id": "deployment-assistant",
}
QUESTION = "Which region should the next deployment example use?"
PERSIAN_QUESTION = "گزارش‌ها را به چه زبانی بنویسم؟"

STATEMENTS: Mapping[str, Mapping[str, Any]] = {
    "region": {
        "text": "The user prefers deployment examples in the eu-west region.",
        "kind": "preference",
        "source_id": "profile-update-1",
        "field": "deployment_region",
        "value": "eu-west",
    },
    "persian_region": {
        "text": "کاربر دوست دارد مثال‌های استقرار در منطقهٔ eu-west باشند.",
        "kind": "preference",
        "source_id": "profile-update-2",
    },
    "language": {
        "text": "کاربر می‌خواهد گزارش‌ها به زبان فارسی نوشته شوند.",
        "kind": "preference",
        "source_id": "profile-update-3",
        "field": "report_language",
        "value": "fa",
    },
    "decision": {
        "text": "The team decided to release on Thursdays before noon.",
        "kind": "decision",
        "source_id": "meeting-12",
    },
    "expired": {
        "text": "Until the migration is over, deployment examples use the us-east region.",
        "kind": "context",
        "source_id": "ticket-77",
        "expires_at": "2024-06-01T00:00:00Z",
    },
}

Keep = Annotated[
    Path | None, typer.Option(help="Write the store here and keep it, to look around in it.")
]


@dataclass(slots=True)
class Demo:
    """One run of the demo.

    Attributes:
        store: File of the store.
        embedder: Which embedder to use, by name.
        out: Where to print.
        checks: What was claimed, and whether it was so.
        ids: memory_id of each statement, by its name in the demo.
    """

    store: Path
    embedder: str
    out: Out
    checks: dict[str, bool] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)

    def step(self, title: str, explanation: str) -> None:
        """Print the head of a step."""
        head = Text.assemble("\n", ("● ", "cyan"), (title, "bold"))
        self.out.show(head, Padding(Text(explanation, DIM), (0, 0, 0, 2)))

    def check(self, claim: str, *, holds: bool) -> None:
        """Print whether a claim holds, and keep it."""
        self.checks[claim] = holds
        self.out.show(Text.assemble(("  ✓ ", "green") if holds else ("  ✗ ", "red"), claim))

    @contextmanager
    def scoped(self) -> Iterator[ScopedMemory]:
        """Open the store in this process."""
        with self.memory() as memory:
            yield memory.scoped(**SCOPE)

    def memory(self) -> Memory:
        """Open the store in this process, making it when it is new."""
        from muniment.memory import open as open_memory

        return open_memory(self.store, embedder=self.embedder)

    def remember(self, me: ScopedMemory, name: str, **changes: object) -> Written:
        """Write one of the statements."""
        return me.remember(**{**STATEMENTS[name], **changes}, approved=True)

    def ask(self, question: str, *, tenant: str = SCOPE["tenant_id"]) -> list[str]:
        """Recall in a process of its own and return the ids of the packet, best first."""
        done = self._second_process(question, tenant, "--json", capture=True)
        found = json.loads(done.stdout)
        return [item["record"]["memory_id"] for item in found["packet"]["items"]]

    def show(self, question: str, *, tenant: str = SCOPE["tenant_id"]) -> None:
        """Let a process of its own print what it recalls."""
        if not self.out.as_json:
            other = "" if tenant == SCOPE["tenant_id"] else f"--tenant {tenant} "
            call = Words(f"$ muniment recall … {other}'{question}'", DIM)
            self.out.show(Padding(call, (0, 0, 0, 2)))
            sys.stdout.flush()
            self._second_process(question, tenant)

    def _second_process(
        self, question: str, tenant: str, *extra: str, capture: bool = False
    ) -> subprocess.CompletedProcess[str]:
        scope = ["--tenant", tenant, "--user", SCOPE["user_id"], "--agent", SCOPE["agent_id"]]
        options = ["--store", str(self.store), "--embedder", self.embedder, *scope, *extra]
        return subprocess.run(  # noqa: S603 - this interpreter and this package
            [sys.executable, "-m", "muniment", "recall", *options, "--", question],
            stdout=subprocess.PIPE if capture else None,
            check=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1"},
        )


@command(app, scope=False, store=False)
def demo(run: Run, keep: Keep = None) -> None:
    """See the main job from end to end.

    Writes, recalls in a second process, isolates, repeats and forgets. Needs no key, server or
    network. Each ✓ is checked; exits with 1 when one does not hold.

    Example: muniment demo --keep demo.db
    """
    if keep is not None and keep.exists():
        raise InvalidInputError(f"{keep} exists; name a new file for --keep.")
    with tempfile.TemporaryDirectory(prefix="muniment-", ignore_cleanup_errors=True) as folder:
        store = keep.absolute() if keep else Path(folder) / "demo.db"
        shown = Demo(store, run.embedder, run.out)
        for act in (_write, _recall, _isolate, _expire, _repeat, _forget):
            act(shown)
    failed = [claim for claim, holds in shown.checks.items() if not holds]
    run.out.emit(
        {"passed": not failed, "checks": {**shown.checks}, "store": str(keep) if keep else None},
        _verdict(len(shown.checks), len(failed), keep),
    )
    if failed:
        raise typer.Exit(1)


def _verdict(total: int, failed: int, keep: Path | None) -> Text:
    if failed:
        return Text(f"\n{failed} of {total} checks failed.", "bold red")
    kept = "" if keep is None else f" The store is {keep}."
    return Text.assemble("\n", (f"All {total} checks passed.", "bold green"), kept)


def _write(demo: Demo) -> None:
    demo.step("Remember", "The application writes what the person approved, in two languages.")
    with demo.scoped() as me:
        for name in STATEMENTS:
            demo.ids[name] = demo.remember(me, name).memory_id
        page = me.list()
    demo.out.show(records_table(tuple(page)))
    demo.check("four records are stored, and a fifth that has expired", holds=len(page) == 4)


def _recall(demo: Demo) -> None:
    demo.step("Recall", "A second process opens the file and asks something new.")
    demo.show(QUESTION)
    found = demo.ask(QUESTION)
    demo.check("the best record names the region", holds=found[:1] == [demo.ids["region"]])
    demo.step("Recall in Persian", "The same, with letters, joiners and words of another language.")
    demo.show(PERSIAN_QUESTION)
    best = demo.ask(PERSIAN_QUESTION)[:1]
    demo.check("the best record names the language", holds=best == [demo.ids["language"]])


def _isolate(demo: Demo) -> None:
    demo.step("Isolation", "The same question, user and agent, but another tenant.")
    demo.show(QUESTION, tenant="globex")
    demo.check("another tenant gets nothing", holds=demo.ask(QUESTION, tenant="globex") == [])


def _expire(demo: Demo) -> None:
    demo.step("Expiry", "A record about the us-east region answers the question too, but is over.")
    with demo.scoped() as me:
        found = me.recall(QUESTION, minimum_score=-1, limit=100)
    ids = [item.record.memory_id for item in found]
    demo.check(
        "the expired record is absent, even when every score is let in",
        holds=demo.ids["expired"] not in ids and len(ids) == 4,
    )


def _repeat(demo: Demo) -> None:
    demo.step("Repeat", "A source_id is written once, however often the application retries.")
    with demo.scoped() as me:
        again = demo.remember(me, "region")
        demo.check(
            "a retry returns the same memory_id", holds=again.memory_id == demo.ids["region"]
        )
        refused = False
        try:
            demo.remember(me, "region", text="The user prefers the us-east region.")
        except ConflictError as error:
            refused = True
            demo.out.show(Padding(Text(f"ConflictError: {error}", DIM), (0, 0, 0, 2)))
        same = me.get(demo.ids["region"]).text == STATEMENTS["region"]["text"]
    demo.check("another statement under it is refused", holds=refused and same)


def _forget(demo: Demo) -> None:
    demo.step("Forget", "The record goes with all that was derived from it; the receipt proves it.")
    with demo.scoped() as me:
        receipt = me.forget(demo.ids["language"], wait=True)
    demo.out.show(receipt_view(receipt))
    demo.check("nothing is left on any surface", holds=not any(s.left for s in receipt.surfaces))
    demo.check(
        "a second process finds it no more",
        holds=demo.ids["language"] not in demo.ask(PERSIAN_QUESTION),
    )
