"""A value made once per process, on first use, by one thread; a forked child makes its own."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_ALL: weakref.WeakSet[PerProcess[Any]] = weakref.WeakSet()


class PerProcess(Generic[T]):
    """Makes its value when it is first asked for. A failure is raised and tried again next time."""

    def __init__(self, make: Callable[[], T]) -> None:
        """Remember how to make the value.

        Args:
            make: Called at most once at a time.
        """
        self._make = make
        self._lock = threading.Lock()
        self._value: T | None = None
        self._inherited: list[T] = []
        _ALL.add(self)

    def get(self) -> T:
        """Return the value of this process."""
        value = self._value
        if value is not None:
            return value
        with self._lock:
            if self._value is None:
                self._value = self._make()
            return self._value

    def renew(self) -> None:
        """Forget the value without closing it: in a forked child it is the parent's."""
        self._lock = threading.Lock()
        if self._value is not None:
            self._inherited.append(self._value)
        self._value = None


def _renew_all() -> None:
    for each in list(_ALL):
        each.renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
