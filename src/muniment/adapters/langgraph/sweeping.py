"""A thread that sweeps now and then."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Thread

from muniment.errors import MunimentError

MINUTES = 5.0
_log = logging.getLogger(__name__)


class Sweeper:
    """Calls something at intervals until it is stopped."""

    def __init__(self, sweep: Callable[[], int], minutes: float | None) -> None:
        self._sweep = sweep
        self._minutes = minutes or MINUTES
        self._stopping = Event()
        self._thread: Thread | None = None

    def start(self, minutes: float | None = None) -> None:
        """Begin, unless it has begun.

        Args:
            minutes: The interval; None for the one it was made with.
        """
        if self._thread is not None and self._thread.is_alive():
            return
        self._stopping = Event()
        self._thread = Thread(
            target=self._run,
            args=(self._stopping, 60 * (minutes or self._minutes)),
            name="muniment-sweeper",
            daemon=True,
        )
        self._thread.start()

    def stop(self, timeout: float | None = None) -> bool:
        """End and return whether it has ended within the seconds given; None waits for the end."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout)
        return self._thread is None or not self._thread.is_alive()

    def _run(self, stopping: Event, seconds: float) -> None:
        while not stopping.wait(seconds):
            try:
                self._sweep()
            except MunimentError as error:
                _log.warning("A sweep failed (%s); the next one tries again.", error.code)
