"""Ciphertexts bound to their place: seals and opens what belongs to one owner."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Iterable, Mapping

from muniment.errors import KeyMissingError, StoreBusyError, TamperedError
from muniment.segment.rows import IndexRow
from muniment.storage.vault import DataKey

_NONCE = 12
_HEAD = 4 + _NONCE
_row = IndexRow._make


class Unreadable(Exception):  # noqa: N818 - not a failure: the reader leaves the row out
    """What was asked for is sealed with a key that was destroyed."""


class Sealer:
    """Seals with an owner's newest key and opens with the one that a ciphertext names.

    A ciphertext is the key's generation (4 bytes, little-endian), a random nonce (12) and AES-256
    in Galois counter mode with its tag (16). It is bound to tenant, owner number, incarnation,
    generation, column and seq, so that no other place opens it.

    Args:
        keys: The owner's keys by generation, oldest first.
        incarnation: The owner's present incarnation.
        renew: Makes a key for the incarnation when it has none; returns all keys.
    """

    def __init__(
        self,
        keys: Mapping[int, DataKey],
        incarnation: bytes,
        renew: Callable[[], Mapping[int, DataKey]] | None = None,
    ) -> None:
        self._keys = keys
        self._incarnation = incarnation
        self._renew = renew

    @property
    def generation(self) -> int | None:
        """The generation that seals, or None when the incarnation has no key."""
        alive = (
            number
            for number, key in self._keys.items()
            if key.cipher is not None and key.incarnation == self._incarnation
        )
        return max(alive, default=None)

    @property
    def is_shredded(self) -> bool:
        """Whether the owner had keys and all are destroyed."""
        return bool(self._keys) and all(key.cipher is None for key in self._keys.values())

    def seal(self, column: str, seq: int, content: bytes) -> bytes:
        """Return the ciphertext of a column's content at a place."""
        generation = self.generation
        if generation is None:
            assert self._renew is not None
            self._keys = self._renew()
            generation = self.generation
        assert generation is not None
        key = self._keys[generation]
        assert key.cipher is not None
        nonce = os.urandom(_NONCE)
        head = generation.to_bytes(4, "little") + nonce
        return head + key.cipher.encrypt(nonce, content, _bound(key, column) + b"%d" % seq)

    def open(self, column: str, seq: int, blob: bytes) -> bytes:
        """Return the content of a ciphertext.

        Raises:
            Unreadable: Its key was destroyed.
            StoreBusyError: Everything was sealed again while this was read.
            TamperedError: It was altered, or belongs to another place.
        """
        return self._opener(column)(seq, blob)

    def _key_of(self, blob: bytes) -> DataKey:
        key = self._keys.get(int.from_bytes(blob[:4], "little"))
        if key is None:
            raise KeyMissingError(
                "The key store does not have the key of a row: it is older than the database, or "
                "the row was altered. Restore the newest key store."
            )
        if key.cipher is None:
            if key.is_replaced:
                raise StoreBusyError("The owner was sealed again during this read; repeat it.")
            raise Unreadable
        return key

    def is_current(self, blob: bytes) -> bool:
        """Return whether a ciphertext is sealed with the key that seals now."""
        return int.from_bytes(blob[:4], "little") == self.generation

    def open_rows(self, rows: Iterable[IndexRow], slot: int | None) -> list[IndexRow]:
        """Return rows for a segment, opened; those whose key is destroyed are left out."""
        words, vectors = self._opener("words"), self._opener(f"vector:{slot}")
        opened = []
        for seq, kind, valid_from, valid_until, expires_at, packed, vector, follows in rows:
            try:
                said = words(seq, packed)
                numbers = vector and vectors(seq, vector)
            except Unreadable:
                continue
            row = (seq, kind, valid_from, valid_until, expires_at, said, numbers, follows)
            opened.append(_row(row))
        return opened

    def open_all(self, column: str, blobs: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Return one column of many rows, opened; those whose key is destroyed are left out."""
        opener = self._opener(column)
        opened = []
        for seq, blob in blobs:
            try:
                opened.append((seq, opener(seq, blob)))
            except Unreadable:
                continue
        return opened

    def _opener(self, column: str) -> Callable[[int, bytes], bytes]:
        """Return a function that opens one column's ciphertexts by seq, for many rows."""
        from cryptography.exceptions import InvalidTag

        known: dict[bytes, tuple[Callable[[bytes, bytes | memoryview, bytes], bytes], bytes]] = {}

        def opened(seq: int, blob: bytes) -> bytes:
            generation = bytes(blob[:4])
            entry = known.get(generation)
            if entry is None:
                key = self._key_of(blob)
                assert key.cipher is not None
                entry = known[generation] = key.cipher.decrypt, _bound(key, column)
            try:
                return entry[0](blob[4:_HEAD], memoryview(blob)[_HEAD:], entry[1] + b"%d" % seq)
            except (InvalidTag, ValueError) as error:
                raise _altered(column, seq) from error

        return opened

    def seal_text(self, column: str, seq: int, content: str) -> str:
        """Return the ciphertext of a text, as text."""
        return base64.b64encode(self.seal(column, seq, content.encode())).decode("ascii")

    def open_text(self, column: str, seq: int, sealed: str) -> str:
        """Return the text of a ciphertext that is text; errors as in `open`."""
        return self.text_opener(column)(seq, sealed)

    def text_opener(self, column: str) -> Callable[[int, str], str]:
        """Return a function that opens one column's texts by seq, for many rows."""
        opened = self._opener(column)
        return lambda seq, sealed: opened(seq, decoded(sealed)).decode()


def _bound(key: DataKey, column: str) -> bytes:
    return b"%s%s@" % (key.bound, column.encode())


def _altered(column: str, seq: int) -> TamperedError:
    return TamperedError(
        f"The sealed {column.partition(':')[0]} at place {seq} of an owner was altered or moved; "
        "run a verification and restore it from a backup.",
        column=column,
        seq=seq,
    )


def decoded(sealed: str) -> bytes:
    """Return the bytes of a ciphertext that is text.

    Raises:
        TamperedError: It is not one.
    """
    try:
        return base64.b64decode(sealed, validate=True)
    except ValueError as error:
        raise TamperedError(
            "A sealed text is not one any more; restore it from a backup."
        ) from error
