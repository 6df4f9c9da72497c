"""Derives the keys of a tenant and of a scope from a store's master key."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b

from muniment.scope import Owner


def _derive(key: bytes, purpose: bytes, *parts: str) -> bytes:
    digest = blake2b(key=key, digest_size=32, person=purpose)
    for part in parts:
        encoded = part.encode()
        digest.update(len(encoded).to_bytes(4, "big") + encoded)
    return digest.digest()


@dataclass(frozen=True, slots=True)
class Keys:
    """Keys by purpose. Each is 32 bytes of keyed BLAKE2b over length-prefixed parts.

    Attributes:
        master: The 32 random bytes that all others are derived from.
    """

    master: bytes = field(repr=False)

    def audit(self, owner: Owner) -> bytes:
        """Return the key of a tenant's audit chains. It outlives any owner of the tenant."""
        return _derive(self.master, b"audit", owner.tenant_id)

    def tombstone(self, owner: Owner) -> bytes:
        """Return the key of a tenant's tombstones. It outlives any owner of the tenant."""
        return _derive(self.master, b"tombstone", owner.tenant_id)

    def cursor(self, owner: Owner) -> bytes:
        """Return the key that authenticates an owner's cursors."""
        return _derive(self.master, b"cursor", type(owner).__name__, *owner.to_dict().values())

    def words(self, owner: Owner) -> bytes:
        """Return the key of an owner's word lists."""
        return _derive(self.master, b"words", type(owner).__name__, *owner.to_dict().values())


def digest(key: bytes, *parts: str) -> bytes:
    """Return a keyed digest of parts, 16 bytes. Parts never run into each other."""
    return _derive(key, b"digest", *parts)[:16]
