"""Durable rows behind the `Store` port."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from muniment.errors import InvalidInputError

if TYPE_CHECKING:
    from muniment.ports import Store

_SQLITE = "sqlite:///"


def open_store(location: str | Path, *, busy_timeout: float = 30.0, create: bool = True) -> Store:
    """Open the store at a location.

    Args:
        location: A file path, `sqlite:///path`, or `:memory:` for a store that ends with the
            process.
        busy_timeout: Seconds to wait for another process's write to finish.
        create: Whether to make the file when it does not exist.

    Raises:
        InvalidInputError: The location names a database that is not supported.
        StoreError: The file cannot be opened, is foreign, damaged or too new.
    """
    from muniment.storage.sqlite import SqliteStore

    name = str(location)
    if name.startswith(_SQLITE):
        name = name.removeprefix(_SQLITE)
    elif "://" in name:
        raise InvalidInputError(
            "The location must be a file path, sqlite:///path or :memory:; "
            f"{name.partition('://')[0]}:// is not supported."
        )
    if not name.strip():
        raise InvalidInputError("The location of the store must not be empty.")
    return SqliteStore(name, busy_timeout=busy_timeout, create=create)
