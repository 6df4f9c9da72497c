"""Derives the keys of a tenant and of a scope from a store's root key."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b

from muniment.scope import Owner

LENGTH = 32


def _derive(key: bytes, purpose: bytes, *parts: str) -> bytes:
    said = b""
    for part in parts:
        encoded = part.encode()
        said += len(encoded).to_bytes(4, "big") + encoded
    return blake2b(said, key=key, digest_size=LENGTH, person=purpose).digest()


@lru_cache(maxsize=2048)
def _of_tenant(root: bytes, tenant_id: str, purpose: bytes, *parts: str) -> bytes:
    return _derive(_derive(root, b"tenant", tenant_id), purpose, *parts)


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys by purpose: the root's, under it a tenant's, under that an owner's.

    Each is 32 bytes of keyed BLAKE2b over length-prefixed parts. What belongs to a tenant outlives
    its owners.

    Attributes:
        root: The 32 random bytes that all others are derived from.
    """

    root: bytes = field(repr=False)

    @property
    def fingerprint(self) -> bytes:
        """What a database keeps to recognise its key; reveals nothing about it. 16 bytes."""
        return _derive(self.root, b"fingerprint")[:16]

    def _tenant(self, tenant_id: str, purpose: bytes, *parts: str) -> bytes:
        return _of_tenant(self.root, tenant_id, purpose, *parts)

    def audit(self, owner: Owner) -> bytes:
        """Return the key of a tenant's audit chains."""
        return self.audit_of(owner.tenant_id)

    def audit_of(self, tenant_id: str) -> bytes:
        """Return the key of a tenant's audit chains, by the tenant's id."""
        return self._tenant(tenant_id, b"audit")

    def tombstone(self, owner: Owner) -> bytes:
        """Return the key of a tenant's tombstones and payload digests."""
        return self._tenant(owner.tenant_id, b"tombstone")

    def rows(self, tenant_id: str) -> bytes:
        """Return the key that authenticates a tenant's rows."""
        return self._tenant(tenant_id, b"rows")

    def names(self, tenant_id: str) -> bytes:
        """Return the key under which a sealed store keeps user, agent, source and field."""
        return self._tenant(tenant_id, b"names")

    def notes(self, tenant_id: str) -> bytes:
        """Return the key that seals actors and reasons in a tenant's audit."""
        return self._tenant(tenant_id, b"notes")

    def anchors(self) -> bytes:
        """Return the key that authenticates the store's anchors."""
        return _derive(self.root, b"anchors")

    def cursor(self, owner: Owner) -> bytes:
        """Return the key that authenticates an owner's cursors."""
        return self._owner(owner, b"cursor")

    def words(self, owner: Owner) -> bytes:
        """Return the key of an owner's word lists."""
        return self._owner(owner, b"words")

    def _owner(self, owner: Owner, purpose: bytes) -> bytes:
        parts = owner.to_dict().values()
        return self._tenant(owner.tenant_id, purpose, type(owner).__name__, *parts)


def wrapping_key(root: bytes, tenant_id: str) -> bytes:
    """Return the key that wraps the data keys of a tenant's owners."""
    return _derive(root, b"wrapping", tenant_id)


def local_wrapping_key(master: bytes) -> bytes:
    """Return the key by which a master key held by the process wraps a store's root."""
    return _derive(master, b"master")


def digest(key: bytes, *parts: str) -> bytes:
    """Return a keyed digest of parts, 16 bytes. Parts never run into each other."""
    return _derive(key, b"digest", *parts)[:16]
