"""Statements over libpq's own pipeline: sent together in one packet, their rows awaited once."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import psycopg
from psycopg import errors
from psycopg.adapt import Transformer
from psycopg.generators import fetch_many
from psycopg.pq import ExecStatus, Format
from psycopg.waiting import Ready, Wait

from muniment.storage.ledger import Rows

if TYPE_CHECKING:
    from psycopg.abc import PQGen
    from psycopg.pq.abc import PGconn, PGresult
    from psycopg.sql import Composed

Step: TypeAlias = "tuple[str | Composed, Mapping[str, Any] | None]"
_GAP = re.compile(r"%\((\w+)\)s")
_BIGINT, _BYTEA = 20, 17


class _Call(NamedTuple):
    """One message to the server, and the statement that it prepares, if it is none that runs."""

    send: Callable[[PGconn], None]
    prepares: str | None = None


class _Given(NamedTuple):
    """A value as it is sent: its bytes, its type where that is not left open, and its format."""

    data: bytes | None
    kind: int = 0
    form: int = Format.TEXT


@cache
def _numbered(text: str) -> tuple[bytes, tuple[str, ...]]:
    """Return a statement with numbered gaps, and which value belongs into each."""
    names = tuple(dict.fromkeys(_GAP.findall(text)))
    numbers = {name: f"${at}" for at, name in enumerate(names, start=1)}
    body = _GAP.sub(lambda gap: numbers[gap[1]], text)
    return body.replace("%%", "%").encode(), names


class Wired(psycopg.Connection[Any]):
    """A connection that sends the statements of a round trip together.

    The driver's own pipeline sends each of them by itself, and each wakes the server. A statement
    of the files is prepared when it is first sent.
    """

    def __init__(self, pgconn: PGconn) -> None:
        super().__init__(pgconn)
        self._names: dict[str, bytes] = {}
        self._made = 0
        self._loading = Transformer(self)

    def sent(self, steps: Sequence[Step]) -> list[Rows]:
        """Send statements at once, wait once, and return the rows of each.

        Raises:
            psycopg.Error: One failed; those after it did nothing.
        """
        calls = [call for step in steps for call in self._calls(*step)]
        with self.lock:
            self.pgconn.enter_pipeline_mode()
            for call in calls:
                call.send(self.pgconn)
            self.pgconn.pipeline_sync()
            results = self.wait(_answers(self.pgconn, len(calls) + 1))
            self.pgconn.exit_pipeline_mode()
        return self._read(calls, results)

    def _calls(self, text: str | Composed, values: Mapping[str, Any] | None) -> list[_Call]:
        """Return what is to be sent for a statement."""
        if not isinstance(text, str) or values is None:
            plain = text.encode() if isinstance(text, str) else text.as_bytes(self)
            return [_Call(lambda pgconn: pgconn.send_query_params(plain, None, result_format=1))]
        body, gaps = _numbered(text)
        given = [_dumped(values[gap]) for gap in gaps]
        name, calls = self._names.get(text), []
        if name is None:
            self._made += 1
            self._names[text] = name = b"m%d" % self._made
            kinds = [one.kind for one in given]
            calls.append(_Call(lambda pgconn: pgconn.send_prepare(name, body, kinds), text))
        data, forms = [one.data for one in given], [one.form for one in given]
        calls.append(
            _Call(lambda pgconn: pgconn.send_query_prepared(name, data, forms, result_format=1))
        )
        return calls

    def _read(self, calls: Sequence[_Call], results: Sequence[Sequence[PGresult]]) -> list[Rows]:
        rows: list[Rows] = []
        failed: psycopg.Error | None = None
        for call, (result, *_) in zip(calls, results, strict=False):
            if failed is None and result.status == ExecStatus.FATAL_ERROR:
                failed = errors.error_from_result(result, self.info.encoding)
            if call.prepares is None:
                rows.append(self._rows(result))
            elif failed is not None:
                del self._names[call.prepares]
        if failed is not None:
            raise failed
        return rows

    def _rows(self, result: PGresult) -> Rows:
        if result.status != ExecStatus.TUPLES_OK:
            return []
        self._loading.set_pgresult(result)
        return self._loading.load_rows(0, result.ntuples, tuple)


def _answers(pgconn: PGconn, count: int) -> PQGen[list[list[PGresult]]]:
    """Send what is queued and gather what comes back: of each statement, and of the end."""
    while pgconn.flush():
        if (yield Wait.RW) & Ready.R:
            pgconn.consume_input()
    found: list[list[PGresult]] = []
    while len(found) < count:
        found.append((yield from fetch_many(pgconn)))
    return found


def _dumped(value: object) -> _Given:
    if value is None:
        return _Given(None)
    if isinstance(value, str):
        if "\0" in value:
            raise psycopg.DataError("PostgreSQL's text cannot hold a NUL.")
        return _Given(value.encode())
    if isinstance(value, int):
        return _Given(b"%d" % value, _BIGINT)
    assert isinstance(value, bytes), f"no statement takes a {type(value).__name__}"
    return _Given(value, _BYTEA, Format.BINARY)
