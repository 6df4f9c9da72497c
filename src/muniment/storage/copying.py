"""Moving a store to another database, SQLite or PostgreSQL, row by row and verified."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muniment.errors import InvalidInputError, StoreError
from muniment.storage import Postgres, open_store, open_twin
from muniment.storage.copy_view import MODELS, copied_tables
from muniment.storage.sealed import SealedStore
from muniment.storage.views import RowSnapshot, RowTransaction

if TYPE_CHECKING:
    from muniment.ports import Head, MasterKey, Snapshot, Store, Transaction

Progress = Callable[[int, int], None]
_PASSES = 8
_FLAWS = {"owner_edited", "row_edited", "rows_missing_or_added"}
"""What a copy of rows could have done; audit chains were compared and need no key of a seal."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Copied:
    """What a copy did.

    Attributes:
        owners: How many scopes and spaces the source has.
        moved: How many of them were copied now; the others were there already.
        rows: How many rows the target holds of all of them.
        digest: One hash of every row, the same for the source and the target.
    """

    owners: int
    moved: int
    rows: int
    digest: str


def copy_store(
    source: str | Path | Postgres,
    target: str | Path | Postgres,
    *,
    master: MasterKey | None = None,
    owner: str | None = None,
    progress: Progress | None = None,
) -> Copied:
    """Copy a store to another database and prove that both hold the same.

    Every row goes over as it is, with its digest, so that the target has the same keys, ids, audit
    chains and receipts. A copy that was interrupted is carried on by asking again. What is written
    to the source meanwhile is copied too, as long as there comes a moment at which nothing is.

    Args:
        source: Where the store is.
        target: Where it goes: a new database, or one that this store was copied to before.
        master: What guards the source and then the target; None for key files, which are copied.
        owner: URL of the role that owns a PostgreSQL target, to make a store there.
        progress: Called with how many owners are done and how many there are.

    Raises:
        InvalidInputError: The target holds another store, or more than the source.
        StoreError: A database failed, or the copy differs; asking again carries on.
    """
    with ExitStack() as stack:
        here = open_store(source, create=False, master=master)
        stack.callback(here.close)
        there = open_twin(here, target, master=master, owner=owner)
        stack.callback(there.close)
        raw = here.inner if isinstance(here, SealedStore) else here
        moved: set[tuple[str, int]] = set()
        for _ in range(_PASSES):
            again = _pass(raw, there, progress)
            moved |= again
            if not again:
                return _verified(raw, there, len(moved))
    raise StoreError("The source is written to without a pause; stop its writers and copy again.")


def _pass(source: Store, target: Store, progress: Progress | None) -> set[tuple[str, int]]:
    """Copy the owners that differ; return their tenants and numbers."""
    with source.snapshot() as view:
        heads, models = view.heads(), _rows(view, MODELS, {})
    with target.snapshot() as view:
        held = {(one.tenant_id, one.owner_no): one for one in view.heads()}
    if not held.keys() <= {(one.tenant_id, one.owner_no) for one in heads}:
        raise InvalidInputError("The target holds scopes that the source does not have.")
    target.write(partial(_put, table=MODELS, rows=models))
    moved = set()
    for done, head in enumerate(heads, start=1):
        place = (head.tenant_id, head.owner_no)
        if held.get(place) != head:
            rows = _everything(source, head)
            target.write(partial(_replace, head=head, rows=rows))
            moved.add(place)
        if progress is not None:
            progress(done, len(heads))
    return moved


def _key(head: Head) -> dict[str, Any]:
    return {"tenant_id": head.tenant_id, "owner_no": head.owner_no}


def _rows(view: Snapshot, table: str, key: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    assert isinstance(view, RowSnapshot)
    return view.rows_of(table, key)


def _everything(store: Store, head: Head) -> dict[str, list[tuple[Any, ...]]]:
    with store.snapshot() as view:
        return {table: _rows(view, table, _key(head)) for table in copied_tables()}


def _put(tx: Transaction, *, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    assert isinstance(tx, RowTransaction)
    tx.put_rows(table, rows)


def _replace(tx: Transaction, *, head: Head, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
    """Put an owner's rows in the place of what an earlier pass left of them."""
    assert isinstance(tx, RowTransaction)
    for table in reversed(copied_tables()):
        tx.drop_rows(table, _key(head))
    for table in copied_tables():
        tx.put_rows(table, rows[table])


def _verified(source: Store, target: Store, moved: int) -> Copied:
    """Compare counts and hashes of every table of every owner, and check the target's digests."""
    total, count = blake2b(digest_size=16), 0
    with source.snapshot() as view:
        heads = view.heads()
    for head in heads:
        mine, theirs = _everything(source, head), _everything(target, head)
        for table in copied_tables():
            digest = _digest(table, mine[table])
            if len(mine[table]) != len(theirs[table]) or digest != _digest(table, theirs[table]):
                raise StoreError(f"The copy of {table} differs from the source; copy again.")
            total.update(digest)
            count += len(mine[table])
        with target.snapshot() as view:
            flaws = view.inspect(head, None).flaws
        if any(flaw.name in _FLAWS for flaw in flaws):
            raise StoreError("The copy does not hold what its digests say; verify the source.")
    target.anchor(renew=True)
    return Copied(len(heads), moved, count, total.hexdigest())


def _digest(table: str, rows: Sequence[Sequence[Any]]) -> bytes:
    found = blake2b(table.encode(), digest_size=16)
    for row in rows:
        said = [one.hex() if isinstance(one, bytes) else one for one in row]
        found.update(_encode(said).encode("utf-8", "surrogatepass"))
    return found.digest()
