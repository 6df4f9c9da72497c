"""What filters look at, kept open for the scopes asked last, so that it is not opened each time.

When a scope has changed, only what is sealed otherwise than before is opened again.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from threading import Lock
from typing import NamedTuple, TypeAlias

from muniment.ports import OwnerState
from muniment.rules.filters import Facts

MOST_ROWS = 100_000

_DIGEST = 16

Rows: TypeAlias = list[tuple[int, Facts]]


class Opened(NamedTuple):
    """What was opened of one row.

    Attributes:
        print: `print_of` its ciphertext.
        facts: What filters look at.
    """

    print: bytes
    facts: Facts


def print_of(sealed: str) -> bytes:
    """Return a digest by which a ciphertext is known again."""
    return blake2b(sealed.encode(), digest_size=_DIGEST).digest()


class OpenFacts:
    """Facts by owner, each at one version of it. Safe to use from several threads.

    Args:
        most: Most rows to keep over all owners.
    """

    def __init__(self, most: int = MOST_ROWS) -> None:
        self._most = most
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, int, bytes], tuple[int, Rows, list[bytes]]]
        self._kept = OrderedDict()

    def get(self, owner: OwnerState) -> Rows | None:
        """Return an owner's facts at exactly its version, or None."""
        with self._lock:
            version, rows, _ = self._kept.get(_key(owner), (None, None, None))
            if version != owner.version:
                return None
            self._kept.move_to_end(_key(owner))
            return rows

    def before(self, owner: OwnerState) -> Mapping[int, Opened]:
        """Return by seq what was opened of an owner, at whatever version."""
        with self._lock:
            _, rows, prints = self._kept.get(_key(owner), (0, [], []))
        return {row[0]: Opened(one, row[1]) for row, one in zip(rows, prints, strict=True)}

    def put(self, owner: OwnerState, rows: Rows, prints: list[bytes]) -> None:
        """Keep an owner's facts, with the prints of their ciphertexts, instead of earlier ones."""
        with self._lock:
            self._kept.pop(_key(owner), None)
            self._kept[_key(owner)] = owner.version, rows, prints
            while sum(len(rows) for _, rows, _ in self._kept.values()) > self._most:
                self._kept.popitem(last=False)

    def clear(self) -> None:
        """Keep nothing: keys were destroyed or replaced."""
        with self._lock:
            self._kept.clear()


def _key(owner: OwnerState) -> tuple[str, int, bytes]:
    return owner.owner.tenant_id, owner.owner_no, owner.incarnation
