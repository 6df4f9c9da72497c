"""What SQLite's driver is trusted with: its version, its errors, and waiting for a lock."""

from __future__ import annotations

import time
from random import uniform

import apsw

from muniment.errors import ForeignFileError, StoreBusyError, StoreCorruptError, StoreError

_PAUSE = 0.001


def is_safe(version: str) -> bool:
    """Tell whether a SQLite version is free of the WAL-reset corruption race.

    Versions 3.7.0 to 3.51.2 have it, apart from the fixed 3.44.6 and 3.50.7 and what follows
    them in their lines (sqlite.org, release notes of 3.51.3).
    """
    major, minor, patch = (int(part) for part in (*version.split("."), "0")[:3])
    if (major, minor) in {(3, 44), (3, 50)}:
        return patch >= (6 if minor == 44 else 7)
    return (major, minor, patch) >= (3, 51, 3)


class DriverErrors:
    """Maps what the driver raises within it to the error tree; used any number of times.

    Args:
        location: What the errors name.
    """

    __slots__ = ("_location",)

    def __init__(self, location: str) -> None:
        self._location = location

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Map an error of the driver."""
        if isinstance(error, apsw.Error):
            raise told(error, self._location) from error


def told(error: apsw.Error, location: str) -> StoreError:
    """Return what the driver raised as an error of the tree. The one place that does."""
    if isinstance(error, apsw.BusyError):
        return StoreBusyError(
            f"{location} is locked by another process; retry, or open with a longer busy_timeout."
        )
    if isinstance(error, apsw.NotADBError):
        return ForeignFileError(f"{location} is not a muniment store (or is encrypted).")
    if isinstance(error, apsw.CorruptError):
        return StoreCorruptError(f"{location} is damaged; restore it from a backup.")
    return StoreError(f"{location}: SQLite failed ({type(error).__name__}); nothing was written.")


class Patience:
    """Asks for a lock that another process holds every millisecond or so, until time is over.

    The driver's own way waits up to a tenth of a second between two tries, much longer than
    anybody holds the lock; and who came last wins.

    Args:
        seconds: How long to wait in all.
    """

    def __init__(self, seconds: float) -> None:
        self._tries = int(seconds / _PAUSE)

    def __call__(self, tried: int) -> bool:
        """Pause and return True to try again; False when it was tried for long enough."""
        if tried >= self._tries:
            return False
        time.sleep(uniform(_PAUSE / 2, 3 * _PAUSE / 2))  # noqa: S311 - not a secret
        return True
