"""Receipts: what a deletion found, removed and read back, in a chain that a program checks."""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import blake2b
from typing import Any

from muniment.clock import from_instant
from muniment.keys import Keys, digest
from muniment.ports import Deletion, ReceiptLink, Snapshot, Transaction
from muniment.records import JSONValue, canonical_json
from muniment.results import Receipt, Surface
from muniment.rules.deletion import SURFACES, Step, Target
from muniment.scope import Space, SpaceType

LISTED = 1000
"""Most records that a receipt names one by one."""

_COMPACTION = (
    "Freed pages of the database and its log may hold old bytes until the store is compacted; "
    "`muniment maintain run` does that, and so does waiting."
)
_CACHES = (
    "Another process may hold the records' packed words in memory until its next recall in this "
    "scope; it will not serve them."
)
_COPIES = "Copies of the database that were made before, such as backups, are not reached."
_SHREDDED = "Copies of the database that were made before can no longer be read: the key is gone."
_NAMES = "The names of the scope stay, for its tombstones and its audit trail."
_VERSIONS = "Other versions of the statement remain in its history."


def subject_of(keys: Keys, tenant_id: str, target: Target, *parts: str) -> str:
    """Return the keyed hash by which a receipt names whose memory was forgotten."""
    return digest(_key(keys, tenant_id), "subject", target.value, *parts).hex()


def _key(keys: Keys, tenant_id: str) -> bytes:
    return keys.audit(Space(tenant_id, SpaceType.ORGANISATION, tenant_id))


def counted(found: Mapping[str, int]) -> tuple[Surface, ...]:
    """Return surfaces of which nothing was removed."""
    return tuple(Surface(name, found.get(name, 0), 0, found.get(name, 0)) for name in SURFACES)


def draft(parts: Sequence[Deletion], memory_ids: tuple[str, ...], read_at: int) -> Receipt:
    """Return the receipt of a deletion as far as it has come, not yet in the chain.

    Args:
        parts: Every owner's part.
        memory_ids: The records to name.
        read_at: When the surfaces were read back, microseconds since 1970, UTC.
    """
    first, at = parts[0], from_instant(read_at)
    surfaces = []
    for name in SURFACES:
        found, removed, left = map(sum, zip(*(part.surfaces[name] for part in parts), strict=True))
        surfaces.append(Surface(name, found, removed, left, at))
    return Receipt(
        receipt_id=first.deletion_id,
        memory_ids=memory_ids,
        states=_states(parts),
        surfaces=tuple(surfaces),
        remains=_remains(parts),
        target=first.target.value,
        owner=first.subject,
        actor=first.actor,
    )


def _states(parts: Sequence[Deletion]) -> tuple[tuple[str, datetime], ...]:
    reached = [dict(part.steps) for part in parts]
    return tuple(
        (step.value, from_instant(max(times[step] for times in reached)))
        for step in Step
        if all(step in times for times in reached)
    )


def _remains(parts: Sequence[Deletion]) -> tuple[str, ...]:
    shredded = all(Step.SHREDDED in dict(part.steps) for part in parts)
    dependants = sum(part.remains.get("dependants", 0) for part in parts)
    named = (
        f"{dependants} approved records rest on what was forgotten and stay; forget them by "
        "event_id."
    )
    wanted = [
        (_COMPACTION, any(part.state is not Step.VERIFIED for part in parts)),
        (_CACHES, True),
        (_SHREDDED if shredded else _COPIES, True),
        (_NAMES, any(part.whole for part in parts)),
        (_VERSIONS, any(part.remains.get("versions") for part in parts)),
        (named, dependants > 0),
        (derived(part.remains for part in parts), True),
    ]
    return tuple(sentence for sentence, holds in wanted if holds and sentence)


def derived(remains: Iterable[Mapping[str, int]]) -> str:
    """Return which statements stay that were derived from a thread, or an empty text."""
    kept = list(remains)
    count = sum(one.get("derived", 0) for one in kept)
    ids = [name for one in kept for name in one if name.startswith(("mem_", "cnd_"))]
    listed = ", ".join(sorted(ids))
    more = f" and {count - len(ids)} more" if count > len(ids) else ""
    if not count:
        return ""
    return (
        f"{count} statements that were derived from the thread stay; forget them with cascade, or "
        f"one by one: {listed}{more}."
    )


def issue(tx: Transaction, keys: Keys, tenant_id: str, receipt: Receipt, owner_no: int) -> Receipt:
    """Add a receipt to its tenant's chain and return it as it stands there.

    Args:
        tx: The transaction.
        keys: The store's keys.
        tenant_id: Whose chain.
        receipt: The draft.
        owner_no: The owner it concerns; 0 for several.
    """
    number, previous = tx.receipt_head(tenant_id)
    linked = replace(receipt, number=number + 1, previous=previous, digest="")
    sealed = replace(linked, digest=_digest(keys, tenant_id, linked))
    link = ReceiptLink(sealed.number, sealed.to_dict(), sealed.digest)
    tx.append_receipt(tenant_id, owner_no, receipt.receipt_id, link)
    return sealed


def _digest(keys: Keys, tenant_id: str, receipt: Receipt) -> str:
    said = canonical_json(replace(receipt, digest="").to_dict()).encode()
    key = _key(keys, tenant_id)
    return blake2b(said, key=key, digest_size=16, person=b"receipt").hexdigest()


def holds(view: Snapshot, keys: Keys, tenant_id: str, receipt: Receipt) -> bool:
    """Return whether a receipt says what the store issued, and the chain before it is whole."""
    if not hmac.compare_digest(receipt.digest, _digest(keys, tenant_id, receipt)):
        return False
    link = view.receipt_link(tenant_id, receipt.number)
    if link is None or link.digest != receipt.digest:
        return False
    before = view.receipt_link(tenant_id, receipt.number - 1)
    return receipt.previous == ("" if before is None else before.digest)


def read(content: Mapping[str, JSONValue]) -> Receipt:
    """Return the receipt that was written as JSON values."""
    said: dict[str, Any] = dict(content)
    said["memory_ids"] = tuple(said["memory_ids"])
    said["remains"] = tuple(said["remains"])
    said["states"] = tuple((name, datetime.fromisoformat(at)) for name, at in said["states"])
    said["surfaces"] = tuple(
        Surface(**{**one, "at": None if one["at"] is None else datetime.fromisoformat(one["at"])})
        for one in said["surfaces"]
    )
    return Receipt(**said)
