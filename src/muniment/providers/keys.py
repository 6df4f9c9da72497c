"""Master keys from a file, the environment, the system's keyring, or a key manager."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from muniment.errors import InvalidInputError, KeyMissingError, MissingExtraError
from muniment.keyfile import LENGTH, KeyFile, decode_key, encode_key
from muniment.ports import KeyManager, MasterKey

_FILE = "file:"
_ENVIRONMENT = "env:"
_KEYRING = "keyring:"
_HELP = (
    "key must be 'file:PATH', 'env:NAME', 'keyring:SERVICE/NAME', a path, 32 bytes, an object with "
    "wrap and unwrap, or None."
)


class EnvironmentKey:
    """A key as base64 in an environment variable.

    Args:
        variable: Its name.
        environment: Where to look; None for the process's own.
    """

    def __init__(self, variable: str, environment: Mapping[str, str] | None = None) -> None:
        self._variable = variable
        self._environment = environment

    @property
    def name(self) -> str:
        """What an error calls this place."""
        return f"The environment variable {self._variable}"

    def load(self) -> bytes | None:
        """Return the key, or None when the variable is not set."""
        environment = os.environ if self._environment is None else self._environment
        text = environment.get(self._variable)
        return decode_key(text, self.name) if text else None

    def create(self) -> bytes:
        """Refuse: a process cannot keep a variable."""
        raise KeyMissingError(f"{self.name} is not set; put 32 random bytes in base64 there.")


class _Keyring(Protocol):
    def get_password(self, service: str, name: str, /) -> str | None: ...

    def set_password(self, service: str, name: str, secret: str, /) -> None: ...


class KeyringKey:
    """A key in the operating system's keyring.

    Args:
        service: The keyring's service.
        name: The name inside it.
        ring: The keyring; None for the system's.
    """

    def __init__(self, service: str, name: str, ring: _Keyring | None = None) -> None:
        self._service = service
        self._name = name
        self._given = ring

    @property
    def name(self) -> str:
        """What an error calls this place."""
        return f"The keyring entry {self._service}/{self._name}"

    def _ring(self) -> _Keyring:
        if self._given is not None:
            return self._given
        try:
            import keyring
        except ImportError as error:
            raise MissingExtraError(
                "A key in the keyring needs the extra `keyring`: pip install 'muniment[keyring]'."
            ) from error
        ring: _Keyring = keyring.get_keyring()
        return ring

    def load(self) -> bytes | None:
        """Return the key, or None when there is no entry."""
        ring = self._ring()
        try:
            text = ring.get_password(self._service, self._name)
        except Exception as error:
            raise KeyMissingError(f"{self.name} cannot be read.") from error
        return None if text is None else decode_key(text, self.name)

    def create(self) -> bytes:
        """Make an entry with a new random key, unless there is one; return the key in it."""
        known = self.load()
        if known is not None:
            return known
        ring = self._ring()
        try:
            ring.set_password(self._service, self._name, encode_key(secrets.token_bytes(LENGTH)))
        except Exception as error:
            raise KeyMissingError(f"{self.name} cannot be written.") from error
        made = self.load()
        if made is None:
            raise KeyMissingError(f"{self.name} was not kept.")
        return made


class GivenKey:
    """A key that the application holds.

    Args:
        key: Its 32 bytes.
    """

    name = "The given key"

    def __init__(self, key: bytes) -> None:
        if len(key) != LENGTH:
            raise InvalidInputError("A key must have exactly 32 bytes.")
        self._key = key

    def load(self) -> bytes:
        """Return the key."""
        return self._key

    def create(self) -> bytes:
        """Return the key."""
        return self._key


def open_key(key: object) -> MasterKey | None:
    """Return what guards a store.

    Args:
        key: `file:PATH`, `env:NAME`, `keyring:SERVICE/NAME`, a path, 32 bytes, an object with
            `wrap` and `unwrap` (a KMS), or None for the key file beside the database.

    Raises:
        InvalidInputError: It is none of those.
    """
    if key is None or isinstance(key, KeyManager):
        return key
    if isinstance(key, bytes):
        return GivenKey(key)
    if isinstance(key, Path):
        return KeyFile(key.absolute())
    if isinstance(key, str):
        return _named_key(key)
    raise InvalidInputError(_HELP)


def _named_key(key: str) -> MasterKey:
    if key.startswith(_FILE) and key != _FILE:
        return KeyFile(Path(key.removeprefix(_FILE)).absolute())
    if key.startswith(_ENVIRONMENT) and key != _ENVIRONMENT:
        return EnvironmentKey(key.removeprefix(_ENVIRONMENT))
    service, slash, name = key.removeprefix(_KEYRING).rpartition("/")
    if key.startswith(_KEYRING) and slash and service and name:
        return KeyringKey(service, name)
    raise InvalidInputError(_HELP)
