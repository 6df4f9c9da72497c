"""A server that cannot be reached costs one caller the attempt, and nobody else any waiting."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from time import monotonic

import psycopg

_FIRST = 0.1
_LONGEST = 5.0


class Resting(psycopg.OperationalError):
    """No connection is made now, because the last attempt failed.

    Attributes:
        seconds: Until the next attempt is due; 0 while another caller makes it.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds


class Breaker:
    """Lets connections be made until one fails; then one caller tries after each pause.

    Pauses double, and each is cut by chance to between half and all of itself, so that many
    processes do not come back at the same moment.

    Args:
        clock: Gives seconds that never go back.
        chance: Gives a number from 0 to below 1.
        first: Seconds of the first pause.
        longest: Seconds of the longest.

    Attributes:
        clock: The same.
    """

    def __init__(
        self,
        clock: Callable[[], float] = monotonic,
        chance: Callable[[], float] = random.random,
        *,
        first: float = _FIRST,
        longest: float = _LONGEST,
    ) -> None:
        self.clock = clock
        self._first = first
        self._longest = longest
        self._chance = chance
        self._lock = Lock()
        self._pause = 0.0
        self._until = 0.0
        self._is_tried = False

    @property
    def is_closed(self) -> bool:
        """Whether the last attempt succeeded, so that all may try."""
        return not self._pause

    def check(self) -> None:
        """Refuse while nobody may try.

        Raises:
            Resting: The last attempt failed, and it is not time for another.
        """
        left = self._until - self.clock()
        if self._pause and left > 0:
            raise Resting(left)

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Let the caller try for all.

        Raises:
            Resting: It is not time, or another caller is trying.
        """
        with self._lock:
            self.check()
            if self._is_tried:
                raise Resting(0.0)
            self._is_tried = True
        try:
            yield
        finally:
            self._is_tried = False

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Learn from how an attempt ends."""
        try:
            yield
        except psycopg.Error:
            self.has_failed()
            raise
        else:
            self.has_succeeded()

    def has_failed(self) -> None:
        """Begin a pause; what fails within one does not lengthen it."""
        with self._lock:
            now = self.clock()
            if now >= self._until:
                self._pause = min(2 * self._pause or self._first, self._longest)
                self._until = now + self._pause * (1 + self._chance()) / 2

    def has_succeeded(self) -> None:
        """Let everybody try again."""
        self._pause = self._until = 0.0
