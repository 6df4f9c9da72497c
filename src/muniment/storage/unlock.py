"""From a store's location and master key to its keys; refuses, and destroys nothing, otherwise."""

from __future__ import annotations

import hmac
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muniment.errors import (
    InvalidInputError,
    KeyMissingError,
    StoreCorruptError,
    StoreError,
    WrongKeyError,
)
from muniment.keyfile import KeyFile
from muniment.keys import LENGTH, Keys
from muniment.ports.keys import KeyManager, KeySource, MasterKey
from muniment.storage.anchors import Anchors
from muniment.storage.sidefile import MEMORY
from muniment.storage.vault import Vault


@dataclass(frozen=True, slots=True)
class Mark:
    """What a database says of its key.

    Attributes:
        fingerprint: Recognises the store's own keys.
        sealed: Whether everything in it is sealed.
        anchored: Whether an anchor was made for it.
    """

    fingerprint: bytes
    sealed: bool
    anchored: bool


def to_mark(rows: Iterable[tuple[Any, ...]], location: str) -> Mark:
    """Return what a database says of its key.

    Raises:
        StoreCorruptError: It does not say it, once.
    """
    found = list(rows)
    if len(found) != 1:
        raise StoreCorruptError(
            f"{location} does not say which key it has any more; restore it from a backup."
        )
    ((fingerprint, sealed, anchored),) = found
    return Mark(fingerprint, bool(sealed), bool(anchored))


class _Passing:
    """The master key of a store in memory: it ends with the process."""

    name = "The key in memory"

    def __init__(self) -> None:
        self._key = os.urandom(LENGTH)

    def load(self) -> bytes:
        return self._key

    def create(self) -> bytes:
        return self._key


class Unlocker:
    """Makes the key of a new database and finds that of an existing one.

    Args:
        location: The database's path or `:memory:`.
        sealed: Whether the store is sealed; None for what it says, and not for a new one.
        master: What guards it; None for the key file beside the database.
    """

    def __init__(
        self, location: str, *, sealed: bool | None = None, master: MasterKey | None = None
    ) -> None:
        self._location = location
        self._sealed = sealed
        self._is_default = master is None
        self._master = master or (_Passing() if location == MEMORY else KeyFile(f"{location}.key"))
        self.vault: Vault | None = None

    @property
    def location(self) -> str:
        """The path to which the suffixes of the store's own files are added."""
        return self._location

    def refuse_orphan(self, *, is_there: bool) -> None:
        """Refuse to start anew where a key lies and its database is gone.

        Args:
            is_there: Whether the database is.

        Raises:
            StoreError: The database is missing beside its key file.
        """
        if self._location == MEMORY:
            return
        source = self._master
        has_key = self._is_default and isinstance(source, KeyFile) and source.exists()
        has_key = has_key or Path(self._beside("keys")).exists()
        if has_key and not is_there:
            raise StoreError(
                f"{self._location} is missing, and its keys are still there: restore the database "
                "from a backup. To start anew, move its .key and .keys files away first."
            )

    def make(self) -> Mark:
        """Make or find the key of a database that is new; called while it is locked."""
        sealed = bool(self._sealed)
        root = self._make_sealed() if sealed else self._make_plain()
        keys = Keys(root)
        anchored = self._location != MEMORY
        if anchored:
            Anchors(f"{self._location}.anchor", keys).make()
        return Mark(keys.fingerprint, sealed, anchored)

    def _make_plain(self) -> bytes:
        source = self._source()
        return source.load() or source.create()

    def _make_sealed(self) -> bytes:
        if not isinstance(self._master, KeyManager) and self._master.load() is None:
            self._master.create()
        self.vault = Vault(self._beside("keys"), self._master)
        self.vault.make()
        return self.vault.root()

    def open(self, mark: Mark) -> Keys:
        """Return the keys of a database.

        Raises:
            InvalidInputError: It is sealed and was said not to be, or the reverse.
            KeyMissingError: Its key, or its key store, is not there.
            WrongKeyError: The key is another one.
        """
        if self._sealed is not None and self._sealed != mark.sealed:
            said = "is sealed" if mark.sealed else "is not sealed"
            raise InvalidInputError(f"{self._location} {said}; leave `sealed` out to open it.")
        root = self._open_sealed() if mark.sealed else self._open_plain()
        keys = Keys(root)
        if not hmac.compare_digest(keys.fingerprint, mark.fingerprint):
            raise WrongKeyError(
                f"The key is not that of {self._location}. Nothing was touched; give the right one."
            )
        return keys

    def _open_plain(self) -> bytes:
        source = self._source()
        root = source.load()
        if root is None:
            raise KeyMissingError(
                f"{source.name} does not exist, and {self._location} cannot be checked without "
                "it. Nothing was touched; restore the key from its backup."
            )
        return root

    def _open_sealed(self) -> bytes:
        if self.vault is None:
            self.vault = Vault(self._beside("keys"), self._master)
        try:
            return self.vault.root()
        except WrongKeyError:
            draft = KeyFile(f"{self._location}.key.next")
            if not self._is_default or not draft.exists():
                raise
        self.vault = Vault(self._beside("keys"), draft)
        root = self.vault.root()
        Path(f"{self._location}.key.next").replace(f"{self._location}.key")
        self.vault = Vault(self._beside("keys"), self._master)
        return root

    def rotate(self, master: MasterKey | None) -> int:
        """Wrap a sealed store's keys by another master key; return how many data keys there are.

        Args:
            master: The other one; None for a new key in the default key file.

        Raises:
            InvalidInputError: The store is not sealed, or its key is elsewhere and none is given.
        """
        if self.vault is None:
            raise InvalidInputError("Only a sealed store's master key can be replaced.")
        if master is not None:
            done = self.vault.rotate(master)
            self._master, self._is_default = master, False
            return done
        if not self._is_default:
            raise InvalidInputError(
                "This store's master key is not in its own key file; name the new one."
            )
        return self._rotate_default(self.vault)

    def _rotate_default(self, vault: Vault) -> int:
        if self._location == MEMORY:
            self._master = _Passing()
            return vault.rotate(self._master)
        draft = Path(f"{self._location}.key.next")
        draft.unlink(missing_ok=True)
        KeyFile(draft).create()
        done = vault.rotate(KeyFile(draft))
        draft.replace(f"{self._location}.key")
        vault.follow(self._master)
        return done

    def _source(self) -> KeySource:
        if isinstance(self._master, KeyManager):
            raise InvalidInputError(
                "A key manager can only guard a sealed store; open it with sealed=True."
            )
        return self._master

    def _beside(self, suffix: str) -> str:
        return MEMORY if self._location == MEMORY else f"{self._location}.{suffix}"
