"""One word hasher a scope, so that tokens seen before are not hashed again."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock

from muniment.keys import Keys
from muniment.scope import Scope
from muniment.segment.words import WordHasher

_SCOPES = 256


class WordKeys:
    """Word hashers of the scopes used last. Safe to use from several threads.

    Args:
        keys: The store's keys.
    """

    def __init__(self, keys: Keys) -> None:
        self._keys = keys
        self._lock = Lock()
        self._hashers: OrderedDict[Scope, WordHasher] = OrderedDict()

    def of(self, scope: Scope) -> WordHasher:
        """Return the hasher of a scope."""
        with self._lock:
            hasher = self._hashers.get(scope)
            if hasher is None:
                hasher = self._hashers[scope] = WordHasher(self._keys.words(scope))
            self._hashers.move_to_end(scope)
            if len(self._hashers) > _SCOPES:
                self._hashers.popitem(last=False)
            return hasher
