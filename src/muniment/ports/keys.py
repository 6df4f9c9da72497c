"""Where a store's master key comes from."""

from __future__ import annotations

from typing import Protocol, runtime_checkable


class KeySource(Protocol):
    """A place that holds a master key of 32 bytes: a file, a variable, a keyring."""

    @property
    def name(self) -> str:
        """What an error calls this place; never the key."""
        ...

    def load(self) -> bytes | None:
        """Return the key, or None when there is none.

        Raises:
            KeyMissingError: The place cannot be read.
            WrongKeyError: What is there is not a key.
        """
        ...

    def create(self) -> bytes:
        """Put a new random key there, or return the one that is there meanwhile.

        Raises:
            KeyMissingError: No key can be put there.
        """
        ...


@runtime_checkable
class KeyManager(Protocol):
    """A service that holds a master key and never gives it away, such as a KMS.

    It is asked once when a sealed store is opened, made or given another master key.
    """

    @property
    def name(self) -> str:
        """What an error calls this service and its key; never a secret."""
        ...

    def wrap(self, secret: bytes) -> bytes:
        """Return a secret of up to 64 bytes, encrypted and authenticated."""
        ...

    def unwrap(self, wrapped: bytes) -> bytes:
        """Return the secret.

        Raises:
            WrongKeyError: It was wrapped by another key, or altered.
        """
        ...


MasterKey = KeySource | KeyManager
"""What guards a store: a key that the process reads, or a service that it asks."""
