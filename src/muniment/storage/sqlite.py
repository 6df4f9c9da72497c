"""SQLite through `apsw-sqlite3mc`: files, connections, group commit."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import apsw

from muniment.errors import (
    ForeignFileError,
    StoreBusyError,
    StoreClosedError,
    StoreError,
    StoreVersionError,
    WrongKeyError,
)
from muniment.keys import Keys
from muniment.ports import Anchored, Head, MasterKey, OwnerState, Snapshot, Transaction
from muniment.results import StoreInfo
from muniment.scope import Owner
from muniment.storage.anchors import Anchoring
from muniment.storage.guard import Guard
from muniment.storage.seen import OwnersSeen, SeeingSnapshot, SeeingTransaction
from muniment.storage.sqlfiles import queries
from muniment.storage.sqlite_driver import DriverErrors, Patience, is_safe, told
from muniment.storage.sqlite_schema import migrate, schema_version
from muniment.storage.unlock import Unlocker, to_mark
from muniment.storage.views import RowSnapshot

T = TypeVar("T")
_MEMORY = ":memory:"
_PAGE_SIZE = 8192


class _Ticket:
    """One caller's work while it waits for the shared commit."""

    __slots__ = ("error", "finished", "result", "work")

    def __init__(self, work: Callable[[Transaction], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.error: BaseException | None = None
        self.finished = False


def _fail(tickets: list[_Ticket], error: StoreError) -> None:
    for ticket in tickets:
        ticket.error = ticket.error or error


class SqliteStore:
    """A store in one SQLite file, shared by any number of threads and processes.

    Readers each have a connection and never wait. Writers queue up in the process: the first one
    in takes the file's write lock once, runs everybody's work, each in a savepoint of its own, and
    commits with one fsync.

    Args:
        location: A file path or `:memory:`.
        busy_timeout: Seconds to wait for another process's write to finish.
        create: Whether to make the file when it does not exist.
        unlocker: Finds or makes the store's key; None for the key file beside the database.
        file_key: Passphrase of a file that SQLite encrypts as a whole, or None.

    Raises:
        KeyMissingError: The store's key is not where it should be.
        WrongKeyError: The key is another one.
        StoreVersionError: This SQLite is unsafe, or the file is from a newer muniment.
        ForeignFileError: The file is something else; it was not touched.
        StoreError: The file is missing and `create` is false, or cannot be opened.
    """

    def __init__(
        self,
        location: str,
        *,
        busy_timeout: float,
        create: bool,
        unlocker: Unlocker | None = None,
        file_key: str | None = None,
    ) -> None:
        if not is_safe(apsw.sqlite_lib_version()):
            raise StoreVersionError(
                f"SQLite {apsw.sqlite_lib_version()} can corrupt a file that several processes "
                "write; install apsw-sqlite3mc 3.54 or newer."
            )
        self._location = location if location == _MEMORY else str(Path(location).absolute())
        self._errors = DriverErrors(self._location)
        self._patience = Patience(busy_timeout)
        self._closed = False
        self._sql = queries("sqlite")
        self._seen = OwnersSeen()
        self._reset()
        if location != _MEMORY:
            _refuse_place(Path(self._location), create=create)
        self._file_key = file_key
        self._unlocker = unlocker or Unlocker(self._location)
        self._unlocker.refuse_orphan(is_there=Path(self._location).exists())
        try:
            with self._right_file_key(), self._errors:
                migrate(self._writer(), self._location, self._unlocker.make)
                self._mark = to_mark(self._writer().execute(self._sql["mark"]), self._location)
            self._guard = Guard(self._unlocker.open(self._mark))
        except BaseException:
            self._let_go()
            raise
        self._anchoring = Anchoring(self._location, self.keys, is_on=self._location != _MEMORY)

    def _let_go(self) -> None:
        """Close a file that was refused; a log that somebody left beside it stays as it is."""
        log = Path(self._location + "-wal")
        if self._connection is not None:
            if log.exists() and log.stat().st_size:
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
            self._connection.close()

    def _reset(self) -> None:
        self._pid = os.getpid()
        self._connection: apsw.Connection | None = None
        self._readers: deque[apsw.Connection] = deque()
        self._queue: deque[_Ticket] = deque()
        self._lock = threading.RLock()

    @contextmanager
    def _right_file_key(self) -> Iterator[None]:
        try:
            yield
        except ForeignFileError as error:
            if self._file_key is None or not isinstance(error.__cause__, apsw.NotADBError):
                raise
            raise WrongKeyError(
                f"file_key is not that of {self._location}, or the file is not encrypted as a "
                "whole. Nothing was touched."
            ) from error

    def _check(self) -> None:
        self._notice_fork()
        if self._closed:
            raise StoreClosedError("The store is closed; open it again.")

    def _notice_fork(self) -> None:
        """Leave the parent's connections alone in a forked child; a store in memory ends there."""
        if self._pid != os.getpid():
            _abandoned.append((self._connection, self._readers))
            self._reset()
            self._closed = self._closed or self._location == _MEMORY

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(self._location)
        try:
            connection.set_busy_handler(self._patience)
            if self._file_key is not None:
                connection.pragma("hexkey", self._file_key.encode().hex())
            connection.pragma("page_size", _PAGE_SIZE)
            connection.pragma("foreign_keys", True)
            connection.pragma("secure_delete", True)
            connection.pragma("synchronous", "full")
        except BaseException:
            connection.close()
            raise
        return connection

    def _writer(self) -> apsw.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    @property
    def keys(self) -> Keys:
        """The keys derived from the store's own random bytes."""
        return self._guard.keys

    @property
    def unlocker(self) -> Unlocker:
        """What found the store's key."""
        return self._unlocker

    @contextmanager
    def snapshot(self, owners: Sequence[Owner] = (), *, brief: bool = False) -> Iterator[Snapshot]:
        """Open a consistent view of the file as it is now.

        A brief one borrows the writer's connection while nobody writes: unlike a reader's, its
        cache still holds what this process wrote last.
        """
        self._check()
        with self._reader(brief=brief) as connection, self._errors:
            view = SeeingSnapshot(
                connection, self._sql, self._guard, self._seen, owners, brief=brief
            )
            try:
                yield view
            finally:
                view.end()

    @contextmanager
    def _reader(self, *, brief: bool = False) -> Iterator[apsw.Connection]:
        in_memory, lock = self._location == _MEMORY, self._lock
        if (in_memory or brief) and lock.acquire(blocking=in_memory):
            try:
                self._check()
                yield self._writer()
            finally:
                lock.release()
            return
        readers = self._readers
        try:
            connection = readers.pop()
        except IndexError:
            with self._errors:
                connection = self._connect()
        try:
            yield connection
        finally:
            if self._closed:
                connection.close()
            else:
                readers.append(connection)

    def write(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction shared with whoever else is waiting to write."""
        self._check()
        ticket = _Ticket(work)
        self._queue.append(ticket)
        with self._lock:
            if not ticket.finished:
                self._commit_queue()
        if ticket.error is not None:
            raise ticket.error
        result: T = ticket.result
        return result

    def _commit_queue(self) -> None:
        tickets = [self._queue.popleft() for _ in range(len(self._queue))]
        try:
            with self._errors:
                self._check()
                self._run_all(tickets)
        except StoreError as error:
            _fail(tickets, error)
        except BaseException:
            _fail(tickets, StoreError("The writer was interrupted; nothing was written. Retry."))
            raise
        finally:
            for ticket in tickets:
                ticket.finished = True

    def _run_all(self, tickets: list[_Ticket]) -> None:
        connection = self._writer()
        connection.execute("BEGIN IMMEDIATE")
        try:
            alone = len(tickets) == 1
            done = [self._run_one(connection, ticket, alone=alone) for ticket in tickets]
            if connection.in_transaction:
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
        moved = {place for transaction in done for place in transaction.note_committed()}
        self._anchoring.has_committed(moved, self._head)

    def _run_one(
        self, connection: apsw.Connection, ticket: _Ticket, *, alone: bool
    ) -> SeeingTransaction:
        """Run one caller's work; undo it, and nothing else, when it fails."""
        if not alone:
            connection.execute("SAVEPOINT caller")
        transaction = SeeingTransaction(connection, self._sql, self._guard, self._seen)
        try:
            ticket.result = ticket.work(transaction)
            transaction.settle()
        except Exception as error:
            ticket.error = error
            if isinstance(error, apsw.Error):
                ticket.error = told(error, self._location)
                ticket.error.__cause__ = error
            if not connection.in_transaction:
                raise
            connection.execute("ROLLBACK" if alone else "ROLLBACK TO caller")
        if not alone:
            connection.execute("RELEASE caller")
        return transaction

    def _head(self, tenant_id: str, owner_no: int) -> Head | None:
        return RowSnapshot(self._writer(), self._sql, self._guard).head(tenant_id, owner_no)

    def anchor(self, *, renew: bool = False) -> None:
        """Note the present state of every owner outside the database."""
        self._check()
        if self._location == _MEMORY:
            return
        with self._lock, self._errors:
            heads = RowSnapshot(self._writer(), self._sql, self._guard).heads()
            self._anchoring.write(heads, renew=renew)
            self._writer().execute(self._sql["mark_anchored"])

    def anchored(self, path: Path | None = None) -> Anchored | None:
        """Return what the anchor says; None for a store that has none."""
        return self._anchoring.read(path)

    def reseal(self, owner: OwnerState) -> bool:
        """Return False: without sealing there is no key to replace."""
        del owner
        return False

    def rotate_master(self, master: MasterKey | None) -> int:
        """Refuse: a store that is not sealed has no master key."""
        return self._unlocker.rotate(master)

    def compact(self) -> None:
        """Rewrite the file and empty its log, so that no deleted byte is left in either."""
        self._check()
        with self._lock, self._errors:
            connection = self._writer()
            connection.execute("VACUUM")
            if self._location != _MEMORY:
                busy, *_ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()[0]
                if busy:
                    raise StoreBusyError(
                        f"A reader of {self._location} keeps its log alive; compact again later."
                    )

    def shred(self, owner: OwnerState) -> bool:
        """Return False: without sealing there is no key to destroy."""
        del owner
        return False

    def info(self) -> StoreInfo:
        """Return the engine's version, the file and its size."""
        self._check()
        files = [Path(self._location + suffix) for suffix in ("", "-wal")]
        with self._reader() as connection, self._errors:
            version = schema_version(connection)
        return StoreInfo(
            engine=f"SQLite {apsw.sqlite_lib_version()}",
            location=self._location,
            schema_version=version,
            bytes=sum(file.stat().st_size for file in files if file.exists()),
            sealed=self._mark.sealed,
            integrity=self._anchoring.integrity,
        )

    def close(self) -> None:
        """Close every connection; the last one folds the log into the file."""
        self._notice_fork()
        with self._lock:
            if not self._closed and self._connection is not None:
                self._anchoring.note(self._head)
            self._closed = True
            for connection in (*self._readers, self._connection):
                if connection is not None:
                    connection.close()
            self._readers.clear()
            self._connection = None


_abandoned: list[object] = []


def _refuse_place(path: Path, *, create: bool) -> None:
    """Say what is in the way of a file, before SQLite can only say that it cannot open it."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} does not exist; make it first.")
    if not create and not path.exists():
        raise StoreError(f"{path} does not exist; make it with `muniment init`.")
