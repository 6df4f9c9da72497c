"""How threads are named, found, made and changed inside a transaction."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from muniment.clock import from_instant, to_instant
from muniment.errors import InvalidInputError, TombstonedError, VersionConflictError
from muniment.keys import Keys
from muniment.ports import OwnerState, Snapshot, ThreadRow, Transaction
from muniment.records import JSONValue, canonical_json
from muniment.rules.statement import MAX_NAME, checked_text
from muniment.services.fence import thread_digest, thread_name
from muniment.threads import ThreadInfo

if TYPE_CHECKING:
    from muniment.clock import Clock
    from muniment.scope import Scope
    from muniment.services.gate import Gate

T = TypeVar("T")
ACTOR = "application"
LONGEST = 16 * 1024 * 1024
"""Most bytes of one content."""

EVERY = 2**62
SORTS = ("event", "checkpoint", "write", "step", "effect", "summary", "item")
EMPTY = b"{}"


@dataclass(frozen=True, slots=True)
class ThreadKey:
    """Which thread: the scope, its type and the application's id."""

    owner: Scope
    type: str
    thread_id: str


def thread_key(owner: Scope, sort: str, thread_id: str) -> ThreadKey:
    """Return the key of a thread; its id is compared character by character.

    Raises:
        InvalidInputError: A part is blank, too long or no string.
    """
    checked_text("type", sort, MAX_NAME)
    checked_text("thread_id", thread_id, LONGEST_ID)
    return ThreadKey(owner, sort, thread_id)


LONGEST_ID = 1024


def checked_id(name: str, value: object, *, empty: bool = False) -> str:
    """Return an id as it was given.

    Raises:
        InvalidInputError: It is no string, too long, blank, or cannot be stored.
    """
    if not (empty and value == ""):
        checked_text(name, value, LONGEST_ID)
    return str(value)


def packed(name: str, value: JSONValue) -> bytes:
    """Return a JSON value as bytes, its members in the order given.

    Raises:
        InvalidInputError: It is not JSON, or too large.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(
            f"{name} must be a JSON value: mappings with string keys, lists, strings, finite "
            "numbers, true, false, null."
        ) from error
    raw = text.encode("utf-8", "surrogatepass")
    if len(raw) > LONGEST:
        raise InvalidInputError(f"{name} has {len(raw)} bytes; at most {LONGEST} are allowed.")
    return raw


def unpacked(raw: bytes) -> JSONValue:
    """Return the JSON value of bytes that `packed` made."""
    value: JSONValue = json.loads(raw)
    return value


def is_same(stored: bytes, given: bytes) -> bool:
    """Return whether two JSON values are equal, whatever the order of their members."""
    return stored == given or canonical_json(unpacked(stored)) == canonical_json(unpacked(given))


def unpacked_object(raw: bytes) -> dict[str, JSONValue]:
    """Return the JSON object of bytes that `packed` made."""
    value: dict[str, JSONValue] = json.loads(raw)
    return value


def mark_of(keys: Keys, key: ThreadKey) -> bytes:
    """Return the keyed digest by which a tombstone knows a thread."""
    return thread_digest(keys, key.owner, key.type, key.thread_id)


def audit_id(keys: Keys, key: ThreadKey) -> str:
    """Return how audit and receipts name a thread: nothing that the caller's id says."""
    return thread_name(keys, key.owner, key.type, key.thread_id)


def is_over(row: ThreadRow, now: int) -> bool:
    """Return whether a thread's time is over."""
    return row.expires_at is not None and row.expires_at <= now


def info_of(row: ThreadRow) -> ThreadInfo:
    """Return what a caller sees of a thread."""
    state = unpacked_object(row.content).get("state", {})
    assert isinstance(state, dict)
    return ThreadInfo(
        thread_id=row.name,
        type=row.type,
        version=row.version,
        last_number=row.last_number,
        state=state,
        created_at=from_instant(row.created_at),
        changed_at=from_instant(row.changed_at),
        expires_at=None if row.expires_at is None else from_instant(row.expires_at),
    )


def with_part(row: ThreadRow, part: str, value: JSONValue) -> ThreadRow:
    """Return a thread with another value of one part of its content."""
    return replace(row, content=packed(part, {**unpacked_object(row.content), part: value}))


def end_of(now: int, idle: int | None, expires_at: int | None) -> int | None:
    """Return when something's time is over: its idle time cannot outlive its expiry."""
    ends = [at for at in (expires_at, None if idle is None else now + idle) if at is not None]
    return min(ends, default=None)


def finite(name: str, vector: object) -> list[float]:
    """Return a vector of finite numbers.

    Raises:
        InvalidInputError: It is none.
    """
    try:
        numbers = [float(number) for number in vector]  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        numbers = []
    if not numbers or not all(math.isfinite(number) for number in numbers):
        raise InvalidInputError(f"{name} must be a list of finite numbers.")
    return numbers


class Places:
    """Finds and changes threads. What it changes is audited in the same transaction."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._store = gate.store
        self._clock: Clock = gate.clock

    def found(self, view: Snapshot, key: ThreadKey) -> tuple[OwnerState, ThreadRow] | None:
        """Return a thread whose time is not over, with its owner, or None."""
        state = view.owner(key.owner)
        row = None if state is None else view.thread(state, key.type, key.thread_id)
        if state is None or row is None or is_over(row, self._clock.now()):
            return None
        return state, row

    def change(
        self,
        key: ThreadKey,
        work: Callable[[Transaction, OwnerState, ThreadRow], tuple[T, ThreadRow | None]],
        *,
        expected_version: int | None = None,
        anew: bool = False,
    ) -> T:
        """Run work on a thread, which is made when it is new, in a write transaction.

        Args:
            key: The thread.
            work: Returns its result, and the thread as it is to be stored or None for no change.
            expected_version: The version that the caller saw, 0 for none; None for any.
            anew: Whether a forgotten thread may be begun anew.

        Raises:
            TombstonedError: The thread was forgotten.
            VersionConflictError: It has another version.
            StoreError: The database failed; nothing was written.
        """

        def inside(tx: Transaction) -> T:
            now = self._clock.now()
            state = tx.ensure_owner(key.owner, now)
            row = self._opened(tx, state, key, now, anew=anew)
            if expected_version is not None and row.version != expected_version:
                raise VersionConflictError(
                    f"The thread has version {row.version}, not {expected_version}; read it again "
                    "and decide anew.",
                    version=row.version,
                )
            result, changed = work(tx, state, row)
            if changed is not None:
                tx.put_thread(state, replace(changed, version=row.version + 1, changed_at=now))
            return result

        return self._store.write(inside)

    def _opened(
        self, tx: Transaction, state: OwnerState, key: ThreadKey, now: int, *, anew: bool
    ) -> ThreadRow:
        row = tx.thread(state, key.type, key.thread_id)
        if row is not None and is_over(row, now):
            for sort in SORTS:
                tx.drop_entries(state, [one.seq for one in tx.entries(state, row.seq, sort)])
            row = replace(row, content=EMPTY, expires_at=None)
        if row is None:
            if not anew and tx.buried_source(state, mark_of(self._store.keys, key)) is not None:
                raise TombstonedError(
                    "This thread was forgotten; use another thread_id, or create it with anew=True."
                )
            fresh = ThreadRow(0, key.type, key.thread_id, 0, 0, EMPTY, now, now, None)
            row = replace(fresh, seq=tx.put_thread(state, fresh))
        return row

    def audit(
        self,
        tx: Transaction,
        state: OwnerState,
        key: ThreadKey,
        action: str,
        reason: str | None = None,
    ) -> None:
        """Write down what was done to a thread; never what it holds."""
        tx.append_audit(
            state,
            at=self._clock.now(),
            actor=ACTOR,
            action=action,
            memory_ids=[audit_id(self._store.keys, key)],
            reason=reason,
        )


def checked_state(state: Mapping[str, JSONValue]) -> dict[str, JSONValue]:
    """Return a thread's state.

    Raises:
        InvalidInputError: It is no mapping with string keys.
    """
    if not isinstance(state, Mapping):
        raise InvalidInputError("state must be a mapping with string keys.")
    return dict(state)


def checked_expiry(expires_at: object) -> int | None:
    """Return an expiry as an instant.

    Raises:
        InvalidInputError: It is no aware time.
    """
    return None if expires_at is None else to_instant("expires_at", expires_at)  # type: ignore[arg-type]
