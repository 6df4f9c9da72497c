"""A key in a file of its own: readable by its owner only, made once, never overwritten."""

from __future__ import annotations

import base64
import binascii
import os
import secrets
from contextlib import suppress
from pathlib import Path

from muniment.errors import KeyMissingError, WrongKeyError

LENGTH = 32
_HEADER = "muniment-key-1"


def decode_key(text: str, where: str) -> bytes:
    """Return the key of its base64 text.

    Args:
        text: 32 bytes in base64; white space around it is ignored.
        where: What to call its place in an error.

    Raises:
        WrongKeyError: It is not 32 bytes of base64.
    """
    try:
        key = base64.b64decode(text.strip(), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) != LENGTH:
        raise WrongKeyError(f"{where} does not hold a key: 32 bytes in base64 are wanted.")
    return key


def encode_key(key: bytes) -> str:
    """Return a key as base64 text."""
    return base64.b64encode(key).decode("ascii")


class KeyFile:
    """A key file.

    Args:
        path: Where it is, or will be.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    @property
    def name(self) -> str:
        """What an error calls this place."""
        return f"The key file {self._path}"

    def exists(self) -> bool:
        """Return whether the file is there."""
        return self._path.exists()

    def load(self) -> bytes | None:
        """Return the key, or None when there is no file.

        Raises:
            KeyMissingError: The file cannot be read.
            WrongKeyError: It is not a key file.
        """
        try:
            text = self._path.read_text(encoding="ascii")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise KeyMissingError(f"{self.name} cannot be read.") from error
        header, _, key = text.partition(" ")
        if header != _HEADER:
            raise WrongKeyError(f"{self.name} is not a key file of muniment.")
        return decode_key(key, self.name)

    def create(self) -> bytes:
        """Make the file with a new random key, durably, and return the key that is in it.

        When several processes do this at once, one file wins and all return its key.

        Raises:
            KeyMissingError: The file cannot be written.
        """
        try:
            self._publish(f"{_HEADER} {encode_key(secrets.token_bytes(LENGTH))}\n".encode("ascii"))
        except OSError as error:
            raise KeyMissingError(f"{self.name} cannot be written.") from error
        key = self.load()
        if key is None:
            raise KeyMissingError(f"{self.name} vanished while it was made.")
        return key

    def _publish(self, content: bytes) -> None:
        """Give the file its name only once all of it is on disk, and only if none is there."""
        draft = self._path.with_name(f"{self._path.name}.{secrets.token_hex(8)}")
        try:
            handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            try:
                os.write(handle, content)
                os.fsync(handle)
            finally:
                os.close(handle)
            self._name(draft)
        finally:
            draft.unlink(missing_ok=True)
        _sync_folder(self._path.parent)

    def _name(self, draft: Path) -> None:
        try:
            os.link(draft, self._path)
        except FileExistsError:
            return
        except OSError:
            # Some file systems have no hard links; the database's write lock keeps rivals out.
            if not self._path.exists():
                draft.replace(self._path)


def private_file(path: Path) -> None:
    """Make an empty file that only its owner can read, unless the file is there."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
