"""The async facade gives what the sync one gives, and never holds up the event loop."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import shutil
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from muniment.aio import (
    AsyncCheckpoints,
    AsyncDelegate,
    AsyncItems,
    AsyncMemory,
    AsyncReviewDesk,
    AsyncScopedMemory,
    AsyncThread,
    AsyncWorkflow,
    open_async,
)
from muniment.errors import (
    ConflictError,
    ForeignFileError,
    NotFoundError,
    ScopeError,
    StoreClosedError,
    TombstonedError,
)
from muniment.memory import Memory
from muniment.memory import open as open_memory
from muniment.ports import ModelReply
from muniment.records import Statement, WritePath
from muniment.results import Finding, Outcome
from muniment.scope import Principal, Role
from muniment.scoped import Checkpoints, Delegate, Items, ReviewDesk, ScopedMemory, Thread, Workflow

ROOT = Path(__file__).resolve().parents[1]
SCOPE: dict[str, Any] = {"tenant_id": "acme", "user_id": "user_42", "agent_id": "helper"}
TWINS: dict[type, type] = {
    Memory: AsyncMemory,
    ScopedMemory: AsyncScopedMemory,
    ReviewDesk: AsyncReviewDesk,
    Delegate: AsyncDelegate,
    Thread: AsyncThread,
    Items: AsyncItems,
    Checkpoints: AsyncCheckpoints,
    Workflow: AsyncWorkflow,
}
SYNC_ONLY = {"step"}
"""What waits for the store inside a `with` block, and so has no twin."""

GUARD = 60.0
"""Seconds after which a test that hangs fails; nothing waits this long otherwise."""


class BlockingScreener:
    """Holds the thread that screens until the event loop lets it go."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.release = threading.Event()
        self.threads: set[int] = set()

    def screen(self, text: str, path: WritePath) -> Sequence[Finding]:
        self.threads.add(threading.get_ident())
        if "blocks" in text:
            self.reached.set()
            assert self.release.wait(GUARD), "the event loop never ran while a call was blocked"
        return ()


class ThreadNotingModel:
    """Notes on which thread it was asked."""

    def __init__(self) -> None:
        self.threads: set[str] = set()

    def respond(self, *, instructions: str, prompt: str) -> ModelReply:
        self.threads.add(threading.current_thread().name)
        return ModelReply("eu-west", "stub")


def statements(count: int) -> list[Statement]:
    return [
        Statement(kind="insight", text=f"Statement {n} about region {n % 7}.", source_id=f"s{n}")
        for n in range(count)
    ]


def public(cls: type) -> set[str]:
    return {name for name in dir(cls) if not name.startswith("_")} - SYNC_ONLY


@pytest.mark.promise("OPE-1")
@pytest.mark.parametrize("sync", TWINS)
def test_every_public_name_of_the_sync_facade_has_a_twin(sync: type) -> None:
    more = {"run", "aclose"} if sync is Memory else {"run"}

    assert public(TWINS[sync]) == public(sync) | more


@pytest.mark.promise("OPE-1")
@pytest.mark.parametrize("sync", TWINS)
def test_a_twin_takes_and_returns_what_the_sync_method_does(sync: type) -> None:
    for name in public(sync):
        method, twin = inspect.getattr_static(sync, name), getattr(TWINS[sync], name)
        if isinstance(method, property):
            continue
        expected = inspect.signature(method)
        returned = f"Async{expected.return_annotation}"
        makes_scoped = any(twin_of.__name__ == returned for twin_of in TWINS.values())
        if makes_scoped:
            expected = expected.replace(return_annotation=returned)
        assert inspect.signature(twin) == expected, name
        assert inspect.iscoroutinefunction(twin) is not makes_scoped, name


def test_opening_takes_what_the_sync_one_takes() -> None:
    sync_open = inspect.signature(open_memory)
    assert inspect.signature(open_async).parameters == sync_open.parameters


def check_generated(root: Path) -> str:
    command = [sys.executable, str(root / "scripts" / "generate_aio"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode == 0) is (done.stdout == ""), done.stdout + done.stderr
    return done.stdout


def test_the_generated_files_are_up_to_date() -> None:
    assert check_generated(ROOT) == ""


def test_an_edited_a_missing_and_a_left_over_file_are_told(tmp_path: Path) -> None:
    for name in ("scripts/generate_aio", "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "muniment", tmp_path / "src" / "muniment", ignore=kept)
    package = tmp_path / "src" / "muniment" / "aio"
    (package / "memory.py").write_text("edited = True", encoding="utf-8")
    (package / "scoped" / "desk.py").unlink()
    (package / "left_over.py").touch()

    told = check_generated(tmp_path)

    assert [line.partition(";")[0] for line in told.splitlines()] == [
        "src/muniment/aio/memory.py is out of date",
        "src/muniment/aio/scoped/desk.py is out of date",
        "src/muniment/aio/left_over.py is written by nothing",
    ]


@pytest.mark.promise("OPE-1")
def test_the_verbs_give_what_the_sync_verbs_give(tmp_path: Path) -> None:
    async def work() -> None:
        async with await open_async(tmp_path / "a.db", embedder="none") as memory:
            me = memory.scoped(**SCOPE)
            assert me.scope.user_id == "user_42"
            assert memory.policy.rule("preference").name == "preference"
            call = {"kind": "preference", "source_id": "p1", "approved": True}
            first = await me.remember("Prefers the eu-west region.", **call)  # type: ignore[arg-type]
            again = await me.remember("Prefers the eu-west region.", **call)  # type: ignore[arg-type]
            assert (again.memory_id, again.outcome) == (first.memory_id, Outcome.REPEATED)
            seen = await me.preview("Prefers it.", kind="preference", source_id="p1")
            assert seen.refusal == ConflictError.code
            found = await me.recall("Which region?")
            assert [item.record.memory_id for item in found] == [first.memory_id]
            assert await me.get(first.memory_id) == found.packet.items[0].record
            assert len(await me.list()) == 1
            assert len(await me.history(first.memory_id)) == 1
            assert (await me.counts()).active == 1
            assert (await memory.health()).scopes == 1
            sync = open_memory(tmp_path / "a.db", embedder="none")
            assert sync.scoped(**SCOPE).recall("Which region?") == found
            sync.close()
            await me.forget(first.memory_id)
            with pytest.raises(NotFoundError):
                await me.get(first.memory_id)
            assert [entry.action for entry in await me.audit()] == ["remember", "forget"]
            await me.import_many(statements(2))
            await memory.compact()

    asyncio.run(work())


@pytest.mark.promise("OPE-1")
def test_proposing_reviewing_and_correcting_are_awaited_too() -> None:
    async def work() -> None:
        async with await open_async(":memory:", embedder="none") as memory:
            me = memory.scoped(**SCOPE)
            said = {"kind": "preference", "field": "seat"}
            proposed = await me.propose("Likes aisles.", value="aisle", source_id="s", **said)  # type: ignore[arg-type]
            desk = memory.reviewing(Principal("acme", "rev", frozenset({Role.REVIEWER})))
            (seen,) = await desk.candidates()
            assert seen == proposed
            shown = {"version": seen.version, "content_hash": seen.content_hash}
            written = await desk.approve(seen.scope, seen.candidate_id, **shown)  # type: ignore[arg-type]
            after = await me.correct(written.memory_id, text="Likes windows.", value="window")
            assert after.superseded == written.memory_id
            assert (await me.get(after.memory_id)).value == "window"
            with pytest.raises(TombstonedError):
                await me.propose("Likes aisles.", value="aisle", source_id="s2", **said)  # type: ignore[arg-type]

    asyncio.run(work())


@pytest.mark.promise("OPE-5")
def test_the_loop_runs_while_a_storage_call_is_blocked() -> None:
    screener = BlockingScreener()

    async def work() -> tuple[int, int]:
        async with await open_async(":memory:", embedder="none", screener=screener) as memory:
            me = memory.scoped(**SCOPE)
            blocked = asyncio.create_task(
                me.remember("This one blocks.", kind="insight", source_id="b", approved=True)
            )
            beats = 0
            while not screener.reached.is_set():
                await asyncio.sleep(0)
                beats += 1
            await me.remember("This one passes.", kind="insight", source_id="p", approved=True)
            assert not blocked.done()
            screener.release.set()
            await blocked
            return beats, (await me.counts()).active

    beats, active = asyncio.run(asyncio.wait_for(work(), GUARD))
    assert (beats > 0, active) == (True, 2)
    assert threading.get_ident() not in screener.threads


@pytest.mark.promise("OPE-5")
def test_the_heart_of_the_loop_beats_through_many_writes_and_recalls(tmp_path: Path) -> None:
    screener = BlockingScreener()
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    async def work() -> list[int]:
        location = tmp_path / "a.db"
        async with await open_async(location, embedder="none", screener=screener) as memory:
            me = memory.scoped(**SCOPE)
            beating = asyncio.create_task(heart())
            batch = await me.remember_many(statements(2000), approved=True)
            after_write = beats
            recalls = [me.recall(f"statement {n} region") for n in range(200)]
            found = await asyncio.gather(*recalls)
            beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await beating
            assert len(batch) == 2000
            assert all(len(one) for one in found)
            return [after_write, beats - after_write]

    during = asyncio.run(asyncio.wait_for(work(), GUARD))
    assert min(during) > 10
    assert threading.get_ident() not in screener.threads


def test_a_model_has_threads_of_its_own() -> None:
    model = ThreadNotingModel()

    async def work() -> str:
        async with await open_async(":memory:", embedder="none", model=model) as memory:
            me = memory.scoped(**SCOPE)
            await me.remember(
                "Prefers the eu-west region.", kind="preference", source_id="p", approved=True
            )
            return (await me.answer("Which region?")).text

    assert asyncio.run(work()) == "eu-west"
    assert all(name.startswith("muniment-models") for name in model.threads)


def test_a_cancelled_call_may_commit_and_a_retry_returns_the_same_record() -> None:
    screener = BlockingScreener()

    async def work() -> None:
        async with await open_async(":memory:", embedder="none", screener=screener) as memory:
            me = memory.scoped(**SCOPE)

            async def write() -> str:
                written = await me.remember(
                    "This one blocks.", kind="insight", source_id="b", approved=True
                )
                return written.memory_id

            task = asyncio.create_task(write())
            await asyncio.to_thread(screener.reached.wait, GUARD)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            screener.release.set()
            memory_id = await write()
            assert await write() == memory_id
            assert (await me.counts()).active == 1

    asyncio.run(asyncio.wait_for(work(), GUARD))


def test_a_closed_memory_says_so() -> None:
    async def work() -> None:
        memory = await open_async(":memory:", embedder="none")
        me = memory.scoped(**SCOPE)
        await memory.aclose()
        await memory.close()
        with pytest.raises(StoreClosedError):
            await me.counts()

    asyncio.run(work())


def workers() -> list[str]:
    return [t.name for t in threading.enumerate() if t.name.startswith("muniment-")]


def test_closing_ends_the_threads(tmp_path: Path) -> None:
    async def work() -> None:
        async with await open_async(tmp_path / "a.db", embedder="none") as memory:
            await memory.health()
            assert workers()

    asyncio.run(work())
    assert not workers()


def test_a_failed_opening_raises_the_same_error_and_leaves_no_thread(tmp_path: Path) -> None:
    foreign = tmp_path / "notes.db"
    foreign.write_text("not a database at all " * 500, encoding="utf-8")

    async def work() -> None:
        with pytest.raises(ForeignFileError):
            await open_async(foreign, embedder="none")

    asyncio.run(work())
    assert not workers()


@pytest.mark.promise("SCO-2")
def test_an_incomplete_scope_is_refused_before_anything_is_awaited() -> None:
    async def work() -> None:
        async with await open_async(":memory:", embedder="none") as memory:
            with pytest.raises(ScopeError):
                memory.scoped(**SCOPE | {"user_id": " "})

    asyncio.run(work())
