"""One transaction on one connection: it begins with the first statement and tells its reach."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from psycopg.pq import TransactionStatus

from muniment.errors import StoreError
from muniment.storage.ledger import Rows
from muniment.storage.pg_reach import Reach, reach_statement
from muniment.storage.pg_statements import Statement, Wide, own_statements, statements

if TYPE_CHECKING:
    from muniment.storage.pg_pool import Pool
    from muniment.storage.pg_replicas import Replicas
    from muniment.storage.pg_wire import Step, Wired

_MOST_WAITING = 500
READING = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"

Call: TypeAlias = tuple[Statement, Mapping[str, Any]]
Place: TypeAlias = tuple[str, int]


class Given:
    """The rows that a statement gave, all of them here."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    def fetchall(self) -> Rows:
        """Return all of them."""
        return self._rows

    def fetchone(self) -> tuple[Any, ...] | None:
        """Return the first one, or None."""
        return self._rows[0] if self._rows else None

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        """Go through them."""
        return iter(self._rows)


class Transacting(Protocol):
    """The `Connection` of a view: a transaction that is begun, committed and ended."""

    def execute(self, statement: str, values: Mapping[str, Any], /) -> Given:
        """Run a statement of the files with its named values."""
        ...

    def named(self, statement: str) -> Statement:
        """Return what is known of a statement of the files."""
        ...

    def note_owner(self, owner: Place, row: tuple[Any, ...]) -> None:
        """Note an owner's own row: a replica that shows the same one may give what it covers."""
        ...

    def end_with_next(self) -> None:
        """Let the transaction end in the next round trip."""
        ...

    def together(self, calls: Sequence[Call]) -> list[Rows]:
        """Run several statements in one round trip and return the rows of each."""
        ...

    def commit(self) -> None:
        """Send what waits and make everything durable.

        Raises:
            StoreError: A statement failed and its error was not heeded.
        """
        ...

    def end(self) -> None:
        """Undo what was not committed and give the connection back."""
        ...


class Session:
    """The `Connection` of a view, over a connection that is lent for one transaction.

    What gives no rows waits and travels with the next statement that does. A session that writes
    locks an owner's row before it first reads anything of the owner, so that what it decides still
    holds when it writes.

    Args:
        pool: Lends the connection.
        begin: The statement that begins the transaction.
        replicas: Asked for what is large, by a transaction that reads; None to ask nobody.
    """

    def __init__(self, pool: Pool, begin: str, replicas: Replicas | None = None) -> None:
        self._pool = pool
        self._replicas = replicas if begin == READING else None
        self._owners: dict[Place, tuple[Any, ...]] = {}
        self._begin = begin
        self._writes = begin == WRITING
        self._connection: Wired | None = None
        self._reach = Reach()
        self._locked: set[object] = set()
        self._waiting: list[Step] = []
        self._known = statements()
        self._is_over = False
        self._has_numbered = False
        self._ends_next = False

    def execute(self, statement: str, values: Mapping[str, Any], /) -> Given:
        """Run a statement of the files with its named values."""
        known = self._known[statement]
        if known.name == "slot":
            return Given(self._slot(known, values))
        self._has_numbered |= known.name == "insert_slot"
        if known.gives_rows or not self._writes:
            return Given(self.together([(known, values)])[0])
        self._waiting += self._steps(known, values)
        if len(self._waiting) > _MOST_WAITING:
            self._own([])
        return Given([])

    def _slot(self, known: Statement, values: Mapping[str, Any]) -> Rows:
        """Return a model's number, asked for until a transaction before this one has given it."""
        model = tuple(values.values())
        rows = self._pool.slots.get(model)
        if rows is None:
            rows = self.together([(known, values)])[0]
            if rows and not self._has_numbered:
                self._pool.slots[model] = rows
        return rows

    def named(self, statement: str) -> Statement:
        """Return what is known of a statement of the files."""
        return self._known[statement]

    def note_owner(self, owner: Place, row: tuple[Any, ...]) -> None:
        """Note an owner's own row: a replica that shows the same one may give what it covers."""
        self._owners[owner] = row

    def end_with_next(self) -> None:
        """Let the transaction end in the next round trip."""
        self._ends_next = True

    def together(self, calls: Sequence[Call]) -> list[Rows]:
        """Run several statements in one round trip and return the rows of each."""
        copied = self._copied(calls)
        return self._own(calls) if copied is None else copied

    def _copied(self, calls: Sequence[Call]) -> list[Rows] | None:
        """Return what a replica gives that shows the same owners; None to read it here.

        One that shows another state, or fails, is not asked again by this transaction.
        """
        if self._replicas is None or not all(statement.is_copied for statement, _ in calls):
            return None
        places = {(values["tenant_id"], values["owner_no"]) for _, values in calls}
        if not places <= self._owners.keys():
            return None
        owners = {place: self._owners[place] for place in places}
        given = self._replicas.ask(type(self), owners, calls)
        if given is None:
            self._replicas = None
        return given

    def _own(self, calls: Sequence[Call]) -> list[Rows]:
        assert not self._is_over, "the snapshot has ended with its last read"
        steps, self._waiting = self._waiting, []
        wanted = []
        for statement, values in calls:
            steps += self._steps(statement, values)
            wanted.append(len(steps) - 1)
        if self._ends_next:
            steps.append(("COMMIT", None))
            self._is_over = True
        given = self._run(steps)
        return [given[at] for at in wanted]

    def _steps(self, statement: Statement, values: Mapping[str, Any]) -> Iterator[Step]:
        reach = self._reach.widened(statement, values)
        if reach != self._reach:
            self._reach = reach
            yield reach_statement(reach), None
        yield from self._admission(values)
        if self._writes:
            yield from self._locks(statement, values)
            statement = _locking(statement)
        yield statement.text, {name: _plain(value) for name, value in values.items()}

    def _admission(self, values: Mapping[str, Any]) -> Iterable[Step]:
        """Return what must hold before a statement may run; fails when it does not."""
        del values
        return ()

    def _locks(self, statement: Statement, values: Mapping[str, Any]) -> Iterator[Step]:
        """Yield the lock that a statement needs and the transaction does not have yet."""
        place: object = None
        if statement.name == "receipt_head":
            place, name = ("tenant", values["tenant_id"]), "lock_tenant"
        elif statement.wide is not Wide.NO:
            return
        elif "owner_no" in values:
            place, name = (values["tenant_id"], values["owner_no"]), "lock_owner"
        else:
            return
        if place not in self._locked:
            self._locked.add(place)
            yield own_statements()[name].text, values

    def _run(self, steps: Sequence[Step]) -> list[Rows]:
        if self._connection is None:
            return self._first(steps)
        return self._connection.sent(steps)

    def _first(self, steps: Sequence[Step]) -> list[Rows]:
        """Begin; on another connection when the one that was lent turns out to be dead."""
        opening: list[Step] = [(self._begin, None), (reach_statement(self._reach), None)]
        if self._reach != Reach():
            opening.pop()
        every = [*opening, *steps]
        given, self._connection = self._pool.first(lambda connection: connection.sent(every))
        return given[len(opening) :]

    def commit(self) -> None:
        """Send what waits and make everything durable.

        Raises:
            StoreError: A statement failed and its error was not heeded.
        """
        connection = self._connection
        if (
            connection is not None
            and connection.pgconn.transaction_status == TransactionStatus.INERROR
        ):
            raise StoreError("A statement of the transaction failed; nothing was written.")
        if connection is not None or self._waiting:
            self.end_with_next()
            self._own([])

    def end(self) -> None:
        """Undo what was not committed and give the connection back."""
        connection, self._connection = self._connection, None
        self._waiting = []
        if connection is not None:
            self._pool.take_back(connection)


def _locking(statement: Statement) -> Statement:
    """Return what looks for an owner as a statement that locks what it finds.

    Locked first and read afterwards, an owner that another transaction makes between the two would
    be read without a lock.
    """
    return own_statements()["owner"] if statement.name == "owner" else statement


def _plain(value: object) -> object:
    return int(value) if isinstance(value, bool) else value
