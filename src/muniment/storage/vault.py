"""The key store of a sealed database: wrapped data keys; without its key an owner is shredded."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from muniment.errors import KeyMissingError, WrongKeyError
from muniment.keys import LENGTH, local_wrapping_key, wrapping_key
from muniment.ports.keys import KeyManager, KeySource, MasterKey
from muniment.storage.sidefile import SideFile

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE = 12
_ROOT = b"muniment root"
_EVERY = 2**62


def _cipher(key: bytes) -> AESGCM:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(key)


def _wrap(key: bytes, secret: bytes, bound: bytes) -> bytes:
    nonce = os.urandom(_NONCE)
    return nonce + _cipher(key).encrypt(nonce, secret, bound)


def _unwrap(key: bytes, wrapped: bytes, bound: bytes, where: str) -> bytes:
    from cryptography.exceptions import InvalidTag

    try:
        return _cipher(key).decrypt(wrapped[:_NONCE], wrapped[_NONCE:], bound)
    except (InvalidTag, ValueError) as error:
        raise WrongKeyError(
            f"{where} is not the key of this store, or its key store was altered. Nothing was "
            "touched; give the right key or restore the key store from its backup."
        ) from error


class LocalManager:
    """Wraps by a master key that the process reads.

    Args:
        source: Where the key is.
    """

    def __init__(self, source: KeySource) -> None:
        self._source = source

    @property
    def name(self) -> str:
        """What an error calls the key."""
        return self._source.name

    def _key(self) -> bytes:
        key = self._source.load()
        if key is None:
            raise KeyMissingError(
                f"{self.name} does not exist. Nothing was touched; put the store's key there."
            )
        return local_wrapping_key(key)

    def wrap(self, secret: bytes) -> bytes:
        """Return a secret, encrypted and authenticated."""
        return _wrap(self._key(), secret, _ROOT)

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the secret."""
        return _unwrap(self._key(), wrapped, _ROOT, self.name)


def manager_of(master: MasterKey) -> KeyManager:
    """Return what wraps by a master key."""
    return master if isinstance(master, KeyManager) else LocalManager(master)


class Place(NamedTuple):
    """Whose data keys: an owner's."""

    tenant_id: str
    owner_no: int


@dataclass(frozen=True, slots=True)
class DataKey:
    """One data key of an owner.

    Attributes:
        incarnation: The incarnation of the owner that writes with it.
        bound: What its ciphertexts are bound to besides their place.
        cipher: What seals and opens; None when the key is destroyed.
        is_replaced: Whether it was destroyed after everything was sealed again.
    """

    incarnation: bytes
    bound: bytes
    cipher: AESGCM | None
    is_replaced: bool


def _bound(place: Place, generation: int, incarnation: bytes) -> bytes:
    tenant = place.tenant_id.encode()
    numbers = (len(tenant), place.owner_no, generation)
    return b"".join([*(n.to_bytes(8, "big") for n in numbers), tenant, incarnation])


class Vault:
    """Data keys by owner and generation. Safe to use from several threads and processes.

    The master key wraps two keys of the store: the root, from which digests and audit keys derive
    and which never changes, and the one under which data keys are wrapped, which changes with the
    master key.

    Args:
        location: A path or `:memory:`.
        master: What wraps the store's own keys.
    """

    def __init__(self, location: str, master: MasterKey) -> None:
        self._file = SideFile(location, "vault")
        self._manager = manager_of(master)
        self._wrapped = b""
        self._own: tuple[bytes, bytes] | None = None
        self._known: dict[Place, Mapping[int, DataKey]] = {}
        self._moved = 0

    def make(self) -> None:
        """Make the key store with new keys, unless it has keys."""
        self._file.make()
        with self._file.changing():
            if not self._file.run("root"):
                wrapped = self._manager.wrap(os.urandom(2 * LENGTH))
                self._file.run("insert_root", {"wrapped": wrapped})

    def root(self) -> bytes:
        """Return the key from which digests and audit keys derive.

        Raises:
            KeyMissingError: The key store or the master key is not there.
            WrongKeyError: The master key is another one.
        """
        return self._keys()[0]

    def _keys(self) -> tuple[bytes, bytes]:
        if self._own is None:
            rows = self._file.run("root") if self._file.exists() else []
            if not rows:
                raise KeyMissingError(
                    f"The key store {self._file.location} is missing. Nothing was touched; "
                    "restore it from its backup: without it nothing can be read."
                )
            self._wrapped = rows[0][0]
            both = self._manager.unwrap(self._wrapped)
            self._own = both[:LENGTH], both[LENGTH:]
        return self._own

    def refresh(self) -> bool:
        """Notice what another process did: new keys, destroyed keys, another master key.

        Returns:
            Whether there was anything.
        """
        moved = self._file.moved()
        has_moved = moved != self._moved
        if has_moved:
            self._known.clear()
            if self._file.run("root") != [(self._wrapped,)]:
                self._own = None
            self._moved = moved
        return has_moved

    def data_keys(self, place: Place) -> Mapping[int, DataKey]:
        """Return an owner's keys by generation, oldest first."""
        known = self._known.get(place)
        if known is None:
            rows = self._file.run("data_keys", place._asdict())
            known = self._known[place] = {row[0]: self._opened(place, *row) for row in rows}
        return known

    def _opened(
        self,
        place: Place,
        generation: int,
        incarnation: bytes,
        wrapped: bytes | None,
        replaced: int,
    ) -> DataKey:
        bound = _bound(place, generation, incarnation)
        if wrapped is None:
            return DataKey(incarnation, bound, None, bool(replaced))
        key = wrapping_key(self._keys()[1], place.tenant_id)
        cipher = _cipher(_unwrap(key, wrapped, bound, self._manager.name))
        return DataKey(incarnation, bound, cipher, is_replaced=False)

    def add(self, place: Place, incarnation: bytes) -> int:
        """Give an owner a new data key, durably, and return its generation."""
        with self._file.changing():
            self.refresh()
            key = wrapping_key(self._keys()[1], place.tenant_id)
            known = self._file.run("data_keys", place._asdict())
            generation = known[-1][0] + 1 if known else 1
            bound = _bound(place, generation, incarnation)
            values = {
                **place._asdict(),
                "generation": generation,
                "incarnation": incarnation,
                "wrapped": _wrap(key, os.urandom(LENGTH), bound),
            }
            self._file.run("insert_data_key", values)
        self._known.pop(place, None)
        return generation

    def destroy(self, place: Place, incarnation: bytes, *, below: int | None = None) -> bool:
        """Destroy the keys of one incarnation, durably; return whether there were any.

        Args:
            place: Whose.
            incarnation: The incarnation.
            below: Keep this generation and later ones, since everything was sealed again; None
                to destroy all.
        """
        last = _EVERY if below is None else below - 1
        values = {**place._asdict(), "incarnation": incarnation, "generation": last}
        values["replaced"] = int(below is not None)
        with self._file.changing():
            gone = self._file.run("destroy_data_keys", values)
        self._known.pop(place, None)
        return bool(gone)

    def rotate(self, master: MasterKey) -> int:
        """Wrap every key by another master key; return how many data keys there are.

        All or nothing: until it ends, the old master key opens the store.
        """
        manager = manager_of(master)
        new = os.urandom(LENGTH)
        with self._file.changing():
            self.refresh()
            root, old = self._keys()
            wrapped = manager.wrap(root + new)
            rows = self._file.run("every_data_key")
            for tenant_id, owner_no, incarnation, generation, held in rows:
                place = Place(tenant_id, owner_no)
                bound = _bound(place, generation, incarnation)
                key = _unwrap(wrapping_key(old, tenant_id), held, bound, self._manager.name)
                again = _wrap(wrapping_key(new, tenant_id), key, bound)
                values = {**place._asdict(), "generation": generation, "wrapped": again}
                self._file.run("replace_data_key", values)
            self._file.run("replace_root", {"wrapped": wrapped})
        self._manager, self._wrapped, self._own = manager, wrapped, (root, new)
        self._known.clear()
        return len(rows)

    def follow(self, master: MasterKey) -> None:
        """Ask for the same master key at another place from now on."""
        self._manager = manager_of(master)

    def close(self) -> None:
        """Close the key store."""
        self._file.close()
        self._known.clear()
