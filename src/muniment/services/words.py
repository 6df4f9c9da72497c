"""One word hasher an owner, so that tokens seen before are not hashed again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from muniment.keys import Keys
from muniment.scope import Owner
from muniment.segment.words import WordHasher

_SCOPES = 256


class WordKeys:
    """Word hashers of the owners used last. Safe to use from several threads.

    Args:
        keys: The store's keys.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._lock = Lock()
        self._hashers: OrderedDict[Owner, WordHasher] = OrderedDict()

    def of(self, owner: Owner) -> WordHasher:
        """Return the hasher of an owner."""
        with self._lock:
            hasher = self._hashers.get(owner)
            if hasher is None:
                hasher = self._hashers[owner] = WordHasher(self._keys.words(owner))
            self._hashers.move_to_end(owner)
            if len(self._hashers) > _SCOPES:
                self._hashers.popitem(last=False)
            return hasher
