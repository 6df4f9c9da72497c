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

    Pauses double from a tenth of a second to five seconds, and each is cut by chance to between
    half and all of itself, so that many processes do not come back at the same moment.

    Args:
        clock: Gives seconds that never go back.
        chance: Gives a number from 0 to below 1.

    Attributes:
        clock: The same.
    """

    def __init__(
        self, clock: Callable[[], float] = monotonic, chance: Callable[[], float] = random.random
    ) -> None:
        self.clock = clock
        self._chance = chance
        self._lock = Lock()
        self._pause = 0.0
        self._until = 0.0
        self._is_tried = False

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Let the caller connect; how it ends decides over those that follow.

        Raises:
            Resting: It is not time, or another caller is trying.
        """
        is_trial = self._admitted()
        try:
            yield
        except psycopg.Error:
            self._has_failed(is_trial=is_trial)
            raise
        else:
            self._pause = 0.0
        finally:
            if is_trial:
                self._is_tried = False

    def _admitted(self) -> bool:
        """Let a caller in; return whether it is the one that tries for all."""
        with self._lock:
            if not self._pause:
                return False
            left = self._until - self.clock()
            if self._is_tried or left > 0:
                raise Resting(max(left, 0.0))
            self._is_tried = True
            return True

    def _has_failed(self, *, is_trial: bool) -> None:
        """Begin a pause; callers that fail together begin one together."""
        with self._lock:
            if is_trial or not self._pause:
                self._pause = min(2 * self._pause or _FIRST, _LONGEST)
                self._until = self.clock() + self._pause * (1 + self._chance()) / 2
