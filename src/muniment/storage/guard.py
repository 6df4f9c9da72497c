"""Keyed digests of rows: what was not written with the store's key is seen when it is read."""

from __future__ import annotations

import hmac
import os
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from muniment.errors import TamperedError
from muniment.keys import Keys

MAC, BLOCKS = "mac", "blocks"
_NAMES = {
    "records": "memory_id",
    "candidates": "candidate_id",
    "tombstones": "memory_id",
    "deletions": "deletion_id",
    "receipts": "receipt_id",
    "imported_receipts": "receipt_id",
}
_RAW = (bytes, memoryview)
_LONG = 128
_SIZE = 32


def row_mac(key: bytes, table: str, row: Mapping[str, Any]) -> bytes:
    """Return the keyed BLAKE2b of a row, 16 bytes.

    It covers the table and every column that holds a value, by name, so that a later schema may
    add a column that may be empty. Columns are told apart by Python's ASCII form of strings, bytes
    and numbers, which no two different rows share; of long bytes it covers the BLAKE2b, and of a
    block the Poly1305, which is several times faster. A universal hash under a key of its own whose
    value nobody sees, inside a keyed one-way function, is as sound as the function (Carter and
    Wegman 1981; Shoup 1996), so that no nonce is needed.

    Args:
        key: The tenant's key for rows.
        table: Where the row lies.
        row: Its columns; `mac` is left out.
    """
    said: list[object] = [table]
    say = said.append
    for name, value in row.items():
        if value is not None and name != MAC:
            say(name)
            if isinstance(value, _RAW):
                say([_digest(key, table, value)] if len(value) > _LONG else bytes(value))
            else:
                say(value)
    return blake2b(ascii(said).encode("ascii"), key=key, digest_size=16, person=b"row").digest()


def _digest(key: bytes, table: str, value: bytes | memoryview) -> bytes:
    if table != BLOCKS:
        return blake2b(value).digest()
    from cryptography.hazmat.primitives.poly1305 import Poly1305

    return Poly1305.generate_tag(_block_key(key), value)


@lru_cache(maxsize=1024)
def _block_key(key: bytes) -> bytes:
    return blake2b(key=key, digest_size=32, person=b"block").digest()


def element(key: bytes, mac: bytes | None) -> int:
    """Return what one row adds to the digest of its owner's content; only the key reveals it."""
    if mac is None:
        return 0
    raw = blake2b(mac, key=key, digest_size=_SIZE, person=b"element").digest()
    return int.from_bytes(raw, "little")


def mask(key: bytes, total: int, *, nonce: bytes | None = None) -> bytes:
    """Return the sum of the elements of a set of rows as it may be stored.

    The rows' elements are added without carry and hidden behind a fresh mask, so that a store's
    older and newer states do not reveal them (MSet-XOR-Hash of Clarke, Devadas, van Dijk, Gassend
    and Suh, Asiacrypt 2003).
    """
    nonce = nonce or os.urandom(16)
    pad = blake2b(nonce, key=key, digest_size=_SIZE, person=b"mask").digest()
    return nonce + (total ^ int.from_bytes(pad, "little")).to_bytes(_SIZE, "little")


def unmask(key: bytes, stored: bytes | None) -> int:
    """Return the sum of elements behind a stored mask; 0 when nothing is stored."""
    if not stored:
        return 0
    total = int.from_bytes(stored[16:], "little")
    return total ^ int.from_bytes(mask(key, 0, nonce=stored[:16])[16:], "little")


class Guard:
    """Checks rows and computes their digests. Safe to use from several threads.

    Args:
        keys: The store's keys.
        columns: Each table's columns in order, as far as they are known; the others are asked for.
    """

    def __init__(self, keys: Keys, columns: Mapping[str, tuple[str, ...]] | None = None) -> None:
        self.keys = keys
        self.key: Callable[[str], bytes] = lru_cache(maxsize=1024)(keys.rows)
        self._columns = dict(columns or {})

    def named(
        self, table: str, row: Sequence[Any], columns: Callable[[str], Sequence[str]]
    ) -> dict[str, Any]:
        """Return a whole row by the names of its columns.

        Args:
            table: Where the row lies.
            row: All its columns in the table's order.
            columns: Asks the database for a table's columns; called once a table.
        """
        return dict(zip(self.columns(table, columns), row, strict=True))

    def columns(self, table: str, columns: Callable[[str], Sequence[str]]) -> tuple[str, ...]:
        """Return the columns of a table in order.

        Args:
            table: Where rows lie.
            columns: Asks the database for a table's columns; called once a table.
        """
        known = self._columns.get(table)
        if known is None:
            known = self._columns[table] = tuple(columns(table))
        return known

    def mac(self, table: str, row: Mapping[str, Any]) -> bytes:
        """Return the digest that a row should have."""
        return row_mac(self.key(row["tenant_id"]), table, row)

    def holds(self, table: str, row: Mapping[str, Any]) -> bool:
        """Return whether a row is as it was written with the store's key."""
        key = self.key(row["tenant_id"])
        return hmac.compare_digest(row_mac(key, table, row), row[MAC] or b"")

    def check(self, table: str, row: Mapping[str, Any]) -> None:
        """Refuse a row that was not written with the store's key.

        Raises:
            TamperedError: It was not. Names the row.
        """
        if not self.holds(table, row):
            item = str(row.get(_NAMES.get(table, ""), "") or f"number {row['owner_no']}")
            raise TamperedError(
                f"{item} in {table} was changed behind muniment's back; run a verification and "
                "restore it from a backup.",
                table=table,
                id=item,
            )
