"""What verification needs of a store: flaws that it saw, and states that were noted outside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from muniment.records import AuditEntry
from muniment.results import Flaw


@dataclass(frozen=True, slots=True)
class Head:
    """An owner's state as a digest: noted outside the database, it shows a return to an older one.

    Attributes:
        tenant_id: The tenant.
        owner_no: Its number inside the tenant.
        incarnation: Changes when the owner is erased or restored.
        version: Grows with each committed change of its records.
        last_seq: Grows with each record and candidate.
        audit_number: How many audit entries it has.
        audit_digest: The last link of its audit chain.
        state: Keyed digest of the owner's own row and all its rows.
    """

    tenant_id: str
    owner_no: int
    incarnation: bytes
    version: int
    last_seq: int
    audit_number: int
    audit_digest: bytes
    state: bytes


@dataclass(frozen=True, slots=True)
class Anchored:
    """What an anchor says.

    Attributes:
        is_there: Whether there is an anchor.
        is_genuine: Whether it is as it was written with the store's key.
        heads: The owners' states that it notes.
    """

    is_there: bool
    is_genuine: bool
    heads: tuple[Head, ...]


class Inspection(NamedTuple):
    """What a store found when it looked at every row of an owner."""

    rows: int
    entries: int
    flaws: tuple[Flaw, ...]


class SealedRow(NamedTuple):
    """The ciphertexts of one row, in the order of their columns.

    `table` is records (text, labels), words, vectors or candidates (statement, decision); `slot`
    is 0 but for vectors.
    """

    table: str
    seq: int
    slot: int
    parts: tuple[str | bytes | None, ...]


Reveal = Callable[[Head, AuditEntry], AuditEntry]
"""Opens what of an audit entry is sealed."""


class InspectionView(Protocol):
    """The part of a snapshot that verification reads."""

    def heads(self) -> list[Head]:
        """Return the state of every owner as it stands there, whether or not it is genuine."""
        ...

    def sealed_rows(
        self, tenant_id: str, owner_no: int, table: str, low: int, high: int
    ) -> list[SealedRow]:
        """Return what of a table's rows is sealed in a sealed store, with a seq in [low, high]."""
        ...

    def inspect(self, head: Head, noted: Head | None, reveal: Reveal | None = None) -> Inspection:
        """Check every row of an owner and its whole audit chain against the store's key.

        Args:
            head: The owner.
            noted: Its state as an anchor noted it, or None.
            reveal: Opens what of an audit entry is sealed; a wrapper's own affair.
        """
        ...
