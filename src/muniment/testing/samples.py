"""What the contract's tests write and how they look at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from muniment.clock import new_id, to_instant
from muniment.ports import EmbeddingModel, NewRecord, NewTombstone, OwnerState, Store, Transaction
from muniment.records import AuditEntry, Authority, EmbeddingState, Record, WritePath
from muniment.scope import Scope
from muniment.segment.rows import IndexChanges
from muniment.storage.base import audit_digest

SCOPE = Scope("acme", "user_42", "helper")
NOW = to_instant("now", "2030-01-01T00:00:00Z")
CHAIN_START = b""


def sample(**changes: object) -> NewRecord:
    """Return a record to insert, with new ids and what the caller changes."""
    memory_id = new_id("mem")
    plain: dict[str, Any] = {
        "memory_id": memory_id,
        "kind": "preference",
        "text": "Prefers the aisle.",
        "field": None,
        "field_key": None,
        "value": None,
        "source_id": f"source:{memory_id}",
        "path": WritePath.REMEMBER,
        "payload_digest": b"payload",
        "authority": Authority.EXPLICIT,
        "actor": "subject",
        "approved_by": None,
        "evidence": (),
        "reference": None,
        "follows": None,
        "created_at": NOW,
        "valid_from": None,
        "valid_until": None,
        "expires_at": None,
        "metadata": {},
        "supersedes": None,
        "words": b"\x01\x02\x03\x04\x01",
        "vector": None,
        "embedding": EmbeddingState.NONE,
    }
    plain.update(changes)
    return NewRecord(**plain)


def grave(**changes: object) -> NewTombstone:
    """Return a tombstone to bury, with a new id and what the caller changes."""
    plain: dict[str, Any] = {
        "memory_id": new_id("mem"),
        "source_digest": b"source",
        "value_digest": b"value",
        "reason": "forgotten",
        "created_at": NOW,
    }
    plain.update(changes)
    return NewTombstone(**plain)


def put(tx: Transaction, scope: Scope, *records: NewRecord) -> OwnerState:
    """Insert records under the scope's next version, each with an audit entry."""
    owner = tx.bump(tx.ensure_owner(scope, NOW))
    for record in records:
        tx.insert(owner, record)
        tx.append_audit(
            owner, at=NOW, actor="subject", action="remember", memory_ids=[record.memory_id]
        )
    return owner


def stored(store: Store, *records: NewRecord, scope: Scope = SCOPE) -> OwnerState:
    """Insert records in one transaction and return the scope's state."""
    return store.write(lambda tx: put(tx, scope, *records))


def replace(store: Store, old: str, new: NewRecord, scope: Scope = SCOPE) -> OwnerState:
    """Supersede a record by another one and return the scope's state."""

    def work(tx: Transaction) -> OwnerState:
        owner = tx.bump(tx.ensure_owner(scope, NOW))
        tx.supersede(owner, old, new.memory_id, NOW)
        tx.insert(owner, new)
        return owner

    return store.write(work)


def removed(store: Store, memory_id: str, scope: Scope = SCOPE) -> OwnerState:
    """Remove a record and return the scope's state."""

    def work(tx: Transaction) -> OwnerState:
        owner = tx.bump(tx.ensure_owner(scope, NOW))
        record = tx.record(owner, memory_id, NOW)
        assert record is not None
        tx.remove(owner, record)
        return owner

    return store.write(work)


def slot_of(store: Store, model: EmbeddingModel) -> int:
    """Return the slot of a model, which is made when it is new."""
    return store.write(lambda tx: tx.ensure_slot(model))


def state(store: Store, scope: Scope = SCOPE) -> OwnerState | None:
    """Return the scope's state as a new snapshot sees it."""
    with store.snapshot() as view:
        return view.owner(scope)


def everything(store: Store, scope: Scope = SCOPE, now: int = NOW) -> list[Record]:
    """Return all records of a scope, oldest first."""
    with store.snapshot() as view:
        owner = view.owner(scope)
        return [] if owner is None else view.page(owner, 2**63 - 1, 10_000, now)[::-1]


def found(store: Store, memory_id: str, scope: Scope = SCOPE, now: int = NOW) -> Record | None:
    """Return one record as a new snapshot sees it."""
    with store.snapshot() as view:
        owner = view.owner(scope)
        return None if owner is None else view.record(owner, memory_id, now)


def changes(store: Store, since: int, slot: int | None = None) -> IndexChanges:
    """Return what changed in the sample scope after a version."""
    with store.snapshot() as view:
        owner = view.owner(SCOPE)
        assert owner is not None
        return view.index_changes(owner, since, slot)


def chain_holds(store: Store, entries: Sequence[AuditEntry], scope: Scope = SCOPE) -> bool:
    """Return whether audit entries are the scope's whole chain, recomputed link by link."""
    owner = state(store, scope)
    assert owner is not None
    previous = CHAIN_START
    for number, entry in enumerate(entries, start=1):
        previous = link(store, owner, previous, entry)
        if entry.number != number or entry.digest != previous.hex():
            return False
    return True


def link(store: Store, owner: OwnerState, previous: bytes, entry: AuditEntry) -> bytes:
    """Return the digest that an entry should have after another one's."""
    return audit_digest(
        store.keys.audit(owner.owner),
        previous,
        tenant_id=owner.owner.tenant_id,
        owner_no=owner.owner_no,
        number=entry.number,
        at=to_instant("at", entry.at),
        actor=entry.actor,
        action=entry.action,
        memory_ids=entry.memory_ids,
        reason=entry.reason,
    )


@contextmanager
def raises(kind: type[BaseException]) -> Iterator[None]:
    """Fail unless the body raises an error of this kind."""
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was expected, and nothing was raised.")
