"""The key of a store's copy: the same as the original's, in files of its own."""

from __future__ import annotations

import hmac
import shutil
from pathlib import Path
from typing import Protocol, runtime_checkable

import apsw

from muniment.errors import InvalidInputError, WrongKeyError
from muniment.keyfile import private_file
from muniment.keys import Keys
from muniment.ports import Store
from muniment.ports.keys import MasterKey
from muniment.storage.anchors import Anchors
from muniment.storage.sealed import SealedStore
from muniment.storage.sidefile import MEMORY
from muniment.storage.unlock import Mark, Unlocker


class Twin(Unlocker):
    """Gives a copy the keys of the store that it is a copy of.

    Args:
        original: What found the original's key.
        keys: The original's keys.
        sealed: Whether the original is sealed.
        location: Where the copy is.
        master: What guards both; None for key files.
    """

    def __init__(
        self,
        original: Unlocker,
        keys: Keys,
        *,
        sealed: bool,
        location: str,
        master: MasterKey | None,
    ) -> None:
        super().__init__(location, sealed=sealed, master=master)
        self._keys = keys
        self._is_sealed = sealed
        if location != MEMORY:
            Path(location).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._bring(original.location, master)

    def _bring(self, source: str, master: MasterKey | None) -> None:
        """Copy the original's own files."""
        if source == MEMORY:
            raise InvalidInputError("A store in memory has no key file; it cannot be copied.")
        if master is None:
            _copy_key(Path(f"{source}.key"), Path(f"{self.location}.key"))
        if self._is_sealed:
            _copy_database(f"{source}.keys", f"{self.location}.keys")

    def refuse_orphan(self, *, is_there: bool) -> None:
        """Accept a key whose database is not there yet: it was just put there."""
        del is_there

    def make(self) -> Mark:
        """Return the mark of the original for the copy that is new."""
        anchored = self.location != MEMORY
        if anchored:
            Anchors(f"{self.location}.anchor", self._keys).make()
        return Mark(self._keys.fingerprint, self._is_sealed, anchored)

    def open(self, mark: Mark) -> Keys:
        """Return the original's keys.

        Raises:
            WrongKeyError: The target holds another store.
        """
        if not hmac.compare_digest(mark.fingerprint, self._keys.fingerprint):
            raise WrongKeyError(
                f"{self.location} belongs to another store. Nothing was touched; copy to a new one."
            )
        return self._keys


@runtime_checkable
class _Unlocked(Protocol):
    @property
    def unlocker(self) -> Unlocker: ...


def _copy_key(source: Path, target: Path) -> None:
    if not target.exists():
        private_file(target)
        shutil.copyfile(source, target)
    elif source.read_bytes() != target.read_bytes():
        raise InvalidInputError(f"{target} is another store's key; move it away first.")


def _copy_database(source: str, target: str) -> None:
    """Bring a key store up to date with the original, whole or not at all."""
    private_file(Path(target))
    origin, copy = apsw.Connection(source), apsw.Connection(target)
    try:
        with copy.backup("main", origin, "main") as backup:
            backup.step()
    finally:
        origin.close()
        copy.close()


def twin_of(original: Store, location: str, master: MasterKey | None) -> Twin:
    """Return what gives a copy the keys of a store."""
    inside = original.inner if isinstance(original, SealedStore) else original
    assert isinstance(inside, _Unlocked)
    sealed = original.info().sealed
    return Twin(inside.unlocker, original.keys, sealed=sealed, location=location, master=master)
