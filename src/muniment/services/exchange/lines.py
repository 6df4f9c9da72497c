"""The export format, written: one JSON object a line. docs/export.md describes it."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256

from muniment.clock import from_instant, iso
from muniment.keys import Keys, digest
from muniment.ports import ArchivedRecord, ImportedEntry, ImportedReceipt, NewTombstone
from muniment.records import JSONValue, canonical_json, plain
from muniment.results import Candidate
from muniment.scope import Owner

FORMAT = "muniment-export"
VERSION = 1
TYPES = ("record", "candidate", "tombstone", "receipt", "audit", "thread", "entry")

_DERIVED = ("seq", "embedding")


def owner_hash(owner: Owner) -> str:
    """Return the hexadecimal SHA-256 of an owner's canonical JSON."""
    return sha256(canonical_json(owner.to_dict()).encode()).hexdigest()


def key_mark(keys: Keys, owner: Owner) -> str:
    """Return what tells the keys of two stores' tombstones apart, and nothing about them."""
    return digest(keys.tombstone(owner), "mark").hex()


def header(owners: Sequence[Owner], keys: Keys, made_at: int) -> dict[str, JSONValue]:
    """Return the first line: the format, when it was made, and whose it is."""
    return {
        "type": "header",
        "format": FORMAT,
        "version": VERSION,
        "made_at": iso(from_instant(made_at)),
        "owners": [
            {"scope": owner.to_dict(), "hash": owner_hash(owner), "key": key_mark(keys, owner)}
            for owner in owners
        ],
    }


def record_line(kept: ArchivedRecord) -> dict[str, JSONValue]:
    """Return the line of a record: all of it but what is derived."""
    at = kept.superseded_at
    return {
        **_kept(kept.record.to_dict()),
        "type": "record",
        "superseded_at": None if at is None else iso(from_instant(at)),
    }


def candidate_line(candidate: Candidate) -> dict[str, JSONValue]:
    """Return the line of a candidate, whatever its status."""
    return {**_kept(candidate.to_dict()), "type": "candidate"}


def tombstone_line(owner: Owner, tombstone: NewTombstone) -> dict[str, JSONValue]:
    """Return the line of a tombstone: ids, keyed digests, a reason and a time."""
    return {
        "type": "tombstone",
        "scope": plain(owner),
        "memory_id": tombstone.memory_id,
        "source_digest": tombstone.source_digest.hex(),
        "value_digest": tombstone.value_digest.hex(),
        "reason": tombstone.reason,
        "created_at": iso(from_instant(tombstone.created_at)),
    }


def receipt_line(owner: Owner, receipt: ImportedReceipt) -> dict[str, JSONValue]:
    """Return the line of a deletion's receipt; its content holds no text."""
    return {
        "type": "receipt",
        "scope": plain(owner),
        "receipt_id": receipt.receipt_id,
        "content": receipt.content,
    }


def audit_line(owner: Owner, imported: ImportedEntry) -> dict[str, JSONValue]:
    """Return the line of an audit entry and the chain it belongs to."""
    written = imported.entry.to_dict()
    return {**written, "type": "audit", "scope": plain(owner), "chain": imported.chain}


def _kept(written: dict[str, JSONValue]) -> dict[str, JSONValue]:
    return {name: value for name, value in written.items() if name not in _DERIVED}
