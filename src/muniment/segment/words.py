"""Keyed word lists: what the lexical and the exact channel know of a record.

A word list is a sequence of five-byte entries, each a little-endian 32-bit keyed hash of a token
and how often it occurs (at most 255). An entry with zero occurrences is a name the record answers
to exactly: its field, its value or its whole text.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from hashlib import blake2b

from muniment.rules.text import normalise

_ENTRY = struct.Struct("<IB")
_MOST = 255
_REMEMBERED = 50_000


class WordHasher:
    """Hashes tokens with a scope's key. Safe to use from several threads.

    Args:
        key: The scope's word key, up to 64 bytes.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._known: dict[str, int] = {}

    def hash(self, token: str) -> int:
        """Return a token's keyed 32-bit hash."""
        known = self._known.get(token)
        if known is None:
            raw = blake2b(token.encode("utf-8", "surrogatepass"), key=self._key, digest_size=4)
            known = int.from_bytes(raw.digest(), "little")
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[token] = known
        return known

    def hashes(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """Return the hash of each of several tokens."""
        known = self._known
        return tuple([known.get(token) or self.hash(token) for token in tokens])

    def exact(self, name: str) -> int | None:
        """Return the hash of a name as a whole, or None when nothing of it is left."""
        return self.named(normalise(name))

    def named(self, folded: str) -> int | None:
        """Return what `exact` does, of a name in its search form."""
        if "_" in folded:
            folded = " ".join(folded.replace("_", " ").split())
        return self.hash("\x1f" + folded) if folded else None

    def pack(self, tokens: Sequence[str], names: Iterable[str]) -> bytes:
        """Return the word list of a record.

        Args:
            tokens: Its content tokens, in any order, with repeats.
            names: What it answers to exactly.
        """
        known = self._known
        entries: dict[int, int] = {}
        for token in tokens:
            word = known.get(token) or self.hash(token)
            entries[word] = entries.get(word, 0) + 1
        exact = {found for name in names if (found := self.exact(name)) is not None}
        packed = [_ENTRY.pack(word, min(n, _MOST)) for word, n in entries.items()]
        packed += [_ENTRY.pack(name, 0) for name in exact if name not in entries]
        return b"".join(packed)
