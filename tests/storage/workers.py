"""What the tests run in other processes, and how they start and talk to it.

Each command speaks lines: it says `ready`, waits for a line, and then does its work.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from muniment.memory import open as open_memory
from muniment.ports import Store
from muniment.scope import Scope
from muniment.scoped import ScopedMemory

SCOPE = Scope("acme", "user_42", "helper")


class Worker:
    """A running command. Nothing it does is waited for by time."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().rstrip("\n")

    def say(self, line: str = "go") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def finish(self) -> list[str]:
        out, err = self.process.communicate(timeout=120)
        assert self.process.returncode == 0, err
        return out.splitlines()


@contextmanager
def worker(command: str, *arguments: object) -> Iterator[Worker]:
    """Start a command in a process of its own; it is killed when the body ends before it does."""
    call = [sys.executable, __file__, command, *map(str, arguments)]
    with subprocess.Popen(
        call,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield Worker(process)
        finally:
            if process.poll() is None:
                process.kill()


def remember(me: ScopedMemory, source_id: str, text: str) -> str:
    """Remember one preference and return its id."""
    written = me.remember(text, kind="preference", source_id=source_id, approved=True)
    return written.memory_id


def _tell(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _wait() -> None:
    _tell("ready")
    assert sys.stdin.readline()


def _write(path: str, who: str, count: str) -> None:
    """Write and recall in turn; every write is recalled at once."""
    _wait()
    with open_memory(path, embedder="none") as memory:
        me = memory.scoped(**SCOPE.to_dict())
        for number in range(int(count)):
            memory_id = remember(me, f"{who}:{number}", f"Prefers hotel {who}{number}.")
            found = me.recall(f"Which hotel is {who}{number}?", minimum_score=0, limit=400)
            assert found.trace.hits[0].memory_id == memory_id


def _race(path: str, threads: str) -> None:
    """Remember the same statement in many threads and print the ids they got."""
    with open_memory(path, embedder="none") as memory:
        me = memory.scoped(**SCOPE.to_dict())
        ids: list[str] = []
        racers = [
            Thread(target=lambda: ids.append(remember(me, "same", "Prefers tea.")))
            for _ in range(int(threads))
        ]
        _wait()
        for racer in racers:
            racer.start()
        for racer in racers:
            racer.join()
    _tell(json.dumps(ids))


def _field(path: str, who: str, count: str) -> None:
    """Give one field a new value many times."""
    with open_memory(path, embedder="none") as memory:
        me = memory.scoped(**SCOPE.to_dict())
        _wait()
        for number in range(int(count)):
            me.remember(
                f"Prefers seat {who}{number}.",
                kind="preference",
                source_id=f"{who}:{number}",
                approved=True,
                field="seat",
                value=f"{who}{number}",
            )


def _serve(path: str) -> None:
    """Remember each line that comes in, under the line as source_id, and print the id."""
    with open_memory(path, embedder="none") as memory:
        me = memory.scoped(**SCOPE.to_dict())
        _tell("ready")
        for line in sys.stdin:
            said, text = line.rstrip("\n").split(" ", 1)
            if said == "forget":
                me.forget(text)
                _tell("forgotten")
            else:
                _tell(remember(me, said, text))


def _nursery(path: str) -> None:
    """Start a writer for each line that names its pipe, and kill the one that a number names.

    A fork has nothing to import: whatever a write needs was used once before.
    """
    with open_memory(":memory:", embedder="none") as memory:
        remember(memory.scoped(**SCOPE.to_dict()), "first", "Prefers tea.")
    _tell("ready")
    for who, line in enumerate(sys.stdin):
        said = line.rstrip("\n")
        if said.isdigit():
            os.kill(int(said), signal.SIGKILL)
            os.waitpid(int(said), 0)
            _tell("killed")
        elif os.fork() == 0:
            with Path(said).open("w", encoding="utf-8") as sys.stdout:
                _tell(str(os.getpid()))
                _stream(path, str(who))


def _stream(path: str, who: str) -> None:
    """Write without end through the write gate, telling each source_id once it is acknowledged."""
    memory = open_memory(path, embedder="none")
    me = memory.scoped(**SCOPE.to_dict())
    number = 0
    while True:
        source = f"{who}:{number}"
        text = f"Prefers {source} " + "and much else " * (number % 40)
        me.remember(
            text, kind="preference", source_id=source, approved=True, field="f", value=source
        )
        _tell(source)
        number += 1


def _hold(path: str) -> None:
    """Keep the file's write lock until a line comes in."""
    from muniment.storage import open_store

    store = open_store(path)
    store.write(lambda _: _wait())
    store.close()


def _fork(path: str) -> None:
    """Fork with everything open; let the child read, write and close, and then the parent."""
    from muniment.errors import StoreClosedError
    from muniment.storage import open_store

    memory = open_memory(path, embedder="none", busy_timeout=0)
    volatile = open_store(":memory:")
    me = memory.scoped(**SCOPE.to_dict())
    remember(me, "parent:1", "Prefers the parent's tea.")
    assert len(me.recall("tea")) == 1
    with memory._store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        child = os.fork()
        if child == 0:
            remember(me, "child", "Prefers the child's tea.")
            assert len(me.recall("tea")) == 2
            memory.close()
            for door in (volatile.info, lambda: me.recall("tea")):
                try:
                    door()
                except StoreClosedError:
                    continue
                os._exit(2)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert view.counts(owner, 0).active == 1
    memory._store.write(lambda _: _fork_in_write(memory._store))
    assert len(me.recall("tea")) == 2
    remember(me, "parent:2", "Prefers the parent's second tea.")
    assert len(me.recall("tea")) == 3
    memory.close()
    _tell("well")


def _fork_in_write(inherited: Store) -> None:
    """Fork while the parent holds the write lock: the child must find it locked."""
    from muniment.errors import StoreBusyError

    child = os.fork()
    if child == 0:
        try:
            inherited.write(lambda tx: tx.owners())
        except StoreBusyError:
            os._exit(0)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0


def _crash(folder: str) -> None:
    """Kill a process at each statement of its first opening of a file; print how many there are."""
    import apsw

    from muniment.storage.sqlite import SqliteStore

    connect = SqliteStore._connect
    place = 0

    def die_at(number: int) -> Callable[..., bool]:
        seen = 0

        def trace(*_: object) -> bool:
            nonlocal seen
            seen += 1
            if seen == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return True

        return trace

    def connected(store: SqliteStore) -> apsw.Connection:
        connection = connect(store)
        connection.exec_trace = die_at(place)
        return connection

    while True:
        place += 1
        child = os.fork()
        if child == 0:
            setattr(SqliteStore, "_connect", connected)  # noqa: B010 - a method is replaced
            SqliteStore(str(Path(folder) / f"{place}.db"), busy_timeout=5, create=True)
            os._exit(0)
        if os.waitpid(child, 0)[1] == 0:
            _tell(str(place - 1))
            return


COMMANDS: dict[str, Callable[..., None]] = {
    "write": _write,
    "race": _race,
    "field": _field,
    "serve": _serve,
    "nursery": _nursery,
    "hold": _hold,
    "fork": _fork,
    "crash": _crash,
}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
